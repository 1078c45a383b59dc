"""From keyword arguments to a command line, and from its JSON to objects."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, TypeAlias, TypeVar

import msgspec

from rxlab import _native
from rxlab.progress import listener
from rxlab.result import Result, Results

Progress: TypeAlias = "bool | Callable[[str, int, int | None], object]"
"""True for a bar, or a function that is called with what is done, how much of it, and of how much where that is known."""

A = TypeVar("A")
T = TypeVar("T", bound=Result)
RxlabError = _native.RxlabError


class ConditionMet(RxlabError):
    """A condition of `fail_if` is met; `result` is the answer all the same."""

    def __init__(self, message: str, result: Any):
        super().__init__(message)
        self.result = result


class RxlabWarning(UserWarning):
    """What a command notes beside its answer."""


def _commands() -> dict[str, dict[str, Any]]:
    return {" ".join(c["words"]): c for c in msgspec.json.decode(_native.words())["commands"]}


_COMMANDS = _commands()


def command_line(command: str, given: Mapping[str, Any]) -> list[str | PathLike[str]]:
    """The words behind the program's name for a command and its options by name, as clap's own definition has them."""
    base = command.removesuffix(" --all")
    if base not in _COMMANDS:
        raise RxlabError(f"no command `{base}` with JSON; allowed: {', '.join(_COMMANDS)}")
    options = {option["name"]: option for option in _COMMANDS[base]["options"]}
    words: list[str | PathLike[str]] = [*command.split(), "--json"]
    places: list[str | PathLike[str]] = []
    for name, value in given.items():
        if name not in options:
            raise TypeError(f"{base}: no option `{name}`; allowed: {', '.join(options)}")
        if value is None or value is False:
            continue
        option = options[name]
        if option["value"] is None:
            if value is not True:
                raise TypeError(f"{name}: {value!r}; allowed: True, False")
            words.append(f"--{option['flag']}")
            continue
        values = [_word(name, one) for one in value] if _is_many(option, value) else [_word(name, value)]
        if option["joined_by"]:
            values = [option["joined_by"].join(values)]
        if option["flag"] is None:
            places += values
        else:
            words += [f"--{option['flag']}={one}" for one in values]
    return [*words, "--", *places] if places else words


def _is_many(option: Mapping[str, Any], value: Any) -> bool:
    return bool(option["many"]) and isinstance(value, Sequence) and not isinstance(value, str)


def _word(name: str, value: Any) -> str:
    if isinstance(value, (str, PathLike)):
        return str(fspath(value))
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}: {value!r} is no number, text or path")
    # A whole number has no point on a command line, whatever type it comes in.
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def run(command: str, given: Mapping[str, Any], *, threads: int | None = None, progress: Progress = False) -> Any:
    """Runs any command that has `--json`, with its options by name; the answer is what the JSON is.

    Raises:
        RxlabError: what was wrong, where, and what is allowed.
        ConditionMet: a condition of `fail_if` is met.
        KeyboardInterrupt: once the runs of the model that are under way have ended.
    """
    return _met(msgspec.json.decode, *_said(command, given, threads, progress))


def ask(command: str, given: Mapping[str, Any], kind: type[T], threads: int | None, progress: Progress) -> T:
    """The same, for an answer that is an object of a class."""
    return _met(lambda text: msgspec.json.decode(text, type=kind), *_said(command, given, threads, progress))


def ask_all(command: str, given: Mapping[str, Any], kind: type[T], threads: int | None, progress: Progress) -> Results[T]:
    """The same, for several objects."""
    many: Any = list[kind]  # type: ignore[valid-type]
    return _met(lambda text: Results(msgspec.json.decode(text, type=many)), *_said(command, given, threads, progress))


def _said(command: str, given: Mapping[str, Any], threads: int | None, progress: Progress) -> tuple[str, str | None]:
    words = command_line(command, given)
    with listener(progress) as hears:
        text, notes, met = _native.call(words, threads=threads, progress=hears)
    for note in notes:
        warnings.warn(note, RxlabWarning, stacklevel=4)
    return text, met


def _met(read: Callable[[str], A], text: str, met: str | None) -> A:
    answer = read(text)
    if met is not None:
        raise ConditionMet(met, answer)
    return answer
