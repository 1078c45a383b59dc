#!/usr/bin/env python3
"""Detects every machine of experiments/dumps, compares the interfaces on each, and prints a table.

    experiments/dumps_table.py --rxlab target/release/rxlab

A machine without a profile is listed with what is missing. Ends with code 1 if a profile cannot be compared, or fewer than
30 machines have one.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

OFFERED = 90  # Gbps, of the workload that compare has of its own; nine tenths of a slower port
COMPARE = ["--no-search", "--placements", "1", "--limit-ms", "2", "--json"]


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def detect(rxlab, machine, profile):
    sources = []
    for option, directory in (("--root", "root"), ("--cpuid", "cpuid")):
        if (machine / directory).is_dir():
            sources += [option, machine / directory]
    return run(rxlab, "profile", "detect", *sources, "--out", profile, "--json")


def row(rxlab, machine):
    """The cells of a machine, and what is wrong with it, if something is."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = pathlib.Path(scratch) / "machine.toml"
        found = detect(rxlab, machine, profile)
        if found.returncode != 0:
            return None, found.stderr.strip().removeprefix("rxlab: detect: ")
        d = json.loads(found.stdout)
        cores = min(d["profile"]["cores"], 4)
        rate = min(OFFERED, 0.9 * d["profile"]["nic"]["port_gbps"])
        compared = run(rxlab, "compare", "--server", profile, "--cores", cores, "--ports", 1, "--rate", f"{rate:g}", *COMPARE)
        if compared.returncode != 0:
            return None, f"compare: {compared.stderr.strip()}"
        rows = json.loads(compared.stdout)["results"]
    caches = d["profile"]["caches"]
    llc = caches["slices"] * caches["sets_per_slice"] * caches["ways"] * 64 / 2**20
    origin = d["profile"]["origins"]["caches.ddio_ways"].split(":")[0]
    empty = [r for r in rows if r["start"] == "empty"]
    sent = ", ".join(f"{r['interface']} {r['throughput_gbps']:.1f}" for r in empty)
    name = d["processor"]["name"].replace("(R)", "").replace("(TM)", "").replace("(tm)", "")
    return [
        machine.name,
        " ".join(name.split())[:44],
        d["part"],
        str(d["profile"]["cores"]),
        f"{llc:.2f}".rstrip("0").rstrip("."),
        str(caches["ways"]),
        f"{caches['ddio_ways']} {origin}",
        d["profile"]["nic"]["name"],
        f"{len(d['read'])}",
        f"{cores}: {sent}",
    ], None


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rxlab", required=True)
    rxlab = pathlib.Path(options.parse_args().rxlab).resolve()
    here = pathlib.Path(__file__).resolve().parent
    cache = subprocess.run([here / "dumps"], capture_output=True, text=True, check=True).stdout.strip()
    heading = "dump|processor|part|cores|LLC MiB|ways|DDIO ways|card|read|Gbps sent by cores".split("|")
    table, missing, broken = [heading], [], []
    for machine in sorted(pathlib.Path(cache, "machines").iterdir()):
        cells, wrong = row(rxlab, machine)
        if cells:
            table.append(cells)
        else:
            (broken if wrong.startswith("compare") else missing).append((machine.name, wrong))
    widths = [max(len(cells[n]) for cells in table) for n in range(len(heading))]
    print(f"{len(table) - 1} machines with a profile, {OFFERED} Gbps offered to up to 4 cores")
    print("(read: numbers and settings that were read, not assumed; ways: of the LLC)\n")
    for cells in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())
    for title, list_ in (("No profile, and what is missing", missing), ("Cannot be compared", broken)):
        if list_:
            print(f"\n{title}\n")
        for name, wrong in list_:
            print(f"{name}: {wrong[:200]}")
    if broken or len(table) <= 30:
        sys.exit(1)


if __name__ == "__main__":
    main()
