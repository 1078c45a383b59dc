"""What every answer can: become a table of pandas or polars, a plot, a dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

R = TypeVar("R")

# The list that an answer is mainly about, by its class.
TABLES = {
    "Comparison": "results",
    "Advice": "results",
    "FlowAdvice": "places",
    "Trace": "rss",
    "FlowRules": "rules",
    "Experiment": "series.points",
    "ServerProfile": "constants",
    "ProfileCheck": "open",
    "DetectedProfile": "read",
}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer."""

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and lists, as the JSON has it."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built


class Result(Part, frozen=True, kw_only=True):
    """The answer of a command."""

    _TABLE: ClassVar[str] = ""

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """A list of the answer as flat rows: what is nested has names with points, `latency_us.p99`.

        Args:
            table: Where the list is: names with points. Lists within lists are strung together, with the names of what
                they are in. [default: what the answer is mainly about]
        """
        place = TABLES.get(type(self).__name__, "") if table is None else table
        if place == "constants":
            return _constants(self.to_dict()["constants"])
        return list(_strung([({}, self.to_dict())], place.split(".") if place else [], type(self).__name__))

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """The rows as a table of pandas; see `rows`."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """The rows as a table of polars; see `rows`."""
        import polars

        return polars.DataFrame(self.rows(table), infer_schema_length=None)

    def plot(self) -> Figure:
        """A figure of matplotlib with what the answer is mainly about."""
        from rxlab.plots import plot

        return plot(self)


class Results(list[R]):
    """Several answers, in order."""

    def rows(self, table: str | None = None) -> list[dict[str, Any]]:
        """The rows of all, see `Result.rows`; those of experiments have their `experiment`."""
        found = []
        for one in self:
            assert isinstance(one, Result)
            named = {"experiment": one.id} if type(one).__name__ == "Experiment" else {}  # type: ignore[attr-defined]
            found += [named | row for row in one.rows(table)]
        return found

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """The rows as a table of pandas."""
        import pandas

        return pandas.DataFrame(self.rows(table))

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """The rows as a table of polars."""
        import polars

        return polars.DataFrame(self.rows(table), infer_schema_length=None)


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Dictionaries within dictionaries as one."""
    if not isinstance(value, dict):
        return {name: value}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        found |= flat(inner, f"{name}.{key}" if name else key)
    return found


def _strung(found: list[tuple[dict[str, Any], Any]], place: list[str], what: str) -> list[dict[str, Any]]:
    """Rows of the list at `place`, each with the plain values of what it is in."""
    if not place:
        return [outer | flat(value, "" if isinstance(value, dict) else "value") for outer, value in found]
    head, rest = place[0], place[1:]
    deeper: list[tuple[dict[str, Any], Any]] = []
    for outer, value in found:
        inner = value.get(head) if isinstance(value, dict) else None
        if not isinstance(inner, (list, dict)):
            lists = [key for key, held in value.items() if isinstance(held, (list, dict))] if isinstance(value, dict) else []
            raise KeyError(f"{what}: no list `{head}`; there are: {', '.join(lists)}")
        for one in inner if isinstance(inner, list) else [inner]:
            around = {}
            if rest:
                plain = one.items() if isinstance(one, dict) else ()
                around = {f"{head}.{k}": v for k, v in plain if not isinstance(v, (list, dict))}
            deeper.append((outer | around, one))
    return _strung(deeper, rest, what)


def _constants(tables: dict[str, Any]) -> list[dict[str, Any]]:
    """A profile's constants, one a row."""
    return [
        {"component": component, "constant": name, "value": one["value"], "origin": one["origin"]}
        for component, named in tables.items()
        for name, one in (named or {}).items()
        if one is not None
    ]
