"""How far a command is: a bar of tqdm's, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Heard = Callable[[str, int, "int | None"], object]


class Bars:
    """A bar for each thing that a command does, while it does it."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.what = ""

    def __call__(self, what: str, done: int, of: int | None) -> None:
        from tqdm.auto import tqdm

        if self.bar is None or what != self.what:
            self.close()
            size = {"unit": "B", "unit_scale": True} if what == "reading" else {}
            self.bar, self.what = tqdm(desc=what, total=of, leave=False, **size), what
        if of is not None and of != self.bar.total:
            self.bar.total = of
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


@contextmanager
def listener(progress: bool | Heard) -> Iterator[Heard | None]:
    """What hears of progress, if anything does."""
    if progress is not True:
        yield progress or None
        return
    bars = Bars()
    try:
        yield bars
    finally:
        bars.close()
