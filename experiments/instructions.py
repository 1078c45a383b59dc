#!/usr/bin/env python3
"""Where the instructions of a modelled frame go, by callgrind: by function, and by the source that they were compiled from.

    instructions.py RXLAB [OLD]      for a frame of `rxlab bench model`; with OLD, another build beside it

A function has what was inlined into it. A source has its lines wherever they were inlined: `model/engine/view/calls` are
the calls of `Memory`, `rust` is the standard library.
"""

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter

COMMAND = "bench model --json --repeats 1 --packets 500000 --rate 199"
ROWS = 24


def profile(rxlab):
    """Instructions for a frame by function and by source."""
    with tempfile.NamedTemporaryFile() as out:
        words = f"valgrind --tool=callgrind --demangle=no --callgrind-out-file={out.name}".split()
        done = subprocess.run([*words, rxlab, *COMMAND.split()], capture_output=True, check=True)
        frames = json.loads(done.stdout)["packets"]
        text = open(out.name).read()
    names, functions, sources = {}, Counter(), Counter()
    function = source = None
    called = False
    for line in text.splitlines():
        if found := re.match(r"(c?)(fn|fl|fi|fe|ob)=\((\d+)\)(?: (.*))?", line):
            is_call, kind, number, name = found.groups()
            space = "fn" if kind == "fn" else "ob" if kind == "ob" else "file"
            if name:
                names[space, number] = name
            if not is_call and space == "fn":
                function = number
            if not is_call and space == "file":
                source = number
        elif line.startswith("calls="):
            called = True
        elif found := re.match(r"[+\-*]?\d* (\d+)$", line):
            if not called:
                functions[short(names["fn", function])] += int(found[1])
                sources[place(names["file", source])] += int(found[1])
            called = False
    return [{name: count / frames for name, count in of.items()} for of in (functions, sources)]


def short(name):
    """The last words of a mangled name, without its hash."""
    parts, rest = [], re.sub(r"^_ZN", "", name)
    while found := re.match(r"(\d+)", rest):
        length = int(found[1])
        begin = len(found[1])
        parts.append(rest[begin:begin + length])
        rest = rest[begin + length:]
    if len(parts) < 2:
        return name
    readable = [re.sub(r"\.\.", "::", re.sub(r"\$[A-Za-z0-9]+\$", " ", part)).strip("_ ") for part in parts[:-1]]
    last = "::".join(readable[-2:])[-56:]
    # The bodies of fibres have one name: their hashes tell them apart.
    return f"{last} {parts[-1][1:5]}" if "do_call" in last else last


def place(path):
    """The room that a source is in."""
    if found := re.search(r"crates/(\w[\w-]*)/src/(.*)\.rs$", path):
        return f"{found[1]}/{found[2]}"
    return "rust" if "/rustc/" in path or "library/" in path else "other"


def table(title, new, old):
    print(f"\n{title}")
    rows = sorted(new, key=lambda name: -max(new[name], old.get(name, 0) if old else 0))[:ROWS]
    for name in rows:
        before = f"{old.get(name, 0):9.1f}" if old else ""
        print(f"{before}{new[name]:9.1f}  {name}")
    others = sum(count for name, count in new.items() if name not in rows)
    before = f"{sum(c for name, c in old.items() if name not in rows):9.1f}" if old else ""
    print(f"{before}{others:9.1f}  all others")
    before = f"{sum(old.values()):9.1f}" if old else ""
    print(f"{before}{sum(new.values()):9.1f}  in all")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rxlab")
    parser.add_argument("old", nargs="?")
    asked = parser.parse_args()
    new = profile(asked.rxlab)
    old = profile(asked.old) if asked.old else [None, None]
    print(f"Instructions for a frame of `rxlab {COMMAND}`" + (", before and after" if asked.old else ""))
    table("By function", new[0], old[0])
    table("By source", new[1], old[1])


if __name__ == "__main__":
    main()
