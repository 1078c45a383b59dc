#!/usr/bin/env python3
"""Holds the verdicts of `rxlab compare` against their own rows.

    verdicts.py [--rxlab RXLAB] check FILE.json ..     contradictions of given results
    verdicts.py [--rxlab RXLAB] run [N] [--from M]     N random set-ups, each with two seeds
    verdicts.py [--rxlab RXLAB] captures DIR           each capture of a folder at five loads

Ends with 1 if a verdict contradicts its rows, or if two seeds of a set-up name different winners too often.
"""

import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from verdicts_check import check
from verdicts_setups import line_gbps, setups, strict

# Of the set-ups in which both seeds name a winner, how many name the same, percent.
AGREEMENT_PCT = 98.0
SEEDS_APART = 1000
# Far above what a small set-up takes: one that hangs ends.
PATIENCE_S = 300
JOBS = 2
REFUSED = 2


class Run:
    """One comparison: its command, exit code, result, and what contradicts what in it."""

    def __init__(self, rxlab, args):
        self.args = args
        command = [rxlab, "--no-cache", "compare", "--json", *args]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.code, self.out, self.found = -1, None, [f"took more than {PATIENCE_S} s"]
            return
        self.code, self.says = done.returncode, done.stderr.decode().strip()
        self.out = json.loads(done.stdout) if done.returncode == 0 else None
        self.found = self.judge()

    def judge(self):
        if self.out is None:
            return [f"exit code {self.code}: {self.says}"]
        return check(self.out, strict(self.args), line_gbps(self.args))

    def verdict(self, name):
        return self.out["verdict"][name] if self.out else None

    def shown(self):
        return "rxlab compare " + shlex.join(self.args)


def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        print("  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip())


def pair(rxlab, n):
    """The first set-up of number `n` that the program takes, from two seeds; how many it refused before."""
    for refused, args in enumerate(setups(n)):
        first = Run(rxlab, [*args, "--seed", str(n)])
        if first.code != REFUSED:
            runs = [first, Run(rxlab, [*args, "--seed", str(n + SEEDS_APART)])]
            print(f"{n}: {' '.join(str(r.verdict('winner')) for r in runs)}", file=sys.stderr)
            return n, refused, runs


def kind(runs):
    """How the winners of two seeds go together."""
    winners = [r.verdict("winner") for r in runs]
    if winners[0] == winners[1]:
        return "no winner, twice" if winners[0] is None else "same winner"
    return "no winner by one seed" if None in winners else "different winners"


def show_contradictions(runs):
    for r in runs:
        for said in r.found:
            print(f"contradiction: {said}\n  {r.shown()}", flush=True)


def show_flip(runs):
    print("flip: " + ", ".join(f"{r.verdict('winner')} by {r.verdict('decided_by')}" for r in runs))
    print("\n".join("  " + r.shown() for r in runs), flush=True)


def random_runs(rxlab, count, start):
    """Set-ups from `start` on: prints contradictions, flips and totals; whether all is well."""
    done = []
    kinds = {"same winner": 0, "no winner, twice": 0, "no winner by one seed": 0, "different winners": 0}
    with ThreadPoolExecutor(JOBS) as pool:
        # As they come: whoever stops a long run keeps what it found.
        for _, refused, runs in pool.map(lambda n: pair(rxlab, n), range(start, start + count)):
            done.append((refused, runs))
            kinds[kind(runs)] += 1
            show_contradictions(runs)
            if kind(runs) == "different winners":
                show_flip(runs)
    contradictions = sum(len(r.found) for _, runs in done for r in runs)
    same, flips = kinds["same winner"], kinds["different winners"]
    share = 100 * same / (same + flips) if same + flips else 100.0
    table([("set-ups", str(count)), ("refused and drawn again", str(sum(refused for refused, _ in done))),
           *((name, str(k)) for name, k in kinds.items()), ("contradictions", str(contradictions)),
           ("agreement where both name a winner", f"{share:.1f}%, at least {AGREEMENT_PCT:.0f}% wanted")])
    return contradictions == 0 and share >= AGREEMENT_PCT


def loads(rxlab, capture):
    """Name and run of each load of a capture; the largest tells what the cores carry, and 10 Gbps where that is nothing."""
    def at(rate):
        args = ["--pcap", str(capture), "--rate", rate, "--placements", "2", "--other-arrivals", "1", "--best", "none"]
        return Run(rxlab, args)

    wire = line_gbps([])
    most = at(f"{wire:.2f}")
    yield "100% of line", most
    ten = at("10")
    yield "own", at("own")
    yield "10", ten
    yield "50", at("50")
    # `--rate` counts what is on the wire, results count frames.
    carried = [(max(r.get("no_drop_gbps") or 0 for r in run.out["results"]), run) for run in (most, ten) if run.out]
    for gbps, run in carried:
        if gbps > 0:
            on_wire = float(run.args[run.args.index("--rate") + 1]) / run.out["results"][0]["offered_gbps"]
            twice = f"{min(wire, 2 * gbps * on_wire):.4g}"
            yield f"twice: {twice}", at(twice)
            return
    print(f"{capture.stem}: no interface carries a part of it that a search can tell", file=sys.stderr)


def captured(rxlab, folder):
    """Each capture of a folder at five loads: prints a table; whether no verdict contradicts its rows."""
    captures = sorted(Path(folder).glob("*.pcap*"))
    if not captures:
        sys.exit(f"no captures in {folder}")
    rows, bad = [("capture", "load", "winner", "decided by", "contradictions")], []
    for capture in captures:
        for name, run in loads(rxlab, capture):
            # A capture's own timing may be faster than the ports, or need a span of time that it has not.
            if name == "own" and run.code == REFUSED:
                rows.append((capture.stem, name, "refused", "-", "-"))
                continue
            rows.append((capture.stem, name, run.verdict("winner") or "-", run.verdict("decided_by") or "-", str(len(run.found))))
            bad += [run] if run.found else []
            print(" ".join(rows[-1]), file=sys.stderr)
    table(rows)
    show_contradictions(bad)
    return not bad


def files(names):
    """Contradictions of results that lie in files; whether there are none."""
    found = [(name, said) for name in names for said in check(json.loads(Path(name).read_text()))]
    for name, said in found:
        print(f"{name}: {said}")
    return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rxlab", default="target/release/rxlab")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("files", nargs="+")
    run = commands.add_parser("run")
    run.add_argument("count", nargs="?", type=int, default=200)
    run.add_argument("--from", dest="start", type=int, default=1)
    commands.add_parser("captures").add_argument("folder")
    given = parser.parse_args()
    if given.command == "check":
        good = files(given.files)
    elif given.command == "run":
        good = random_runs(given.rxlab, given.count, given.start)
    else:
        good = captured(given.rxlab, given.folder)
    sys.exit(not good)


if __name__ == "__main__":
    main()
