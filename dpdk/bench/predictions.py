#!/usr/bin/env python3
"""What the model predicts of the driver on this machine, beside what the driver does: point by point the machine's
primitives are calibrated, the driver is measured, and they are calibrated again. The model predicts afterwards, for each
calibration by itself; a point's prediction is the mean of the two.

A point counts if the CPUs sat as close whenever they were looked at. On a virtual machine another guest may have a core's
other thread, and code then takes twice as long: points during which each core stayed alone, or shared, are told apart from
those during which that changed, and "any" is all of them where they differ.

    dpdk/bench/predictions.py [--rounds 12] [--sizes 64,1500] [--mixed] [--rxlab PROGRAM] [--build dpdk/build]

Run as root, and nothing else meanwhile.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

INTERFACES = ["privring", "shring", "rxbisect"]
# How much longer than at best in this run a core's work takes at the most while the core is its CPU's alone, and at the
# least while somebody else has its other thread. Siblings of ours always share.
ALONE, SHARED = 1.25, 1.6
# By the receiver's core and the one that plays the NIC: whether it is shared.
STATES = {(False, False): "alone", (True, False): "Rx shared", (False, True): "NIC shared", (True, True): "shared"}
CHANGED, ANY = "changed", "any"

# Where the CPUs sat, and the least and the most that a core's work took on the receiver's and the NIC's, ns.
Machine = collections.namedtuple("Machine", "place core_ns")


class Failed(Exception):
    """What rxlab says of itself where it fails."""


def rxlab(args, *words):
    """What it prints; None where it says that the CPUs moved all the time. Raises Failed."""
    try:
        done = subprocess.run([args.rxlab, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"{args.rxlab}: {error.strerror}; --rxlab says where the program is") from error
    if done.returncode != 0 and "the CPUs moved" in done.stderr:
        return None
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout)


def calibrate(args, profile):
    """Writes a profile; how the machine was, or None where the CPUs moved."""
    out = rxlab(args, "calibrate", "--rounds", "1", "--out", profile, *args.mixed)
    return out and Machine(out["placement"], out["values"]["core_ns"])


def measure(args, interface, size):
    """The driver's rate, Mpps, and how the machine was; None where the CPUs moved."""
    words = ["--only", interface, "--measure", "stream", "--sizes", str(size), "--bursts", "32", *args.mixed]
    if args.build:
        words += ["--build", args.build]
    rows = (rxlab(args, "bench", "live", *words, "--rounds", "1") or {"rows": []})["rows"]
    return next(((r["median"], Machine(r["distance"], r["core_ns_range"])) for r in rows), None)


def points(args, directory):
    """Each point: interface, size, the driver's rate, the machine before, meanwhile and after, the profiles before and after."""
    number = 0
    profile = lambda: os.path.join(directory, f"{number}.toml")
    before = (calibrate(args, profile()), profile())
    for _ in range(args.rounds):
        for size in map(int, args.sizes.split(",")):
            for interface in INTERFACES:
                measured = measure(args, interface, size)
                number += 1
                after = (calibrate(args, profile()), profile())
                rate, meanwhile = measured or (None, None)
                yield (interface, size), rate, [before[0], meanwhile, after[0]], [before[1], after[1]]
                before = after


def cores(machines, best):
    """The name of the state that the cores were in whenever they were looked at, or CHANGED."""
    states = set()
    for m in machines:
        if m.place == "siblings":
            return STATES[True, True]
        slower = [[ns / best for ns in looks] for looks in m.core_ns]
        if any(most > ALONE and least < SHARED for least, most in slower):
            return CHANGED
        states.add(STATES[tuple(least >= SHARED for least, _ in slower)])
    return states.pop() if len(states) == 1 else CHANGED


def predicted(args, profile, known):
    """Mpps of each point by the model with that profile."""
    if profile not in known:
        out = rxlab(args, "calibrate", "--from", profile, "--predict")
        known[profile] = {(p["interface"], p["frame_len"]): p["mpps"] for p in out["predictions"]}
    return known[profile]


def every_one(measured):
    """All points, or those before rxlab failed, and what it said."""
    found = []
    try:
        for point in measured:
            found.append(point)
    except Failed as failed:
        return found, failed
    return found, None


def compare(args, all_points):
    """(place, cores, size, interface): pairs of predicted and measured; how many points were left out; the best core's ns."""
    found, left_out, known = collections.defaultdict(list), 0, {}
    seen = [m for _, _, machines, _ in all_points for m in machines if m]
    best = min((least for m in seen for least, _ in m.core_ns), default=1)
    for (interface, size), rate, machines, profiles in all_points:
        if None in machines or len({m.place for m in machines}) > 1:
            left_out += 1
            continue
        rates = [predicted(args, p, known)[interface, size] for p in profiles]
        for state in cores(machines, best), ANY:
            found[machines[0].place, state, size, interface].append((statistics.mean(rates), rate))
    one_state = {k for k in found if k[1] == ANY and sum(f[0] == k[0] and f[2:] == k[2:] for f in found) == 2}
    return {k: pairs for k, pairs in found.items() if k not in one_state}, left_out, best


def sizes(text):
    """Those that the model predicts."""
    if not set(text.split(",")) <= {"64", "1500"}:
        raise argparse.ArgumentTypeError("allowed: 64 and 1500")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--sizes", type=sizes, default="64,1500", help="bytes of a frame, of 64 and 1500")
    parser.add_argument("--mixed", action="store_const", const=["--mixed"], default=[],
                        help="with pools whose buffers are in no order")
    parser.add_argument("--rxlab", default="rxlab", help="the program")
    parser.add_argument("--build", help="where make dpdk built the driver")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        measured, failed = every_one(points(args, directory))
        found, left_out, best = compare(args, measured)
    columns = f"{'CPUs':<10}{'cores':<12}{'interface':<10}{'frame':>6}{'points':>8}{'predicted':>11}{'measured':>10}{'ratio':>7}"
    print(f"{columns}  of each point")
    for (place, shared, size, interface), pairs in sorted(found.items()):
        model, live = (statistics.median(column) for column in zip(*pairs))
        each = ", ".join(f"{p / m:.2f}" for p, m in pairs if m)
        ratio = model / live if live else float("nan")
        row = f"{place:<10}{shared:<12}{interface:<10}{size:>6}{len(pairs):>8}{model:>11.1f}{live:>10.1f}{ratio:>7.2f}"
        print(f"{row}  {each}")
    print(f"\nMpps, medians of the points; a core takes {best:.2f} ns at best. Left out, the CPUs moved: {left_out}")
    if failed:
        raise Failed(f"{failed}\n{len(measured)} points were measured before")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        print(failed, file=sys.stderr)
        sys.exit(2)
