#!/usr/bin/env python3
"""Tells whether a change of the code changed a result: digests of what fixed commands print.

    same.py RXLAB [--traces DIR]                 held against the digests in same.txt
    same.py RXLAB [--traces DIR] --write         writes that file anew; counts stay unless they are taken as well
    same.py RXLAB [--traces DIR] --against OLD   runs another build as well, and names each value that differs
    same.py RXLAB --counts                       with the first two: instructions of the model and of the native rings

Ends with 1 if a line moved, or if a count rose by more than 1%.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
BASELINE = HERE / "same.txt"
JOBS = 2
PATIENCE_S = 500
# How much a count of instructions may rise, percent.
RISE_PCT = 1.0

SHORT = "--placements 1 --other-arrivals 1 --trial-ms 4 --resolution 4 --limit-ms 60 --best none"
ALL = "--interfaces privring,shring,rxbisect,dynamic,corec,ddring"
COMMANDS = [
    f"compare {SHORT} {ALL} --rate 190",
    f"compare {SHORT} {ALL} --workload imix --cores 4 --ports 1 --app l3fwd --rate 60",
    f"compare {SHORT} {ALL} --workload rfc2544:64,flows=100k,arrivals=poisson --server corec-testbed --cores 4 --app l3fwd --rate 8",
    f"compare {SHORT} --workload kv:put=10 --app kv --steer port --cores 8",
    f"compare {SHORT} --app nat --port-load 3:1 --rate 120",
    f"compare {SHORT} --app nat --emulated --rate 150",
    f"compare {SHORT} --server corec-testbed --numa remote --cores 2 --app l3fwd --interfaces corec,privring --workload fixed:60",
    f"compare {SHORT} --antagonist pagerank:8 --cores 8 --sweep rate --rate 100",
    "compare --placements 1 --other-arrivals 1 --trial-ms 4 --resolution 4 --limit-ms 60 --cores 8 --ports 1",
    "experiment run rxbisect/fig10",
    "experiment run rxbisect/fig18",
    "experiment run corec/table2",
    "experiment run ddio-bench/descriptors",
    "advise --app nat --cores 8 --ports 1",
    "tcp --flows 16 --bytes 20000 --rounds 3 --interface corec --cores 4",
    "queue --customers 200000",
    "queue --layout split --service deterministic --load 0.8 --customers 200000",
]
CAPTURES = {
    "auckland2000_uplink_31k.pcap": "--rate 20 --cores 4 --ports 1",
    "nren_switch_4k.pcap": "--rate 50 --cores 8",
    "trex_sfr_1g_1s_215k.pcap": "--rate 40 --cores 4 --ports 1",
    "westermo_right_35k.pcap": "--rate 10 --cores 2 --ports 1 --app l3fwd",
}
# What tells of the build or of the machine, not of a result.
ASIDE = {"version", "commit", "date", "machine"}


def commands(traces):
    """All commands as they are named, with the words that run them; captures only where they are."""
    listed = [(c, c.split()) for c in COMMANDS]
    for name, options in CAPTURES.items():
        shown = f"compare {SHORT} --interfaces privring,shring,rxbisect,corec --pcap {name} {options}"
        path = traces / name if traces else None
        if path and path.is_file():
            listed.append((shown, [str(path) if word == name else word for word in shown.split()]))
        else:
            print(f"left out, the capture is not there: {name}")
    return listed


def result(rxlab, words):
    """What a command prints as JSON, without folders."""
    done = subprocess.run([rxlab, "--no-cache", *words, "--json"], capture_output=True, check=False, timeout=PATIENCE_S)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.decode().strip()}")
    return json.loads(re.sub(r"[^\s\"']*/([^/\s\"']*\.pcap)", r"\1", done.stdout.decode()))


def name_of(item, index):
    """What a row of a list is called."""
    if isinstance(item, dict):
        words = [str(item[k]) for k in ("id", "name", "label", "interface", "series", "start", "x") if k in item]
        if words:
            return " ".join(words)
    return str(index)


def parts(value, at="", depth=3):
    """The lines of a result: what its lists and objects hold, down to rows."""
    if depth and isinstance(value, dict):
        for key in sorted(value):
            if key not in ASIDE:
                yield from parts(value[key], f"{at}/{key}", depth - 1)
    elif depth and isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for index, item in enumerate(value):
            yield f"{at}[{name_of(item, index)}]", item
    else:
        yield at, value


def digests(rxlab, listed):
    """For each command its lines and their digests."""
    def one(command):
        shown, words = command
        found = {}
        for at, value in parts(result(rxlab, words)):
            text = json.dumps(value, sort_keys=True)
            # Lines of one name count together.
            found.setdefault(at, hashlib.sha256()).update(text.encode())
        print(".", end="", file=sys.stderr, flush=True)
        return shown, {at: digest.hexdigest()[:12] for at, digest in found.items()}

    with ThreadPoolExecutor(JOBS) as pool:
        found = dict(pool.map(one, listed))
    print(file=sys.stderr)
    return found


def leaves(value, at=""):
    """Every single value of a result with its place."""
    if isinstance(value, dict):
        for key in sorted(value):
            if key not in ASIDE:
                yield from leaves(value[key], f"{at}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{at}[{name_of(item, index)}]")
    else:
        yield at, value


def differences(rxlab, old, listed):
    """Prints each value that two builds give differently; how many commands differ."""
    moved = 0
    for shown, words in listed:
        with ThreadPoolExecutor(JOBS) as pool:
            new_values, old_values = pool.map(lambda program: dict(leaves(result(program, words))), [rxlab, old])
        differ = [at for at in sorted({*new_values, *old_values}) if new_values.get(at) != old_values.get(at)]
        moved += bool(differ)
        print(f"{'moved' if differ else 'same '}  rxlab {shown}")
        for at in differ:
            print(f"       {at}: {old_values.get(at)} -> {new_values.get(at)}")
    return moved


def counts(rxlab):
    """Instructions by callgrind: for a frame of a run of the model, of native rings, and of a link between processes."""
    words = "valgrind --tool=callgrind --callgrind-out-file=/dev/null".split()
    words += [rxlab, *"bench model --json --repeats 1 --packets 500000 --rate 199".split()]
    done = subprocess.run(words, capture_output=True, check=True)
    spent = int(re.search(r"Collected : (\d+)", done.stderr.decode()).group(1))
    found = {"model": spent / json.loads(done.stdout)["packets"]}
    for crate in "rings", "ccnic":
        words = f"cargo test --release -p {crate} --test native_cost -- --nocapture".split()
        done = subprocess.run(words, capture_output=True, check=True, cwd=HERE.parent)
        for line in re.findall(r"instructions for a frame.*: (.*)", done.stdout.decode()):
            found |= {what: float(count) for what, count in (cell.split() for cell in line.split(", "))}
    return found


def read():
    """The baseline: digests by command and line, and counts."""
    known, limits, command = {}, {}, None
    for line in BASELINE.read_text().splitlines():
        if line.startswith("rxlab "):
            command = line.removeprefix("rxlab ")
            known[command] = {}
        elif line.startswith("count "):
            _, what, count = line.split()
            limits[what] = float(count)
        elif line.startswith("  "):
            digest, at = line.strip().split("  ", 1)
            known[command][at] = digest
    return known, limits


def write(found, counted):
    lines = ["# Digests of results and counts of instructions: `make same`, see same.py."]
    lines += [f"count {what} {count:.2f}" for what, count in (counted or read()[1]).items()]
    for command, its in found.items():
        lines += [f"rxlab {command}", *(f"  {digest}  {at}" for at, digest in its.items())]
    BASELINE.write_text("\n".join(lines) + "\n")


def compared(found, counted):
    """Prints what moved; how much of it."""
    known, limits = read()
    moved = 0
    for command, its in found.items():
        old = known.get(command, {})
        differ = [at for at in {**old, **its} if old.get(at) != its.get(at)]
        moved += bool(differ)
        print(f"{'moved' if differ else 'same '}  rxlab {command}")
        for at in differ:
            print(f"       {at or '(all)'}{'' if at in old else ' is new'}{'' if at in its else ' is gone'}")
    for what, count in counted.items():
        rise = 100 * (count / limits[what] - 1) if what in limits else float("nan")
        risen = not rise <= RISE_PCT
        moved += risen
        print(f"{'rose ' if risen else 'same '}  {what}: {count:.2f} instructions per frame, {rise:+.2f}%")
    return moved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rxlab")
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--against", metavar="OLD")
    parser.add_argument("--counts", action="store_true")
    asked = parser.parse_args()
    listed = commands(asked.traces)
    if asked.against:
        sys.exit(bool(differences(asked.rxlab, asked.against, listed)))
    found = digests(asked.rxlab, listed)
    counted = counts(asked.rxlab) if asked.counts else {}
    if asked.write:
        write(found, counted)
    else:
        sys.exit(bool(compared(found, counted)))


if __name__ == "__main__":
    main()
