"""Engines that run the points of a sweep: processes of this machine, a Dask cluster, a Ray cluster.

Each is given what there is to do and gives back what is done, in whatever order. A worker that dies takes nothing with it
but its time: its points run again. A point whose workers die again and again ends in `WorkersDied`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# How often a point's worker may die.
DEATHS = 3

Task = tuple[str, tuple[Any, ...]]
Work = Callable[..., bytes]
Done = Iterator[tuple[str, "bytes | WorkersDied"]]


class WorkersDied(Exception):
    """The workers of a point died, one after the other."""


def on_processes(work: Work, tasks: Sequence[Task], workers: int | None, _: Any) -> Done:
    """Processes of joblib's engine, loky."""
    from joblib.externals.loky import ProcessPoolExecutor, as_completed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left, deaths = dict(tasks), 0
    while left:
        pool = ProcessPoolExecutor(max_workers=workers or os.cpu_count())
        try:
            futures = {pool.submit(work, *given): key for key, given in left.items()}
            for future in as_completed(futures):
                found = future.result()
                key = futures.pop(future)
                del left[key]
                deaths = 0
                yield key, found
            pool.shutdown()
        except BrokenProcessPool as died:
            # The pool does not tell whose worker it was: nothing is a point's fault while others come through.
            pool.shutdown(kill_workers=True)
            deaths += 1
            if deaths > DEATHS:
                for key in left:
                    yield key, WorkersDied(str(died))
                return
        except BaseException:
            pool.shutdown(kill_workers=True)
            raise


def on_dask(work: Work, tasks: Sequence[Task], workers: int | None, client: Any) -> Done:
    """A Dask cluster: that of `client`, or one of this machine."""
    import distributed
    from distributed.scheduler import KilledWorker

    # It has no types of its own.
    engine: Any = distributed
    cluster: Any = None
    if client is None:
        cluster = engine.LocalCluster(n_workers=workers or os.cpu_count(), threads_per_worker=1, dashboard_address=None)
        client = engine.Client(cluster)
    futures: dict[str, Any] = {}
    try:
        for key, given in tasks:
            futures[f"rxlab-{key}"] = client.submit(work, *given, key=f"rxlab-{key}")
        for future in engine.as_completed(list(futures.values())):
            try:
                yield future.key.removeprefix("rxlab-"), future.result()
            except KilledWorker as died:
                yield future.key.removeprefix("rxlab-"), WorkersDied(f"{died}".split("\n")[0])
            del futures[future.key]
            future.release()
    finally:
        client.cancel(list(futures.values()), force=True)
        if cluster is not None:
            client.close()
            cluster.close()


def on_ray(work: Work, tasks: Sequence[Task], workers: int | None, _: Any) -> Done:
    """A Ray cluster: the one that this program is connected to, or one of this machine."""
    import ray

    engine: Any = ray
    mine = not engine.is_initialized()
    if mine:
        engine.init(num_cpus=workers or os.cpu_count(), include_dashboard=False, log_to_driver=False)
    remote = engine.remote(work).options(max_retries=DEATHS, num_cpus=1)
    # A few points wait at the cluster for each worker; the rest waits here.
    ahead = 4 * int(engine.cluster_resources().get("CPU", 1))
    waiting = list(reversed(tasks))
    running: dict[Any, str] = {}
    try:
        while waiting or running:
            while waiting and len(running) < ahead:
                key, given = waiting.pop()
                running[remote.remote(*given)] = key
            (ready, *_), _ = engine.wait(list(running), num_returns=1)
            key = running.pop(ready)
            try:
                yield key, engine.get(ready)
            except engine.exceptions.WorkerCrashedError as died:
                yield key, WorkersDied(str(died).split("\n")[0])
    finally:
        for reference in running:
            engine.cancel(reference, force=True)
        if mine:
            engine.shutdown()


ENGINES: dict[str, Callable[..., Done]] = {"local": on_processes, "dask": on_dask, "ray": on_ray}
