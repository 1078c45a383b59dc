#!/usr/bin/env python3
"""Compares the interfaces on every capture of a folder, twice: captures.py RXLAB FOLDER

Ends with 1 if a run fails, if the same command gives other bytes the second time, or if packets or buffers are not
conserved exactly.
"""

import json
import subprocess
import sys
from pathlib import Path

HEAD = ("capture", "exit", "bytes", "conserved", "winner", "by", "load", "drops mostly")


def compare(rxlab, capture):
    return subprocess.run([rxlab, "--no-cache", "compare", "--json", "--pcap", capture], capture_output=True, check=False)


def conserved(result):
    c = result["conservation"]
    return c["offered"] == c["delivered"] + c["dropped"] + c["in_nic"] and c["buffers"] == c["buffers_free"]


def row(rxlab, capture):
    runs = [compare(rxlab, capture) for _ in range(2)]
    codes = ",".join(str(r.returncode) for r in runs)
    if any(r.returncode for r in runs):
        return (capture.stem, codes, "-", "-", "-", "-", "-", runs[0].stderr.decode().strip()), False
    out = json.loads(runs[0].stdout)
    same = runs[0].stdout == runs[1].stdout
    whole = all(conserved(r) for r in out["results"])
    verdict = out["verdict"]
    causes = sorted({max(r["drops"], key=r["drops"].get) for r in out["results"] if any(r["drops"].values())})
    cells = (capture.stem, codes, "same" if same else "OTHER", "yes" if whole else "NO", verdict["winner"] or "-",
             verdict["decided_by"] or "-", f"{verdict['load_gbps']:.1f}", " ".join(causes) or "-")
    return cells, same and whole


def main():
    rxlab, folder = sys.argv[1:]
    captures = sorted(Path(folder).glob("*.pcap*"))
    if not captures:
        sys.exit(f"no captures in {folder}")
    rows = [row(rxlab, c) for c in captures]
    table = [HEAD] + [cells for cells, _ in rows]
    widths = [max(len(r[i]) for r in table) for i in range(len(HEAD))]
    for r in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(r, widths)).rstrip())
    sys.exit(not all(good for _, good in rows))


if __name__ == "__main__":
    main()
