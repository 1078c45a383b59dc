#!/usr/bin/env python3
"""What the model predicts of the driver on this machine, beside what the driver does: round by round the machine's
primitives are calibrated, the model runs with them, and the driver is measured; then they are calibrated again.
A line counts if the CPUs sat as close in all calibrations as during the measurement. Its prediction is the mean of
theirs.

    dpdk/bench/predictions.py [--rounds 5] [--calibrations 3] [--sizes 64,1500] [--rxlab PROGRAM] [--build dpdk/build]

Run as root, and nothing else meanwhile.
"""
import argparse
import json
import statistics
import subprocess
import sys

INTERFACES = ["privring", "shring", "rxbisect"]
# Calibrations for one that counts: the CPUs may move in the others.
TRIES = 3


def rxlab(args, *words):
    """What it prints; None where it says that the CPUs moved all the time."""
    done = subprocess.run([args.rxlab, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 and "the CPUs moved" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def predict(args):
    """Where the CPUs sat, and the predicted rates of each point; None where they moved.

    Each calibration predicts for itself: where either CPU is slow at times, the slower one sets the rate, and the
    middle of each CPU's times does not tell how often."""
    outs = []
    for _ in range(TRIES * args.calibrations):
        if len(outs) < args.calibrations:
            outs += filter(None, [rxlab(args, "calibrate", "--rounds", "1", "--predict")])
    if len(outs) < args.calibrations or any(out["placement"] != outs[0]["placement"] for out in outs):
        return None
    rates = {}
    for out in outs:
        for p in out["predictions"]:
            rates.setdefault((p["interface"], p["frame_len"]), []).append(p["mpps"])
    return outs[0]["placement"], rates


def measure(args):
    """Rates by point, with where the CPUs sat."""
    words = ["--only", ",".join(INTERFACES), "--measure", "stream", "--sizes", args.sizes, "--bursts", "32"]
    if args.build:
        words += ["--build", args.build]
    rows = (rxlab(args, "bench", "live", *words, "--rounds", "1") or {"rows": []})["rows"]
    return {(r["peer"], r["size"]): (r["distance"], r["median"]) for r in rows}


def rounds(args):
    """(placement, interface, size): pairs of predicted and measured, and how many were left out."""
    found, left_out = {}, 0
    before = predict(args)
    for _ in range(args.rounds):
        measured = measure(args)
        after = predict(args)
        for size in map(int, args.sizes.split(",")):
            for interface in INTERFACES:
                place, rate = measured.get((interface, size), (None, 0))
                if not before or not after or not before[0] == place == after[0]:
                    left_out += 1
                    continue
                predicted = before[1].get((interface, size), []) + after[1].get((interface, size), [])
                if predicted:
                    found.setdefault((place, size, interface), []).append((statistics.mean(predicted), rate))
        before = after
    return found, left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calibrations", type=int, default=3, help="calibrations before and after each measurement")
    parser.add_argument("--sizes", default="64,1500", help="bytes of a frame, of 64 and 1500")
    parser.add_argument("--rxlab", default="rxlab", help="the program")
    parser.add_argument("--build", help="where make dpdk built the driver")
    args = parser.parse_args()
    found, left_out = rounds(args)
    print(f"{'CPUs':<10}{'interface':<10}{'frame':>6}{'rounds':>8}{'predicted':>11}{'measured':>10}{'ratio':>7}  of each round")
    for (place, size, interface), pairs in sorted(found.items()):
        predicted, measured = (statistics.median(column) for column in zip(*pairs))
        each = ", ".join(f"{p / m:.2f}" for p, m in pairs if m)
        ratio = predicted / measured if measured else float("nan")
        print(f"{place:<10}{interface:<10}{size:>6}{len(pairs):>8}{predicted:>11.1f}{measured:>10.1f}{ratio:>7.2f}  {each}")
    print(f"\nMpps, medians of the rounds; {left_out} points left out: the CPUs moved")


if __name__ == "__main__":
    main()
