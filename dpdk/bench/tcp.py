#!/usr/bin/env python3
"""Linux TCP (CUBIC) between two network namespaces, through an L3 forwarder on the DPDK driver: rxbench, whose ports
are TAP devices. One and two threads on one queue of corec, against as many queues with RSS, in turn within each
repetition. Prints flow completion times with 95% confidence intervals, what TCP sent again, and what the driver
counts as reordered.

    dpdk/bench/tcp.py [--repetitions 20] [--huge BYTES] [--only MODE,..] [--build dpdk/build]

Run as root, and nothing else meanwhile.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TELEMETRY = pathlib.Path(__file__).parent / "../tests/telemetry.py"

# Arguments of both ports, and a task for each thread; RSS gives each thread a queue of its own.
MODES = {
    "corec, 1 thread": ("corec,threads=1", ["rxq=0,txq=0"]),
    "corec, 2 threads": ("corec,threads=2", ["rxq=0,txq=0", "rxq=0,txq=1"]),
    "RSS, 1 queue": ("ddring", ["queue=0"]),
    "RSS, 2 queues": ("ddring", ["queue=0", "queue=1"]),
}

# Flows at a time and bytes of each.
SMALL = [(flows, size) for size in (100_000, 10_000, 1_000) for flows in (64, 128)]

A, B = f"rxta{os.getpid()}", f"rxtb{os.getpid()}"
PORT = "7000"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def inside(namespace, *words):
    return ["ip", "netns", "exec", namespace, *words]


@contextlib.contextmanager
def namespaces():
    made = []
    try:
        for name in (A, B):
            ip("netns", "add", name)
            made.append(name)
        yield
    finally:
        for name in made:
            ip("netns", "del", name)


def place(device, number):
    """Moves a TAP device into the namespace of its name, where the forwarder is the way to everything else."""
    ip("link", "set", device, "netns", device)
    inside_ip = lambda *words: ip("-n", device, *words)
    inside_ip("addr", "add", f"10.9.{number}.2/24", "dev", device)
    inside_ip("link", "set", device, "address", f"02:00:00:00:00:0{number + 1}", "up")
    inside_ip("link", "set", "lo", "up")
    inside_ip("neigh", "add", f"10.9.{number}.1", "lladdr", f"02:00:00:00:0a:0{number}", "dev", device)
    inside_ip("route", "add", "default", "via", f"10.9.{number}.1")


class Forwarder:
    """rxbench between ports 2 and 3, over TAP devices that are ports 0 and 1."""

    def __init__(self, build, directory, mode):
        iface, tasks = MODES[mode]
        ports = [
            f"--vdev=net_rxlab{n},iface={iface},source=port:net_tap{n},mac=02:00:00:00:0a:0{n + 1},reorder=1"
            for n in (0, 1)
        ]
        lcores = ",".join(f"{i + 1}@{i % 2}" for i in range(len(tasks)))
        arguments = ["--lcores", f"0@0,{lcores}", "--no-pci", "--in-memory", "-m", "128", "--log-level=error"]
        arguments += ["-d", "librte_net_rxlab.so", f"--vdev=net_tap0,iface={A}", f"--vdev=net_tap1,iface={B}", *ports]
        arguments += ["--", "--driven", "--samples", "1", "--ms", "1", "--mbufs", "16384"]
        arguments += ["--route", "10.9.1.0/24,2", "--route", "10.9.2.0/24,3"]
        for task in tasks:
            arguments += ["--task", f"fwd,port=2,ports=2,{task}"]
        environment = {**os.environ, "LD_LIBRARY_PATH": str(build), "RUNTIME_DIRECTORY": directory}
        self.directory = directory
        self.said = open(f"{directory}/said", "w+")
        self.process = subprocess.Popen(
            [build / "bench/rxbench", *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
        )

    def until(self, event):
        for line in self.process.stdout:
            if json.loads(line)["event"] == event:
                return
        self.said.seek(0)
        raise SystemExit(f"rxbench ended before it was {event}: {self.said.read()}")

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def reordered(self):
        """Frames that both ports have sent late, so far."""
        sockets = list(pathlib.Path(self.directory).glob("**/dpdk_telemetry.v2"))
        ask = [sys.executable, TELEMETRY, sockets[0]]
        answers = (subprocess.run([*ask, f"/ethdev/xstats,{n}", "tx_reordered"], check=True, capture_output=True, text=True)
                   for n in (2, 3))
        return sum(int(answer.stdout) for answer in answers)

    def end(self):
        self.tell()
        self.until("stopped")
        self.process.stdin.close()
        if self.process.wait(30) != 0:
            raise SystemExit("rxbench did not end well")


def reaches():
    probe = inside(A, "ping", "-c", "1", "-W", "1", "-q", "10.9.2.2")
    return subprocess.run(probe, stdout=subprocess.DEVNULL).returncode == 0


def send(build, flows, size):
    """Flow completion times in microseconds, and segments sent again."""
    command = inside(A, build / "bench/flows", "send", "10.9.2.2", PORT, str(flows), str(size))
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.split("\n")
    times, again = zip(*(map(int, line.split()) for line in lines if line))
    return list(times), sum(again)


def repetition(build, mode, workloads):
    """One forwarder's life: for each workload mean and p99 of the completion times, what was sent again, reordered."""
    found = []
    with tempfile.TemporaryDirectory() as directory, namespaces():
        forwarder = Forwarder(build, directory, mode)
        server = None
        try:
            forwarder.until("ready")
            forwarder.tell()
            forwarder.until("measured")
            place(A, 1)
            place(B, 2)
            server = subprocess.Popen(inside(B, build / "bench/flows", "serve", PORT), stdout=subprocess.PIPE, text=True)
            server.stdout.readline()
            if not any(reaches() for _ in range(10)):
                raise SystemExit(f"{mode}: nothing comes through")
            for flows, size in workloads:
                before = forwarder.reordered()
                times, again = send(build, flows, size)
                time.sleep(0.1)
                p99 = sorted(times)[math.ceil(0.99 * len(times)) - 1]
                found.append((statistics.mean(times), p99, again, forwarder.reordered() - before))
            forwarder.end()
        finally:
            forwarder.process.kill()
            if server is not None:
                server.kill()
    return found


def interval(values):
    """Half of the 95% confidence interval of the mean, by Student's t (its expansion around the normal quantile)."""
    n = len(values) - 1
    if n < 1:
        return math.nan
    z = statistics.NormalDist().inv_cdf(0.975)
    t = z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
    return t * statistics.stdev(values) / math.sqrt(n + 1)


def cell(values, scale):
    return f"{statistics.mean(values) / scale:.4g} +- {interval(values) / scale:.2g}"


def report(workloads, results):
    print("Flow completion times in ms, mean of repetitions +- 95% confidence; segments sent again and frames reordered")
    print("by the forwarder, both directions, per repetition.\n")
    head = ("flows", "bytes", "forwarder", "n", "mean", "p99", "sent again", "reordered")
    rows = [head]
    for i, (flows, size) in enumerate(workloads):
        for mode, repetitions in results.items():
            mean, p99, again, late = zip(*(found[i] for found in repetitions))
            rows.append((str(flows), str(size), mode, str(len(mean)), cell(mean, 1e3), cell(p99, 1e3), cell(again, 1),
                         cell(late, 1)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(text.ljust(width) if i == 2 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=20, help="at least 20 for a result (default 20)")
    parser.add_argument("--huge", type=int, default=200_000_000, help="bytes of the one huge flow (default 200000000)")
    parser.add_argument("--only", help="numbers of modes, from 0, separated by commas: " + "; ".join(MODES))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).parent / "../build")
    options = parser.parse_args()
    build = options.build.resolve()
    for needed in (build / "librte_net_rxlab.so", build / "bench/rxbench", build / "bench/flows"):
        if not needed.exists():
            parser.error(f"{needed}: not there: run make dpdk")
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun") or shutil.which("ip") is None:
        print("needs root, /dev/net/tun and iproute2", file=sys.stderr)
        raise SystemExit(77)
    chosen = list(MODES) if options.only is None else [list(MODES)[int(i)] for i in options.only.split(",")]
    workloads = [(1, options.huge), *SMALL]
    results = {mode: [] for mode in chosen}
    for number in range(options.repetitions):
        for mode in chosen:
            results[mode].append(repetition(build, mode, workloads))
        print(f"\r{number + 1} of {options.repetitions}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    report(workloads, results)


main()
