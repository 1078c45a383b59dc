"""The columns of a command's rows as Parquet has them: known before anything has run, so that all files have the same."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from rxlab import results
from rxlab.result import TABLES, Part, Result, flat

# What each command answers, and what a row tells of the answer beside itself.
SWEPT: dict[str, tuple[type[Result], tuple[str, ...]]] = {
    "compare": (results.Comparison, ("verdict.winner", "verdict.decided_by", "verdict.load_gbps")),
    "advise": (results.Advice, ("advice.ax", "advice.bx", "advice.pool", "advice.association")),
    "advise flows": (results.FlowAdvice, ("place", "core", "pays")),
}

# Columns in front of those of the command.
KEY, ROW, ERROR = "key", "row", "error"


def result_columns(command: str) -> list[tuple[str, pa.DataType]]:
    """The columns of a command's rows. What has no fixed fields is text, as JSON has it."""
    kind, beside = SWEPT[command]
    table = TABLES[kind.__name__]
    row = typing.get_args(_bare(_hints(kind)[table]))[0]
    columns = list(_columns(row, ""))
    taken = {name for name, _ in columns}
    whole = dict(_columns(kind, ""))
    return [(name, whole[name]) for name in beside if name not in taken] + columns


def _columns(kind: type[Part], before: str) -> Iterator[tuple[str, pa.DataType]]:
    for name, hint in _hints(kind).items():
        inner = _bare(hint)
        if isinstance(inner, type) and issubclass(inner, Part):
            yield from _columns(inner, f"{before}{name}.")
        else:
            yield f"{before}{name}", _plain(inner)


def _hints(kind: type[Part]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in kind.__struct_fields__}


def _bare(hint: Any) -> Any:
    """A type without None."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [part for part in typing.get_args(hint) if part is not type(None)]
        return parts[0] if len(parts) == 1 else str
    return hint


def _plain(kind: Any) -> pa.DataType:
    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}.get(kind, pa.string())


def point_columns(points: Sequence[Mapping[str, Any]]) -> list[tuple[str, pa.DataType]]:
    """The columns of what the points of a sweep are given."""
    names = dict.fromkeys(name for point in points for name in point)
    return [(name, _common([point[name] for point in points if point.get(name) is not None])) for name in names]


def _common(values: list[Any]) -> pa.DataType:
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if any(isinstance(value, bool) for value in values):
        return pa.string()
    if all(isinstance(value, int) for value in values):
        return pa.int64()
    return pa.float64() if all(isinstance(value, (int, float)) for value in values) else pa.string()


def schema(command: str, points: Sequence[Mapping[str, Any]]) -> pa.Schema:
    """All columns of a sweep."""
    given, found = point_columns(points), result_columns(command)
    twice = {name for name, _ in given} & ({name for name, _ in found} | {KEY, ROW, ERROR})
    if twice:
        raise ValueError(f"an option and a result have the same name: {', '.join(sorted(twice))}")
    front = [(KEY, pa.string()), (ROW, pa.int32())]
    return pa.schema([*front, *given, (ERROR, pa.string()), *found])


def table(columns: pa.Schema, key: str, point: Mapping[str, Any], command: str, answer: Result | str) -> pa.Table:
    """The rows of a point: those of its answer, or one with the error that it has in place of one."""
    front = {KEY: key, ROW: 0} | dict(point)
    if isinstance(answer, str):
        rows = [front | {ERROR: answer}]
    else:
        whole = flat(answer.to_dict())
        beside = {name: whole.get(name) for name in SWEPT[command][1]}
        rows = [front | {ROW: at} | beside | row for at, row in enumerate(answer.rows())]
    made = [{field.name: _fits(_found(row, field.name), field.type) for field in columns} for row in rows]
    return pa.Table.from_pylist(made, schema=columns)


def _found(row: Mapping[str, Any], name: str) -> Any:
    """A value of a row, or those that were made flat below its name."""
    if name in row:
        return row[name]
    inner = {key[len(name) + 1 :]: value for key, value in row.items() if key.startswith(name + ".")}
    return inner or None


def _fits(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if kind == pa.string():
        plain = isinstance(value, str)
        joined = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
        return value if plain else ",".join(value) if joined else json.dumps(value, sort_keys=True, default=str)
    if kind == pa.float64():
        return float(value)
    return value
