"""Figures of matplotlib, one for each kind of answer."""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Callable, Iterable
from math import nan
from typing import TYPE_CHECKING, Any

from rxlab import results
from rxlab.result import Result

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of Okabe and Ito, as in the HTML reports.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#c0619a", "#d39200", "#3d9fd6", "#7570b3", "#a6561f"]
# Most rows of a figure with a bar for each.
BARS = 25


def plot(answer: Result) -> Figure:
    """The figure of an answer."""
    for kind, draw in DRAWN.items():
        if isinstance(answer, kind):
            return draw(answer)
    shown = ", ".join(kind.__name__ for kind in DRAWN)
    raise TypeError(f"no plot of {type(answer).__name__}; there is one of {shown}, and to_pandas() for all others")


@functools.cache
def _kind() -> type[Figure]:
    """A figure without pyplot: no window has it, nothing keeps it, and a notebook shows it."""
    import matplotlib.figure

    class Shown(matplotlib.figure.Figure):
        def _repr_png_(self) -> bytes:
            png = io.BytesIO()
            self.savefig(png, format="png")
            return png.getvalue()

    return Shown


def _axes(rows: int, columns: int, width: float = 4, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    figure = _kind()(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).flatten().tolist()
    for one in axes:
        one.set_prop_cycle(color=COLOURS)
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _rows(answer: results.Comparison | results.Advice) -> Figure:
    """What each interface sends, drops, takes and costs; both starts where they end in different states."""
    if isinstance(answer, results.Comparison) and answer.sweep is not None:
        return _loads(answer.sweep)
    figure, axes = _axes(2, 3)
    rows, names = answer.results, [f"{row.label} ({row.start})" for row in answer.results]
    kinds = list(dict.fromkeys(row.interface for row in rows))
    colours = [COLOURS[kinds.index(row.interface) % len(COLOURS)] for row in rows]
    panels: list[tuple[str, str, Callable[[results.Row], float]]] = [
        ("sent", "Gbps of frames", lambda row: row.throughput_gbps),
        ("dropped", "% of the offered frames", lambda row: row.drop_pct),
        ("latency, 99th percentile", "us", lambda row: row.latency_us.p99),
        ("DDIO hits", "% of lines written by the card", lambda row: row.ddio_hit_pct),
        ("DRAM traffic", "Gbps", lambda row: row.dram_gbps.read + row.dram_gbps.write),
        ("a frame", "cycles of a core", lambda row: row.cycles_per_packet),
    ]
    for at, (one, (title, unit, value)) in enumerate(zip(axes, panels)):
        _bars(one, names if at % 3 == 0 else [""] * len(names), [value(row) for row in rows], colours)
        one.set_title(title)
        one.set_xlabel(unit)
    if isinstance(answer, results.Comparison):
        figure.suptitle(textwrap.fill(answer.verdict.headline, 110), fontsize="small")
    return figure


def _bars(one: Axes, names: list[str], values: list[float], colours: list[str] | str) -> None:
    places = range(len(values))
    one.barh(list(places), values, color=colours)
    one.set_yticks(list(places), names)
    one.invert_yaxis()
    if not any(values):
        one.set_xlim(0, 1)


def _loads(sweep: results.ComparisonSweep) -> Figure:
    figure, (lost, late) = _axes(1, 2, 5)
    loads = [load.gbps for load in sweep.loads]
    for at, label in enumerate(sweep.labels):
        lost.plot(loads, _numbers(load.lost_pct[at] for load in sweep.loads), marker=".", label=label)
        late.plot(loads, _numbers(load.latency_p99_us[at] for load in sweep.loads), marker=".", label=label)
    lost.set_ylabel("frames lost, %")
    late.set_ylabel("latency, 99th percentile, us")
    for one in (lost, late):
        one.set_xlabel("offered load, Gbps of frames")
    lost.legend(frameon=False)
    return figure


def _numbers(values: Iterable[float | None]) -> list[float]:
    """What is missing leaves a gap in a line."""
    return [nan if value is None else value for value in values]


def _experiment(answer: results.Experiment) -> Figure:
    """What was obtained of each series, and how far each claim is from what was published."""
    figure, (lines, claims) = _axes(1, 2, 6, 4)
    for series in answer.series:
        field = _field(series.points)
        if field is None:
            continue
        points = [point.to_dict() for point in series.points]
        lines.plot([p["x"] for p in points], [_at(p, field) for p in points], marker="o", label=series.label)
        lines.set_ylabel(field)
        lines.set_xlabel(series.x)
    lines.set_title(textwrap.fill(answer.title, 60))
    if lines.lines:
        lines.legend(frameon=False, fontsize="small")
    judged = [(claim.id, claim.deviation, claim.holds) for claim in answer.claims if isinstance(claim.deviation, (int, float))]
    colours = [COLOURS[2] if holds else COLOURS[1] for _, _, holds in judged]
    _bars(claims, [name for name, _, _ in judged], [float(deviation) for _, deviation, _ in judged], colours)
    claims.set_title("claims: deviation from what was published")
    return figure


def _field(points: list[Any]) -> str | None:
    """What to show of a series: the first of these that its points have."""
    candidates = ["throughput_gbps", "goodput_gbps", "krules_per_s", "latency_ns", "sojourn_mean", "mpps", "gbps"]
    for field in candidates:
        if points and all(isinstance(_at(point.to_dict(), field), (int, float)) for point in points):
            return field
    return None


def _at(point: dict[str, Any], field: str) -> Any:
    if field in point:
        return point[field]
    inner = (held[field] for held in point.values() if isinstance(held, dict) and field in held)
    return next(inner, None)


def _trace(answer: results.Trace) -> Figure:
    """Frames by size, and how RSS loads cores."""
    figure, (sizes, cores) = _axes(1, 2, 5)
    histogram = answer.sizes.histogram
    sizes.bar([str(one.up_to) for one in histogram], [one.packets for one in histogram], color=COLOURS[0])
    sizes.tick_params(axis="x", rotation=60)
    sizes.set_xlabel("frame size up to, B without FCS")
    sizes.set_ylabel("frames")
    for one in answer.rss:
        even = sum(one.packets) / len(one.packets)
        shares = sorted((packets / even if even else 0 for packets in one.packets), reverse=True)
        cores.plot(range(1, len(shares) + 1), shares, marker=".", label=f"{one.cores} cores")
    cores.axhline(1, color="0.7", linewidth=0.8)
    cores.set_xlabel("core, the most loaded first")
    cores.set_ylabel("frames over the mean of all cores")
    cores.legend(frameon=False)
    return figure


def _flow(answer: results.FlowRules) -> Figure:
    """The rules with the most frames, and what becomes of all."""
    figure, (rules, endings) = _axes(1, 2, 6)
    most = sorted(answer.rules, key=lambda rule: -rule.frames)[:BARS]
    _bars(rules, [f"{one.rule}: {textwrap.shorten(one.pattern, 40)}" for one in most], [one.frames_pct for one in most], COLOURS[0])
    rules.set_xlabel("% of the frames")
    ends = [f"{one.ending} {'' if one.number is None else one.number}" for one in answer.endings]
    _bars(endings, ends, [one.frames_pct for one in answer.endings], COLOURS[4])
    endings.set_xlabel("% of the frames")
    return figure


def _places(answer: results.FlowAdvice) -> Figure:
    figure, (carries, connections) = _axes(1, 2, 5)
    names = [place.tables for place in answer.places]
    _bars(carries, names, [place.carries_gbps for place in answer.places], COLOURS[0])
    carries.set_xlabel("load that look-ups carry, Gbps on the wire")
    _bars(connections, names, [place.core_carries for place in answer.places], COLOURS[4])
    connections.set_xlabel("connections/s that one core keeps up with")
    return figure


def _profile(answer: results.ServerProfile) -> Figure:
    """The times of a server, by what their origin is."""
    times = [row for row in answer.rows() if row["constant"].endswith("_ns")]
    origins = [row["origin"].split(":")[0] for row in times]
    known = ["published", "measured", "fitted", "assumed"]
    colours = [COLOURS[known.index(one)] if one in known else COLOURS[7] for one in origins]
    figure, (one,) = _axes(1, 1, 7, max(3.0, 0.28 * len(times)))
    _bars(one, [f"{row['component']}.{row['constant']} ({origin})" for row, origin in zip(times, origins)],
          [row["value"] for row in times], colours)
    one.set_xlabel("ns")
    one.set_title(answer.name)
    return figure


def sweep_lines(rows: pandas.DataFrame, x: str, y: str, by: str) -> Figure:
    """Column `y` over column `x`, a line for each value of column `by`: means, where several points share an `x`."""
    missing = [name for name in (x, y, by) if name not in rows.columns]
    if missing:
        raise KeyError(f"no column {', '.join(missing)}; there are: {', '.join(rows.columns)}")
    figure, (one,) = _axes(1, 1, 6, 4)
    for name, group in rows[rows["error"].isna()].groupby(by, sort=True):
        means = group.groupby(x, sort=True)[y].mean()
        one.plot(means.index, means.values, marker=".", label=str(name))
    one.set_xlabel(x)
    one.set_ylabel(y)
    one.legend(frameon=False)
    return figure


DRAWN: dict[type[Result], Callable[[Any], Figure]] = {
    results.Comparison: _rows,
    results.Advice: _rows,
    results.FlowAdvice: _places,
    results.Trace: _trace,
    results.FlowRules: _flow,
    results.Experiment: _experiment,
    results.ServerProfile: _profile,
}
