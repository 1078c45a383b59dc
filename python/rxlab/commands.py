"""A function for each command.

Written by tools/generate.py: what is changed here by hand is lost."""

from collections.abc import Sequence
from os import PathLike

from rxlab.call import Progress, ask, ask_all
from rxlab.result import Results
from rxlab.results import (
    Advice, Comparison, DetectedProfile, Experiment, ExperimentEntry, FlowAdvice,
    FlowRules, ProfileCheck, ProfileEntry, ProfileField, ServerProfile, Trace,
)

__all__ = ["advise", "advise_flows", "compare", "experiment", "experiment_all", "experiment_list", "flow",
    "profile", "profile_check", "profile_detect", "profile_explain", "profile_list", "trace"]


def compare(
    *,
    pcap: str | PathLike[str] | None = None,
    allow_truncated: bool = False,
    workload: str | float | None = None,
    rate: str | float | None = None,
    arrivals: str | float | None = None,
    steer: str | float | None = None,
    server: str | float | None = None,
    cores: int | None = None,
    ports: int | None = None,
    port_load: str | float | None = None,
    port_cores: str | float | None = None,
    emulated: bool = False,
    app: str | float | None = None,
    app_cycles: int | None = None,
    target_reads: int | None = None,
    numa: str | float | None = None,
    ddio_ways: int | None = None,
    ring: int | None = None,
    shared_by: int | None = None,
    unlock: str | float | None = None,
    refill: str | float | None = None,
    marks: str | float | None = None,
    ax: int | None = None,
    bx: int | None = None,
    tx_ring: int | None = None,
    pool: int | None = None,
    room: int | None = None,
    burst: int | None = None,
    antagonist: str | float | None = None,
    senders: str | float | None = None,
    hostcc: int | None = None,
    bypass: str | float | None = None,
    tables: str | float | None = None,
    rules: int | None = None,
    rule_rate: float | None = None,
    rule_batch: str | float | None = None,
    rule_core: str | float | None = None,
    resolution: float | None = None,
    trial_ms: int | None = None,
    seed: int | None = None,
    sampling: int | None = None,
    placements: int | None = None,
    frames: int | None = None,
    limit_ms: int | None = None,
    window: str | float | None = None,
    interfaces: Sequence[str] | str | None = None,
    best: Sequence[str] | str | None = None,
    order: str | float | None = None,
    other_arrivals: int | None = None,
    sweep: str | float | None = None,
    uncertainty: int | None = None,
    sensitivity: bool = False,
    no_search: bool = False,
    fail_if: Sequence[str] | str | None = None,
    verbose: bool = False,
    html: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Comparison:
    """Compare receive interfaces on a described server under a traffic.

    `rxlab compare` with the same options.

    Args:
        pcap: Replay a capture: pcap or pcapng, plain, gzip or zstd
        allow_truncated: Take the whole frames of a capture that ends inside a record
        workload: Generate traffic:
            SIZES[,flows=N][,zipf=S][,slots=N/US][,arrivals=HOW][,target=WHAT][,tunnel=vxlan]; SIZES:
            fixed:BYTES (without FCS), rfc2544:BYTES (with FCS: 64, 128, 256, 512, 1024, 1280, 1518), imix,
            empirical:NAME; HOW: constant, poisson, bursty:FRAMES; WHAT goes to the first core of each port
            (with --steer port): gbps:GBPS, pct:PERCENT/BYTES (without FCS). slots: N flows at a time, drawn
            anew every US microseconds; tunnel=vxlan: in VXLAN, 50 B longer. Requests:
            kv:put=PERCENT[,objects=fixed|ads|geo][,keys=N][,zipf=S][,arrivals=HOW], or in packets of eRPC
            erpc:put=PERCENT[,value=BYTES] and the same [default: fixed:1500,flows=10M]
        rate: Offered load on the wire, Gbps of all ports together, or `own` for a capture's own timing
            [default: 98% of the ports' line rate, at which a backlog still drains]
        arrivals: When frames arrive, whatever a capture's time stamps or --workload say: constant (paced
            evenly), poisson, bursty:FRAMES
        steer: What chooses a core: the hash of a flow (rss), or the UDP destination port (port), into which a
            generator then writes the core's number [default: rss]
        server: Server profile, see `rxlab profile list` [default: rxbisect-testbed]
        cores: Cores in use [default: all of the server]
        ports: Ports in use [default: all of the server, but no more than cores]
        port_load: Parts of the traffic of each port, such as 3:1 [default: equal]
        port_cores: Cores of each port, such as 12:4, or `equal` [default: in proportion to --port-load]
        emulated: A core on the other node plays the NIC of each port: virtual rings over physical ones
        app: Application on every core: l3fwd, lb, nat, nf (random reads and a route), kv (key-value store),
            ipsec (gateway: a third of all flows forwarded, a third dropped, a third sealed), udp-echo (sends
            datagrams back), udp-ack (answers them with 64 B), vxlan (takes off the headers of VXLAN), erpc-kv
            (key-value store behind eRPC) [default: lb]
        app_cycles: Base cycles of a frame in your own application, in place of the chosen one's, which still
            looks up what it looks up (l3fwd, lb, nat, nf, udp-echo, udp-ack, vxlan)
        target_reads: Random reads of a frame that the first core of each port makes beside those of all (nf)
            [default: 0]
        numa: Node of the cores in use and their memory: the card's (local), or the other one (remote) [default:
            local]
        ddio_ways: LLC ways that DDIO may fill [default: the server's]
        ring: Rx ring entries: of each core for privring, of each shared ring for shring and corec, of both for
            dynamic [default: 1024]
        shared_by: Cores of a port that share a ring [default: all for shring, dynamic and corec, 1 for ddring]
        unlock: How a core of shring and dynamic frees its ring's lock: by a store, or by a swap, as DPDK's
            spinlock does [default: store]
        refill: How a core of ddring takes buffers: one for each frame (each) or for a burst at a time (bulk)
            [default: each]
        marks: Batches that threads of corec mark as read: each, as published, or those that wait for others
            [default: waiting]
        ax: Ax ring entries of each core (rxbisect) [default: 128]
        bx: Bx ring entries of each core (rxbisect) [default: 1024]
        tx_ring: Transmit ring entries of each core [default: 1024]
        pool: Buffers of the pool, of all ports together [default: enough for full rings and caches]
        room: Bytes of frame that a buffer holds [default: the server's, more where values need it]
        burst: Frames in a burst [default: 32]
        antagonist: Threads of the other socket on this one's memory: stream:N or pagerank:N
        senders: Hosts that send by windows and answer to drops and marks, in place of --rate: dctcp:SENDERS of
            each port, one to a core in turn with --steer port, [+SENDERS..], each with ,from=US ,until=US
            ,window=FRAMES (to begin with), the first with ,rtt=US ,mark=KIB|off (off: all are of one host, and
            no switch marks) ,queue=KIB
        hostcc: HostCC: the host samples its IIO buffer every US microseconds, and marks what --senders send
            while it is congested
        bypass: RDMA writes that no core receives, on every port: FLOWS:GBPS each on the wire, then in any order
            ,message=BYTES ,batch=WRITES ,region=KIB ,to=cache|memory ,credits=keep|give ,from=US ,until=US
            ,host=none|linefs (linefs: beside those of --cores, one core for each flow copies what is written to
            a log and replicates it); more behind +
        tables: Tables of the NIC that frames are looked up in: root, or how many chained ones behind it
            [default: none, frames are steered without rules]
        rules: Rules that are there from the start, in all tables together [default: 0]
        rule_rate: Rules that a core inserts in a second: the interval to the next one begins when one is done
        rule_batch: Rules that a core inserts one after the other, from a time on: N@MS
        rule_core: The core that inserts them: the first that receives (same), or one of its own (other)
            [default: same]
        resolution: Resolution of the search for the no-drop rate, percent of the full load [default: 1]
        trial_ms: Length of one trial of that search, ms of simulated time [default: 20]
        seed: Seed of traffic, placement and replacement [default: 1]
        sampling: Simulate one cache set in N, a power of two up to 64; 1 is exact [default: 32]
        placements: Page placements to run (seeds S, S+1 ..): a result is the middle one, with the range of all
            [default: 3]
        frames: Frames of a run at least; 0: as many as it takes to settle and to measure [default: 0]
        limit_ms: Longest warm-up of a run, ms of simulated time [default: 400]
        window: When runs count, as the command of a result says it [default: when the rates of all have
            settled]
        interfaces: Interfaces to compare, separated by commas: privring, shring, rxbisect, dynamic, corec,
            ddring, ccnic, ceio; each with parameters of its own if need be: shring:ring=1024,unlock=swap
            [default: privring, shring, rxbisect]
        best: Interfaces to show at the best of their ring sizes as well (all but rxbisect), or `none` [default:
            privring]
        order: Whether frames of a flow must keep their order: strict leaves out what reorders them [default:
            any for kv, strict for all others]
        other_arrivals: Other arrivals under which each interface runs once more, to tell noise [default: 2]
        sweep: Run over loads up to the one asked for, too: `rate`
        uncertainty: Draw the assumed and fitted constants of the server N times within their spreads: how often
            the verdict stays, what would change it, and between which values four fifths of all draws are
        sensitivity: Move each of these constants alone over its spread, and rank them by what they move
        no_search: Leave out all searches: for the largest load without a drop, the best size, what would end a
            loss
        fail_if: End with code 1 if a row of the table meets it: [INTERFACE.]NAME OP NUMBER, NAME drops, p99,
            sent, no_drop or any field of the JSON rows, OP < <= > >= == !=; may be given several times
        verbose: List every setting, constant and command
        html: Write a report with plots
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "compare",
        {"pcap": pcap, "allow_truncated": allow_truncated, "workload": workload, "rate": rate, "arrivals":
        arrivals, "steer": steer, "server": server, "cores": cores, "ports": ports, "port_load": port_load,
        "port_cores": port_cores, "emulated": emulated, "app": app, "app_cycles": app_cycles, "target_reads":
        target_reads, "numa": numa, "ddio_ways": ddio_ways, "ring": ring, "shared_by": shared_by, "unlock":
        unlock, "refill": refill, "marks": marks, "ax": ax, "bx": bx, "tx_ring": tx_ring, "pool": pool, "room":
        room, "burst": burst, "antagonist": antagonist, "senders": senders, "hostcc": hostcc, "bypass": bypass,
        "tables": tables, "rules": rules, "rule_rate": rule_rate, "rule_batch": rule_batch, "rule_core":
        rule_core, "resolution": resolution, "trial_ms": trial_ms, "seed": seed, "sampling": sampling,
        "placements": placements, "frames": frames, "limit_ms": limit_ms, "window": window, "interfaces":
        interfaces, "best": best, "order": order, "other_arrivals": other_arrivals, "sweep": sweep,
        "uncertainty": uncertainty, "sensitivity": sensitivity, "no_search": no_search, "fail_if": fail_if,
        "verbose": verbose, "html": html, "no_cache": no_cache},
        Comparison, threads, progress,
    )


def advise(
    *,
    pcap: str | PathLike[str] | None = None,
    allow_truncated: bool = False,
    workload: str | float | None = None,
    rate: str | float | None = None,
    arrivals: str | float | None = None,
    steer: str | float | None = None,
    server: str | float | None = None,
    cores: int | None = None,
    ports: int | None = None,
    port_load: str | float | None = None,
    port_cores: str | float | None = None,
    emulated: bool = False,
    app: str | float | None = None,
    app_cycles: int | None = None,
    target_reads: int | None = None,
    numa: str | float | None = None,
    ddio_ways: int | None = None,
    ring: int | None = None,
    shared_by: int | None = None,
    unlock: str | float | None = None,
    refill: str | float | None = None,
    marks: str | float | None = None,
    ax: int | None = None,
    bx: int | None = None,
    tx_ring: int | None = None,
    pool: int | None = None,
    room: int | None = None,
    burst: int | None = None,
    antagonist: str | float | None = None,
    senders: str | float | None = None,
    hostcc: int | None = None,
    bypass: str | float | None = None,
    tables: str | float | None = None,
    rules: int | None = None,
    rule_rate: float | None = None,
    rule_batch: str | float | None = None,
    rule_core: str | float | None = None,
    resolution: float | None = None,
    trial_ms: int | None = None,
    seed: int | None = None,
    sampling: int | None = None,
    placements: int | None = None,
    frames: int | None = None,
    limit_ms: int | None = None,
    window: str | float | None = None,
    uncertainty: int | None = None,
    html: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Advice:
    """Size the rings of a server by the guidelines, checked in the model.

    `rxlab advise` with the same options.

    Args:
        pcap: Replay a capture: pcap or pcapng, plain, gzip or zstd
        allow_truncated: Take the whole frames of a capture that ends inside a record
        workload: Generate traffic:
            SIZES[,flows=N][,zipf=S][,slots=N/US][,arrivals=HOW][,target=WHAT][,tunnel=vxlan]; SIZES:
            fixed:BYTES (without FCS), rfc2544:BYTES (with FCS: 64, 128, 256, 512, 1024, 1280, 1518), imix,
            empirical:NAME; HOW: constant, poisson, bursty:FRAMES; WHAT goes to the first core of each port
            (with --steer port): gbps:GBPS, pct:PERCENT/BYTES (without FCS). slots: N flows at a time, drawn
            anew every US microseconds; tunnel=vxlan: in VXLAN, 50 B longer. Requests:
            kv:put=PERCENT[,objects=fixed|ads|geo][,keys=N][,zipf=S][,arrivals=HOW], or in packets of eRPC
            erpc:put=PERCENT[,value=BYTES] and the same [default: fixed:1500,flows=10M]
        rate: Offered load on the wire, Gbps of all ports together, or `own` for a capture's own timing
            [default: 98% of the ports' line rate, at which a backlog still drains]
        arrivals: When frames arrive, whatever a capture's time stamps or --workload say: constant (paced
            evenly), poisson, bursty:FRAMES
        steer: What chooses a core: the hash of a flow (rss), or the UDP destination port (port), into which a
            generator then writes the core's number [default: rss]
        server: Server profile, see `rxlab profile list` [default: rxbisect-testbed]
        cores: Cores in use [default: all of the server]
        ports: Ports in use [default: all of the server, but no more than cores]
        port_load: Parts of the traffic of each port, such as 3:1 [default: equal]
        port_cores: Cores of each port, such as 12:4, or `equal` [default: in proportion to --port-load]
        emulated: A core on the other node plays the NIC of each port: virtual rings over physical ones
        app: Application on every core: l3fwd, lb, nat, nf (random reads and a route), kv (key-value store),
            ipsec (gateway: a third of all flows forwarded, a third dropped, a third sealed), udp-echo (sends
            datagrams back), udp-ack (answers them with 64 B), vxlan (takes off the headers of VXLAN), erpc-kv
            (key-value store behind eRPC) [default: lb]
        app_cycles: Base cycles of a frame in your own application, in place of the chosen one's, which still
            looks up what it looks up (l3fwd, lb, nat, nf, udp-echo, udp-ack, vxlan)
        target_reads: Random reads of a frame that the first core of each port makes beside those of all (nf)
            [default: 0]
        numa: Node of the cores in use and their memory: the card's (local), or the other one (remote) [default:
            local]
        ddio_ways: LLC ways that DDIO may fill [default: the server's]
        ring: Rx ring entries: of each core for privring, of each shared ring for shring and corec, of both for
            dynamic [default: 1024]
        shared_by: Cores of a port that share a ring [default: all for shring, dynamic and corec, 1 for ddring]
        unlock: How a core of shring and dynamic frees its ring's lock: by a store, or by a swap, as DPDK's
            spinlock does [default: store]
        refill: How a core of ddring takes buffers: one for each frame (each) or for a burst at a time (bulk)
            [default: each]
        marks: Batches that threads of corec mark as read: each, as published, or those that wait for others
            [default: waiting]
        ax: Ax ring entries of each core (rxbisect) [default: 128]
        bx: Bx ring entries of each core (rxbisect) [default: 1024]
        tx_ring: Transmit ring entries of each core [default: 1024]
        pool: Buffers of the pool, of all ports together [default: enough for full rings and caches]
        room: Bytes of frame that a buffer holds [default: the server's, more where values need it]
        burst: Frames in a burst [default: 32]
        antagonist: Threads of the other socket on this one's memory: stream:N or pagerank:N
        senders: Hosts that send by windows and answer to drops and marks, in place of --rate: dctcp:SENDERS of
            each port, one to a core in turn with --steer port, [+SENDERS..], each with ,from=US ,until=US
            ,window=FRAMES (to begin with), the first with ,rtt=US ,mark=KIB|off (off: all are of one host, and
            no switch marks) ,queue=KIB
        hostcc: HostCC: the host samples its IIO buffer every US microseconds, and marks what --senders send
            while it is congested
        bypass: RDMA writes that no core receives, on every port: FLOWS:GBPS each on the wire, then in any order
            ,message=BYTES ,batch=WRITES ,region=KIB ,to=cache|memory ,credits=keep|give ,from=US ,until=US
            ,host=none|linefs (linefs: beside those of --cores, one core for each flow copies what is written to
            a log and replicates it); more behind +
        tables: Tables of the NIC that frames are looked up in: root, or how many chained ones behind it
            [default: none, frames are steered without rules]
        rules: Rules that are there from the start, in all tables together [default: 0]
        rule_rate: Rules that a core inserts in a second: the interval to the next one begins when one is done
        rule_batch: Rules that a core inserts one after the other, from a time on: N@MS
        rule_core: The core that inserts them: the first that receives (same), or one of its own (other)
            [default: same]
        resolution: Resolution of the search for the no-drop rate, percent of the full load [default: 1]
        trial_ms: Length of one trial of that search, ms of simulated time [default: 20]
        seed: Seed of traffic, placement and replacement [default: 1]
        sampling: Simulate one cache set in N, a power of two up to 64; 1 is exact [default: 32]
        placements: Page placements to run (seeds S, S+1 ..): a result is the middle one, with the range of all
            [default: 3]
        frames: Frames of a run at least; 0: as many as it takes to settle and to measure [default: 0]
        limit_ms: Longest warm-up of a run, ms of simulated time [default: 400]
        window: When runs count, as the command of a result says it [default: when the rates of all have
            settled]
        uncertainty: Draw the assumed and fitted constants of the server N times within their spreads, as
            compare does: how often the advice stays ahead
        html: Write a report with plots
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "advise",
        {"pcap": pcap, "allow_truncated": allow_truncated, "workload": workload, "rate": rate, "arrivals":
        arrivals, "steer": steer, "server": server, "cores": cores, "ports": ports, "port_load": port_load,
        "port_cores": port_cores, "emulated": emulated, "app": app, "app_cycles": app_cycles, "target_reads":
        target_reads, "numa": numa, "ddio_ways": ddio_ways, "ring": ring, "shared_by": shared_by, "unlock":
        unlock, "refill": refill, "marks": marks, "ax": ax, "bx": bx, "tx_ring": tx_ring, "pool": pool, "room":
        room, "burst": burst, "antagonist": antagonist, "senders": senders, "hostcc": hostcc, "bypass": bypass,
        "tables": tables, "rules": rules, "rule_rate": rule_rate, "rule_batch": rule_batch, "rule_core":
        rule_core, "resolution": resolution, "trial_ms": trial_ms, "seed": seed, "sampling": sampling,
        "placements": placements, "frames": frames, "limit_ms": limit_ms, "window": window, "uncertainty":
        uncertainty, "html": html, "no_cache": no_cache},
        Advice, threads, progress,
    )


def advise_flows(
    *,
    server: str | float | None = None,
    rules: int | None = None,
    rate: int | None = None,
    cores: int | None = None,
    gbps: float | None = None,
    frame: int | None = None,
    flows: int | None = None,
    look_up_cycles: float | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> FlowAdvice:
    """Rules in a NIC's tables: does it pay, in which tables, changed by which core.

    `rxlab advise flows` with the same options.

    Args:
        server: Server profile with the tables of its NIC [default: nic-testbed-cx5]
        rules: Rules that there are [default: 10000]
        rate: New connections a second [default: 0]
        cores: Cores that forward [default: 1]
        gbps: Load, Gbps of frames on the wire; default: the port's rate
        frame: Bytes of a frame, without FCS [default: 1500]
        flows: Flows that frames belong to [default: 10000]
        look_up_cycles: Cycles of a core that the tables save for each frame, such as those of its look-up in
            software [default: 100]
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "advise flows",
        {"server": server, "rules": rules, "rate": rate, "cores": cores, "gbps": gbps, "frame": frame, "flows":
        flows, "look_up_cycles": look_up_cycles, "no_cache": no_cache},
        FlowAdvice, threads, progress,
    )


def trace(
    file: str | PathLike[str],
    *,
    cores: int | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Trace:
    """Show what is in a capture.

    `rxlab trace` with the same options.

    Args:
        file: pcap or pcapng, plain, gzip or zstd
        cores: Cores to spread the flows over [default: 2, 4, 8 and 16]
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "trace",
        {"file": file, "cores": cores, "no_cache": no_cache},
        Trace, threads, progress,
    )


def flow(
    rules: str | PathLike[str],
    *,
    pcap: str | PathLike[str],
    group: int | None = None,
    top: int | None = None,
    repeat: int | None = None,
    html: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> FlowRules:
    """Run a capture through a file of flow rules, as testpmd takes them.

    `rxlab flow` with the same options.

    Args:
        rules: The rules: commands of testpmd, one a line
        pcap: The frames: pcap or pcapng, plain, gzip or zstd
        group: Show the rules of this group only
        top: Show so many rules, those with the most frames [default: 20]
        repeat: Time the look-ups so many times; 0 does not [default: 9]
        html: Write a report
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "flow",
        {"rules": rules, "pcap": pcap, "group": group, "top": top, "repeat": repeat, "html": html, "no_cache":
        no_cache},
        FlowRules, threads, progress,
    )


def experiment(
    id: str | float,
    *,
    pcap: Sequence[str | PathLike[str]] | str | None = None,
    captures: str | PathLike[str] | None = None,
    seed: int | None = None,
    placements: int | None = None,
    sampling: int | None = None,
    fail_if: Sequence[str] | str | None = None,
    html: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Experiment:
    """Run one, or all of a paper, and judge the claims.

    `rxlab experiment run` with the same options.

    Args:
        id: An experiment's id, or a plan file; with --all a paper's name
        pcap: Captures to look at beside the plan's own traffic, with their own timing (plans of slices)
        captures: Where the captures lie that a plan replays; no folder is looked at unless told
        seed: Seed of the first placement [default: 1]
        placements: Page placements per point [default: the plan's]
        sampling: Simulate one cache set in N [default: as compare]
        fail_if: End with code 1 if a judged claim does not hold (claims), or if a point meets [SERIES.]NAME OP
            NUMBER, SERIES a series' id or its interface, the rest as `rxlab compare` has it; may be given
            several times
        html: Write a report with plots; with --all a directory of reports with an index
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "experiment run",
        {"id": id, "pcap": pcap, "captures": captures, "seed": seed, "placements": placements, "sampling":
        sampling, "fail_if": fail_if, "html": html, "no_cache": no_cache},
        Experiment, threads, progress,
    )


def experiment_all(
    id: str | float,
    *,
    captures: str | PathLike[str] | None = None,
    seed: int | None = None,
    placements: int | None = None,
    sampling: int | None = None,
    fail_if: Sequence[str] | str | None = None,
    html: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Results[Experiment]:
    """Run one, or all of a paper, and judge the claims.

    `rxlab experiment run` with the same options.

    Args:
        id: An experiment's id, or a plan file; with --all a paper's name
        captures: Where the captures lie that a plan replays; no folder is looked at unless told
        seed: Seed of the first placement [default: 1]
        placements: Page placements per point [default: the plan's]
        sampling: Simulate one cache set in N [default: as compare]
        fail_if: End with code 1 if a judged claim does not hold (claims), or if a point meets [SERIES.]NAME OP
            NUMBER, SERIES a series' id or its interface, the rest as `rxlab compare` has it; may be given
            several times
        html: Write a report with plots; with --all a directory of reports with an index
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask_all(
        "experiment run --all",
        {"id": id, "captures": captures, "seed": seed, "placements": placements, "sampling": sampling,
        "fail_if": fail_if, "html": html, "no_cache": no_cache},
        Experiment, threads, progress,
    )


def experiment_list(
    *,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Results[ExperimentEntry]:
    """The experiments there are.

    `rxlab experiment list` with the same options.

    Args:
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask_all(
        "experiment list",
        {"no_cache": no_cache},
        ExperimentEntry, threads, progress,
    )


def profile(
    name: str | float,
    *,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> ServerProfile:
    """One server: every number and where it comes from.

    `rxlab profile show` with the same options.

    Args:
        name: Its name
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "profile show",
        {"name": name, "no_cache": no_cache},
        ServerProfile, threads, progress,
    )


def profile_list(
    *,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Results[ProfileEntry]:
    """All servers.

    `rxlab profile list` with the same options.

    Args:
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask_all(
        "profile list",
        {"no_cache": no_cache},
        ProfileEntry, threads, progress,
    )


def profile_check(
    server: str | float,
    *,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> ProfileCheck:
    """Whether the model takes a server, and what of it is assumed.

    `rxlab profile check` with the same options.

    Args:
        server: A name, a file, or parts
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "profile check",
        {"server": server, "no_cache": no_cache},
        ProfileCheck, threads, progress,
    )


def profile_explain(
    field: str | float | None = None,
    *,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> Results[ProfileField]:
    """What a field of a profile is, and how to measure it.

    `rxlab profile explain` with the same options.

    Args:
        field: Its place, a table, or its name in results [default: all]
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask_all(
        "profile explain",
        {"field": field, "no_cache": no_cache},
        ProfileField, threads, progress,
    )


def profile_detect(
    *,
    root: str | PathLike[str] | None = None,
    cpuid: str | PathLike[str] | None = None,
    processor: str | float | None = None,
    nic: str | float | None = None,
    out: str | PathLike[str] | None = None,
    no_cache: bool = False,
    threads: int | None = None,
    progress: Progress = False,
) -> DetectedProfile:
    """This machine, or another by its files: every number that can be read.

    `rxlab profile detect` with the same options.

    Args:
        root: Read another machine's /sys and /proc, below this directory [default: /, or none with --cpuid]
        cpuid: Read another machine's CPUID from a dump of hwloc-gather-cpuid
        processor: Describe the processor by this part, whatever it calls itself
        nic: Describe this card, whatever is on PCI
        out: Write the profile to this file
        no_cache: Run all anew. Otherwise what this program has run before is read from
            ${XDG_CACHE_HOME:-~/.cache}/rxlab/runs
        threads: CPUs that it may take [default: all]. The answer does not depend on it.
        progress: True for a bar, or a function that is called with what is done, how much, and of how much.
    """
    return ask(
        "profile detect",
        {"root": root, "cpuid": cpuid, "processor": processor, "nic": nic, "out": out, "no_cache": no_cache},
        DetectedProfile, threads, progress,
    )
