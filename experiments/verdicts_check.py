"""What a verdict of `rxlab compare --json` must not say of its own rows.

Written from the reader's side and without the program's rules at hand: it judges the JSON alone. Each rule adds
sentences; an empty list says that no rule found a contradiction, not that the verdict is right.
"""

import math
import re

# Frames that no interface could have delivered to anyone: they are not the interface's loss.
REFUSED = {"bad_frame", "application"}
# Reordered frames of flows, percent, from which a strict order leaves an interface out.
REORDERED_PCT = 0.01
# No-drop rates come from a bisection: a step of it is no difference.
RATE_PCT = 2.0
# What latency, DRAM traffic and buffers must differ by before anyone would act on it.
LEAD_PCT = 10.0
# What nobody minds, however large a part it is: us, Gbps (1% of what a server's DRAM carries), buffers.
FLOORS = {"latency_p99_us": 1.0, "dram_gbps": 7.5, "circulating_buffers": 64}
# Points of loss that tell two overloaded interfaces apart.
LOST_POINTS = 1.0
MARGIN_PCT = 1000.0

# In the order in which the reader is told that they count; less is better in each.
COSTS = ("latency_p99_us", "dram_gbps", "circulating_buffers")
VALUES = {
    "latency_p99_us": lambda r: r["latency_us"]["p99"],
    "dram_gbps": lambda r: r["dram_gbps"]["read"] + r["dram_gbps"]["write"],
    "circulating_buffers": lambda r: r["circulating_buffers"],
    "no_drop_gbps": lambda r: r.get("no_drop_gbps"),
    "throughput_gbps": lambda r: r["throughput_gbps"],
    "lost_pct": lambda r: lost_pct(r),
}


def near(a, b, part=1e-6):
    """Equal but for the rounding of sums of floats."""
    return abs(a - b) <= part * max(abs(a), abs(b)) + 1e-9


def lost_pct(row):
    """Share of the offered frames that the interface is to blame for."""
    lost = sum(n for cause, n in row["drops"].items() if cause not in REFUSED)
    return 100 * lost / row["counted"]["offered"] if row["counted"]["offered"] else 0.0


def disjoint(a, b):
    """Ranges without a common value: placements and arrivals cannot explain the difference."""
    return a[1] < b[0] or b[1] < a[0]


class Rows:
    """The rows of a result by label, and what the verdict says of each label."""

    def __init__(self, out):
        self.verdict = out["verdict"]
        self.all = out["results"]
        self.of = {}
        for r in self.all:
            self.of.setdefault(r["label"], {})[r["start"]] = r
        self.full = {label: starts.get("full") or next(iter(starts.values())) for label, starts in self.of.items()}
        self.says = {c["label"]: c for c in self.verdict["carries"]}
        self.load = self.all[0]["offered_gbps"]
        self.resolution = out.get("defaults", {}).get("resolution_pct", 1)
        self.eligible = [label for label in self.full if label in self.says and not self.says[label]["left_out"]]
        self.carrying = [label for label in self.eligible if self.says[label]["carries"] == "yes"]

    def value(self, label, what):
        return VALUES[what](self.full[label])

    def beats(self, a, b, cost):
        """Whether `a` costs less than `b` by more than anyone would call noise."""
        less, more = self.value(a, cost), self.value(b, cost)
        ranges = [self.full[label]["range"].get(cost) for label in (a, b)]
        return more - less > max(LEAD_PCT / 100 * more, FLOORS[cost]) and all(ranges) and disjoint(*ranges)

    def carries(self, label, short_pct=RATE_PCT):
        """Whether a reader of the rows may say that the label carries the load: its rate falls short of it by no more."""
        rows = self.of[label].values()
        whole = all(r["range"]["lost_pct"][1] == 0 and lost_pct(r) == 0 for r in rows)
        rate = self.value(label, "no_drop_gbps")
        return whole and (rate is None or rate >= self.load * (1 - short_pct / 100) - 1e-9)


def counts(r):
    """Contradictions within the numbers of one row."""
    c, k, who = r["counted"], r["conservation"], f"{r['label']} from {r['start']}"
    had = c["offered"] + c["waiting_before"]
    if c["sent"] > had:
        yield f"{who}: sent {c['sent']} frames of {had}"
    elif c["sent"] + c["dropped"] > had:
        yield f"{who}: sent and dropped {c['sent'] + c['dropped']} frames of {had}"
    if not near(r["offered_gbps"], c["offered_bytes"] * 8 / r["measured_s"] / 1e9):
        yield f"{who}: offered_gbps {r['offered_gbps']} is not offered_bytes over measured_s"
    if c["offered"] and not near(r["drop_pct"], 100 * c["dropped"] / c["offered"]):
        yield f"{who}: drop_pct {r['drop_pct']} against {c['dropped']} of {c['offered']} frames"
    if sum(r["drops"].values()) != c["dropped"]:
        yield f"{who}: drops add up to {sum(r['drops'].values())}, counted are {c['dropped']}"
    if k["offered"] != k["delivered"] + k["dropped"] + k["in_nic"]:
        yield f"{who}: frames are not conserved"
    if k["buffers"] != k["buffers_free"]:
        yield f"{who}: buffers are not conserved"


def one_load(rows):
    """All rows meet the same arrivals over the same window; otherwise nothing compares."""
    first = rows.all[0]
    for r in rows.all[1:]:
        for what in ("offered", "offered_bytes", "from_us"):
            if r["counted"][what] != first["counted"][what]:
                yield f"{r['label']} from {r['start']}: counted.{what} {r['counted'][what]}, others {first['counted'][what]}"
        if r["measured_s"] != first["measured_s"]:
            yield f"{r['label']} from {r['start']}: measured_s {r['measured_s']}, others {first['measured_s']}"
    if not near(rows.verdict["load_gbps"], rows.load):
        yield f"verdict: load_gbps {rows.verdict['load_gbps']}, offered are {rows.load}"


def line(rows, gbps):
    """Nothing leaves faster than the ports."""
    for r in rows.all:
        if gbps is not None and r["throughput_gbps"] > gbps * 1.001:
            yield f"{r['label']} from {r['start']}: throughput {r['throughput_gbps']} above the line rate of {gbps}"


def carrying(rows):
    """What `carries` says of each label against its rows."""
    if set(rows.says) != set(rows.of):
        yield f"carries tells of {sorted(rows.says)}, rows of {sorted(rows.of)}"
    for label in rows.says.keys() & rows.of.keys():
        says, loses = rows.says[label]["carries"], rows.full[label]["range"]["lost_pct"][0] > 0
        if says == "yes" and loses:
            yield f"{label}: carries, and loses in all placements"
        elif says == "yes" and not rows.carries(label):
            yield f"{label}: carries, and its rows do not"
        # A rate below the load says so itself, by however little.
        elif says == "no" and rows.carries(label, short_pct=0):
            yield f"{label}: does not carry, and its rows do"


def order(rows, strict):
    """Who reorders is left out where the order counts, and nobody else."""
    for label, c in rows.says.items():
        reorders = c["flow_reordered_pct"] > REORDERED_PCT
        if c["left_out"] != (strict and reorders):
            yield f"{label}: left_out {c['left_out']} with {c['flow_reordered_pct']}% reordered, order {'strict' if strict else 'any'}"


def winner(rows):
    """Whether the winner may be one at all, and the best of the overloaded."""
    w, by = rows.verdict["winner"], rows.verdict["decided_by"]
    if w is None:
        return
    if w not in rows.full:
        yield f"winner {w} has no row"
    elif w not in rows.eligible:
        yield f"winner {w} is left out"
    elif rows.carrying and w not in rows.carrying:
        yield f"winner {w} does not carry, {' '.join(rows.carrying)} do"
    elif by == "loss" and rows.carrying != [w]:
        yield f"{w} wins by loss, and {' '.join(rows.carrying) or 'nobody'} carries"
    elif by == "lost_pct":
        yield from least_lost(rows, w)
    elif not rows.carrying:
        yield from largest_rate(rows, w)


def least_lost(rows, w):
    lost = rows.value(w, "lost_pct")
    for other in rows.eligible:
        if other != w and rows.value(other, "lost_pct") < lost + LOST_POINTS:
            yield f"{w} wins by loss of {lost:.2f}%, {other} loses {rows.value(other, 'lost_pct'):.2f}%"


def largest_rate(rows, w):
    """None carries: the largest load without a drop is what a reader could run."""
    has = rows.value(w, "no_drop_gbps")
    for other in rows.eligible if has is not None else []:
        more = rows.value(other, "no_drop_gbps")
        if more is not None and more - has > RATE_PCT / 100 * max(rows.load, has):
            yield f"winner {w} carries {has:.2f} Gbps, {other} {more:.2f}"


def costs(rows):
    """Among those that carry: nobody beats the winner in what counts first, and it leads in what decided."""
    w, by = rows.verdict["winner"], rows.verdict["decided_by"]
    if w not in rows.carrying or by not in COSTS:
        return
    earlier = COSTS[:COSTS.index(by)]
    for other in rows.carrying:
        beaten = [c for c in earlier if rows.beats(other, w, c)]
        for cost in beaten:
            yield f"{w} wins by {by}, and {other} beats it in {cost}"
        level = not beaten and not any(rows.beats(w, other, c) for c in earlier)
        if other != w and level and rows.value(other, by) <= rows.value(w, by):
            yield f"{w} wins by {by} of {rows.value(w, by):.4g}, {other} has {rows.value(other, by):.4g}"


def margin(rows):
    """The lead that the verdict tells is that of the rows, and one that a reader would act on."""
    v, m = rows.verdict, rows.verdict["margin"]
    w, by = v["winner"], v["decided_by"]
    if m is None or w not in rows.full:
        return
    if m["pct"] is not None and not (math.isfinite(m["pct"]) and abs(m["pct"]) <= MARGIN_PCT):
        yield f"margin of {m['pct']}%"
    if m["next"] not in rows.full:
        yield f"margin to {m['next']}, which has no row"
        return
    if by in VALUES:
        for label, told in ((w, m["value"]), (m["next"], m["next_value"])):
            if rows.value(label, by) is None or not near(told, rows.value(label, by), 1e-3):
                yield f"margin tells {by} {told} of {label}, its row {rows.value(label, by)}"
    if by in COSTS and not rows.beats(w, m["next"], by):
        yield f"{w} does not lead {m['next']} in {by} by more than {LEAD_PCT:.0f}% and beyond the ranges"


def no_winner(rows):
    """Whether the rows single one out although the verdict does not."""
    if rows.verdict["winner"] is not None or len(rows.eligible) < 2:
        return
    if rows.carrying:
        left = rows.carrying
        for cost in COSTS:
            left = [a for a in left if not any(rows.beats(b, a, cost) for b in left)]
        unsure = any(rows.says[label]["carries"] == "unsure" for label in rows.eligible)
        if len(left) == 1 and not (unsure and len(rows.carrying) == 1):
            yield f"no winner, and {left[0]} is the best of {' '.join(rows.carrying)}, which carry"
        return
    rates = sorted((rows.value(label, "no_drop_gbps") or 0, label) for label in rows.eligible)
    (second, other), (most, best) = rates[-2:]
    # A search knows a rate to its resolution at either end; a lead under one arrivals only is told as such.
    finest = max(RATE_PCT, 2 * rows.resolution)
    if most - second > finest / 100 * max(rows.load, second) and rows.verdict["unconfirmed"] != best:
        yield f"no winner, and {best} carries {most:.2f} Gbps, {other} {second:.2f}"


def noise(rows):
    """A difference that is told as noise lies within the ranges."""
    told = re.search(r"in ([\w ]+): \S+ of (\S+) against \S+ .*of (\S+), too little for the range", rows.verdict["separates"] or "")
    cost = told and {"p99 latency": COSTS[0], "DRAM traffic": COSTS[1], "circulating buffers": COSTS[2]}.get(told[1])
    if cost and {told[2], told[3]} <= rows.full.keys() and rows.beats(told[2], told[3], cost):
        ranges = [[round(v, 1) for v in rows.full[told[i]]["range"][cost]] for i in (2, 3)]
        yield f"{cost} of {told[2]} {ranges[0]} and {told[3]} {ranges[1]} is told as too little"


def remedies(out, rows):
    """Who carries needs none; and the cores that the headline asks for are not among those tried in vain."""
    asked = re.search(r"with (\S+); for \S+ you need about (\d+)", rows.verdict["headline"])
    for r in out["remedies"]:
        if rows.says.get(r["label"], {}).get("carries") == "yes":
            yield f"{r['label']}: carries, and has a remedy: {r['set']}"
        vain = [int(t.split()[1]) for t in r["tried"] if t.startswith("--cores ") and t != r["set"]]
        if asked and asked[1] == r["label"] and vain and max(vain) >= int(asked[2]):
            yield f"the headline asks for about {asked[2]} cores for {r['label']}, and --cores {max(vain)} does not do (remedy: {r['set']})"


def headline(rows):
    """The sentence says what the fields say. Loose: wording may change."""
    v = rows.verdict
    text, w = v["headline"], v["winner"]
    none = text.lower().startswith("no winner")
    if w is not None and none:
        yield f"the headline says no winner, winner is {w}"
    if w is None and not none and len(rows.eligible) > 1:
        yield "winner is null, and the headline does not say so"
    if w is not None and not re.search(rf"\b{re.escape(w)}\b", text):
        yield f"the headline does not name the winner {w}"
    numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)]
    if not any(near(n, rows.load, 0.01) for n in numbers):
        yield f"the headline does not name the load of {rows.load:.3g} Gbps"


def decided(rows):
    """A rule that this file does not know would pass unchecked."""
    by, w = rows.verdict["decided_by"], rows.verdict["winner"]
    if w is not None and by not in ("loss", *VALUES):
        yield f"winner {w} is decided by {by}, which this checker does not know"


def check(out, strict=True, line_gbps=None):
    """Contradictions of a comparison: `strict` order of flows, `line_gbps` of all ports (None: not checked)."""
    rows = Rows(out)
    found = [said for r in rows.all for said in counts(r)]
    for rule in (one_load, carrying, winner, no_winner, noise, costs, margin, headline, decided):
        found += rule(rows)
    return [*found, *line(rows, line_gbps), *order(rows, strict), *remedies(out, rows)]
