"""Sweeps: the same bytes by every engine, whoever dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.dataset as dataset
import pyarrow.parquet as parquet
import pytest
import rxlab
from common import SMALL

GRID = {"ring": [64, 100, 128, 256, 512, 1024], "burst": [16, 32]}
FIXED = {"interfaces": ["privring"], **SMALL}
POINTS = 12
# A size that no card takes, so that two points are refused.
REFUSED = 2


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one worker of this machine writes."""
    found = rxlab.sweep(GRID, out=tmp_path_factory.mktemp("alone"), workers=1, **FIXED)
    assert (found.points, found.ran, found.failed) == (POINTS, POINTS, REFUSED)
    return found.path.read_bytes()


def descendants(root: int) -> dict[int, str]:
    """Processes below one, with their command lines."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                lines[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    below, found = {root}, {}
    while more := {pid for pid, parent in parents.items() if parent in below and pid not in found}:
        found |= {pid: lines[pid] for pid in more}
        below = more
    return found


def killer(choose):
    """Listens to a sweep, and kills a worker once three points are done; tells whom."""
    killed = []

    def hears(what, done, of):
        assert what == "sweeping" and of == POINTS
        if done >= 3 and not killed:
            (victim, *_) = choose()
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    return hears, killed


def test_rows_are_typed_and_a_refused_point_is_a_row(alone, tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(alone)
    rows = parquet.read_table(path).to_pylist()
    refused = [row for row in rows if row["error"]]
    assert {row["ring"] for row in refused} == {100} and len(refused) == REFUSED
    assert all("100" in row["error"] and row["throughput_gbps"] is None for row in refused)
    ran = [row for row in rows if not row["error"]]
    assert len(ran) == 2 * (POINTS - REFUSED)
    assert all(row["throughput_gbps"] > 2.9 and row["start"] in ("empty", "full") for row in ran)
    assert [row["ring"] for row in rows] == sorted(row["ring"] for row in rows)
    same = rxlab.compare(ring=256, burst=32, **FIXED)
    (row,) = [r for r in ran if (r["ring"], r["burst"], r["start"]) == (256, 32, "full")]
    assert row["latency_us.p99"] == same.results[1].latency_us.p99
    assert row["verdict.load_gbps"] == same.verdict.load_gbps


def test_local_workers_write_the_same_and_one_that_dies_loses_nothing(alone, tmp_path):
    def workers():
        return sorted(pid for pid, line in descendants(os.getpid()).items() if "loky" in line and "popen" in line)

    hears, killed = killer(workers)
    found = rxlab.sweep(GRID, out=tmp_path, workers=3, progress=hears, **FIXED)
    assert killed and found.ran == POINTS
    assert found.path.read_bytes() == alone


def test_dask_workers_write_the_same_and_one_that_dies_loses_nothing(alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        before = set(client.run(os.getpid).values())
        assert len(before) == 3 and os.getpid() not in before
        hears, killed = killer(lambda: sorted(before))
        found = rxlab.sweep(GRID, out=tmp_path, backend="dask", client=client, progress=hears, **FIXED)
        client.wait_for_workers(3, timeout=60)
        assert killed and killed[0] not in client.run(os.getpid).values()
    assert found.ran == POINTS and found.path.read_bytes() == alone


def test_ray_workers_write_the_same_and_one_that_dies_loses_nothing(alone, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        hears, killed = killer(lambda: sorted(pid for pid, line in descendants(os.getpid()).items() if line.startswith("ray::_rows")))
        found = rxlab.sweep(GRID, out=tmp_path, backend="ray", progress=hears, **FIXED)
    finally:
        ray.shutdown()
    assert killed and found.ran == POINTS
    assert found.path.read_bytes() == alone


def test_a_sweep_that_was_killed_goes_on_where_it_was(alone, tmp_path):
    code = f"import rxlab\nrxlab.sweep({GRID!r}, out={str(tmp_path)!r}, workers=1, **{FIXED!r})"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as child:
        until = time.monotonic() + 120
        while len(list(tmp_path.glob("points/*.parquet"))) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.glob("points/*.parquet")}
    assert 4 <= len(there) < POINTS and not (tmp_path / "sweep.parquet").exists()
    # What is there can be read before the end.
    assert dataset.dataset(list(map(str, there))).count_rows() >= len(there)
    found = rxlab.sweep(GRID, out=tmp_path, workers=2, **FIXED)
    assert found.ran == POINTS - len(there) and found.path.read_bytes() == alone
    assert all(path.stat().st_mtime_ns == when for path, when in there.items())
    again = rxlab.sweep(GRID, out=tmp_path, workers=2, **FIXED)
    assert again.ran == 0 and again.path.read_bytes() == alone


def test_a_larger_grid_runs_what_is_missing(tmp_path):
    small = rxlab.sweep({"ring": [64]}, out=tmp_path, workers=1, **FIXED)
    assert small.ran == 1
    larger = rxlab.sweep({"ring": [64, 128], "burst": [32]}, out=tmp_path, workers=1, **FIXED)
    # That a burst has 32 frames is said in the second one only: another command line is another point.
    assert larger.ran == 2
    more = rxlab.sweep({"ring": [64, 128, 256], "burst": [32]}, out=tmp_path, workers=1, **FIXED)
    assert more.ran == 1 and len(more.to_pandas()) == 6 and len(more.to_polars()) == 6
    more.plot(x="ring", y="latency_us.p99").savefig(tmp_path / "x.png")


def test_what_no_sweep_can_be_is_refused(tmp_path):
    for given, part in [
        (dict(grid={"ring": [64]}, command="live"), "command `live`; allowed: compare"),
        (dict(grid={"ring": [64]}, backend="slurm"), "backend `slurm`; allowed: local, dask, ray"),
        (dict(grid={"ring": []}), "no point"),
    ]:
        with pytest.raises(rxlab.RxlabError, match=part):
            rxlab.sweep(out=tmp_path / "x", **given)
