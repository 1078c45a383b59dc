"""Sweeps: a command at thousands of points, its rows in Parquet as they come."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rxlab import _native
from rxlab.call import Progress, RxlabError, ask, command_line
from rxlab.progress import listener

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Sweep:
    """A sweep that has ended.

    Attributes:
        path: The file of all rows, in the order of the points.
        points: How many points there are.
        ran: How many of them ran this time; the others were there.
        failed: How many have an error in place of results.
    """

    path: Path
    points: int
    ran: int
    failed: int

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a table of pandas."""
        import pandas

        return pandas.read_parquet(self.path)

    def to_polars(self) -> polars.DataFrame:
        """All rows as a table of polars."""
        import polars

        return polars.read_parquet(self.path)

    def plot(self, x: str, y: str = "throughput_gbps", by: str = "label") -> Figure:
        """A figure of matplotlib: column `y` over column `x`, a line for each value of column `by`."""
        from rxlab.plots import sweep_lines

        return sweep_lines(self.to_pandas(), x, y, by)


def sweep(
    grid: Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]],
    *,
    out: str | os.PathLike[str],
    command: str = "compare",
    backend: Literal["local", "dask", "ray"] = "local",
    workers: int | None = None,
    client: Any = None,
    progress: Progress = False,
    **fixed: Any,
) -> Sweep:
    """Runs a command at each point of a grid.

    The rows of each point are in `out/points/KEY.parquet` as soon as it has run, and all of them in `out/sweep.parquet` at
    the end, in the order of the points. A point that is refused is a row with its `error`. A sweep that was ended, in
    whatever way, goes on where it was when it is called again: a point is known by the program, its options, and what is
    in the files that these name. Bytes do not depend on the backend or the number of workers.

    Args:
        grid: Options by name, each with its values: every combination is a point. Or the points, as dictionaries.
        out: The directory of the results; made if need be.
        command: `compare`, `advise` or `advise flows`.
        backend: `local` (processes of this machine), `dask` or `ray`.
        workers: Processes, each of one thread, of a cluster that is started here [default: one for each CPU].
        client: A `distributed.Client` of a Dask cluster that is there. Ray takes the one that `ray.init` connected to.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
        **fixed: Options that all points have.

    Raises:
        RxlabError: The workers of a point died again and again; all others are kept.
    """
    from rxlab import tables
    from rxlab.engines import ENGINES, WorkersDied

    if command not in tables.SWEPT:
        raise RxlabError(f"sweep: command `{command}`; allowed: {', '.join(tables.SWEPT)}")
    if backend not in ENGINES:
        raise RxlabError(f"sweep: backend `{backend}`; allowed: {', '.join(ENGINES)}")
    points = _points(grid)
    if not points:
        raise RxlabError("sweep: no point; expected a value of each option at the least")
    columns = tables.schema(command, points)
    keys = [_key(command, fixed | point) for point in points]
    folder = Path(out)
    (folder / "points").mkdir(parents=True, exist_ok=True)
    for part in (folder / "points").glob("*.part"):
        part.unlink()
    there = {path.stem for path in (folder / "points").glob("*.parquet")}
    missing = {key: (command, key, point, fixed, columns) for key, point in zip(keys, points) if key not in there}
    died = []
    with listener(progress) as hears:
        done = ENGINES[backend](_rows, list(missing.items()), workers, client) if missing else iter(())
        for count, (key, found) in enumerate(done, 1):
            if isinstance(found, WorkersDied):
                died.append(found)
            else:
                _write(folder / "points" / f"{key}.parquet", found)
            if hears is not None:
                hears("sweeping", count, len(missing))
    if died:
        raise RxlabError(f"sweep: the workers of {len(died)} points died, the others are in {folder}: {died[0]}")
    path, failed = _gather(folder, list(dict.fromkeys(keys)), columns)
    return Sweep(path, len(points), len(missing), failed)


def _points(grid: Mapping[str, Sequence[Any]] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    return [dict(point) for point in grid]


def _key(command: str, given: Mapping[str, Any]) -> str:
    """What a point is known by."""
    try:
        words = [os.fspath(word) for word in command_line(command, given)]
    except TypeError as error:
        # It is refused when it runs; until then it is told apart by what it was given.
        words = [str(error), repr(sorted(given.items()))]
    whole = hashlib.sha256(_digest(_native.__file__).encode())
    for word in words:
        whole.update(b"\0" + word.encode())
        value = word.split("=", 1)[-1]
        if os.path.isfile(value):
            whole.update(_digest(value).encode())
    return whole.hexdigest()[:32]


def _digest(path: str) -> str:
    found = os.stat(path)
    return _digest_of(path, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=1024)
def _digest_of(path: str, *_: int) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _rows(command: str, key: str, point: Mapping[str, Any], fixed: Mapping[str, Any], columns: pyarrow.Schema) -> bytes:
    """Runs a point in a worker: the bytes of its file."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    from rxlab import tables

    answer: Any
    try:
        answer = ask(command, {**fixed, **point}, tables.SWEPT[command][0], threads=1, progress=False)
    except Exception as error:  # whatever it is, it is this point's, and the sweep goes on
        answer = str(error) or type(error).__name__
    sink = arrow.BufferOutputStream()
    parquet.write_table(tables.table(columns, key, point, command, answer), sink)
    return bytes(sink.getvalue().to_pybytes())


def _write(path: Path, found: bytes) -> None:
    """A file is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_bytes(found)
    part.replace(path)


def _gather(folder: Path, keys: Sequence[str], columns: pyarrow.Schema) -> tuple[Path, int]:
    """One file of all points, a few at a time, and how many of these have an error."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    path, failed = folder / "sweep.parquet", 0
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as whole:
        try:
            with parquet.ParquetWriter(whole.name, columns) as writer:
                for batch in (keys[at : at + 256] for at in range(0, len(keys), 256)):
                    found = [parquet.read_table(folder / "points" / f"{key}.parquet", partitioning=None) for key in batch]
                    rows = arrow.concat_tables([_shaped(one, columns) for one in found])
                    failed += rows.num_rows - rows["error"].null_count
                    writer.write_table(rows)
        except BaseException:
            os.unlink(whole.name)
            raise
    os.chmod(whole.name, 0o644)
    shutil.move(whole.name, path)
    return path, failed


def _shaped(found: pyarrow.Table, columns: pyarrow.Schema) -> pyarrow.Table:
    """Rows of a point that an earlier grid had, in the columns of this one."""
    import pyarrow as arrow

    if found.schema.equals(columns):
        return found
    held = {field.name: found[field.name] for field in columns if field.name in found.column_names}
    made = [held[f.name].cast(f.type) if f.name in held else arrow.nulls(found.num_rows, f.type) for f in columns]
    return arrow.table(made, schema=columns)
