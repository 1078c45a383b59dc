"""The compiled part: commands called with words, answered with JSON."""

from collections.abc import Callable, Sequence
from os import PathLike

__version__: str

class RxlabError(Exception):
    """What was wrong, where, and what is allowed."""

def call(
    words: Sequence[str | PathLike[str]],
    *,
    threads: int | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> tuple[str, list[str], str | None]:
    """Runs a command: what it printed, what it noted beside that, and the condition of --fail-if that is met."""

def words() -> str:
    """All commands with their options, as JSON."""

def schema(command: str) -> str:
    """The JSON Schema of what a command writes."""
