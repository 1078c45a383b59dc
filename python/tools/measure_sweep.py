"""Measures a sweep of 1000 short points with one worker and with two, and holds their bytes against each other."""

import tempfile
import time
from pathlib import Path

import rxlab

GRID = {"ring": [64, 128, 256, 512, 1024], "rate": [round(10 + 0.05 * at, 2) for at in range(200)]}
FIXED = dict(interfaces=["privring"], cores=1, ports=1, placements=1, other_arrivals=0, limit_ms=1, no_search=True, no_cache=True)
# A sweep before the first that counts: it loads what processes load once.
WARM = {"ring": [64], "rate": [1, 2]}


def timed(workers: int, folder: str) -> tuple[float, bytes]:
    began = time.monotonic()
    found = rxlab.sweep(GRID, out=folder, workers=workers, **FIXED)
    took = time.monotonic() - began
    assert (found.points, found.ran, found.failed) == (1000, 1000, 0), found
    return took, found.path.read_bytes()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rxlab.sweep(WARM, out=f"{folder}/warm", workers=2, **FIXED)
        two, of_two = timed(2, f"{folder}/two")
        one, of_one = timed(1, f"{folder}/one")
        size = sum(path.stat().st_size for path in Path(f"{folder}/one/points").iterdir())
    assert of_one == of_two
    print(f"rxlab {rxlab.__version__}, backend local")
    words = rxlab.command_line("compare", FIXED)
    print(f"1000 points, 5 sizes of rings at 200 rates: rxlab {' '.join(map(str, words))}")
    print(f"1 worker:  {one:6.1f} s, {one:5.1f} ms a point")
    print(f"2 workers: {two:6.1f} s, {one / two:.2f} times as fast")
    print(f"the same bytes of both: {len(of_one) / 1000:.0f} kB; {size / 1000:.0f} kB as a file for each point")


if __name__ == "__main__":
    main()
