"""What commands answer: an object for each object of their JSON.

Written by tools/generate.py: what is changed here by hand is lost."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import field

from rxlab.result import Part, Result


class TraceInfoSkipped(Part, frozen=True, kw_only=True):
    """Frames that were left out, by cause.

    Attributes:
        malformed: Damaged records, and frames too short for their link type.
        unknown_link: Frames of a link type that cannot be read.
        oversize: Frames longer than 65535 bytes.
    """

    malformed: int
    unknown_link: int
    oversize: int


class TraceInfo(Part, frozen=True, kw_only=True):
    """What a capture holds and what was done to read it.

    Attributes:
        packets: Usable frames.
        bytes: Their bytes, without FCS.
        wire_bytes: Their bytes on the wire, with FCS, preamble and gap.
        flows: Flows: IP 5-tuples in one direction; of other frames, Ethernet headers.
        duration_ns: From the first to the last frame, ns.
        snapped: Frames of which the capture lacks the end: it reads as zeros.
        made_headers: Frames that had no Ethernet header and were given one.
        padded: Frames shorter than 60 bytes, padded with zeros.
        out_of_order: Frames stamped earlier than the one before.
        stamps: Different time stamps.
        skipped: Frames that were left out, by cause.
        truncated: Whether the capture ends in the middle of a record.
        links: Usable frames by link type.
    """

    packets: int
    bytes: int
    wire_bytes: int
    flows: int
    duration_ns: int
    snapped: int
    made_headers: int
    padded: int
    out_of_order: int
    stamps: int
    skipped: TraceInfoSkipped
    truncated: bool
    links: dict[str, int]


class Traffic(Part, frozen=True, kw_only=True):
    """What is offered: a generated workload, or a capture.

    Attributes:
        workload: The workload, as `--workload` has it.
        pcap: The path of the capture.
        info: What the capture holds.
    """

    workload: str | None = None
    pcap: str | None = None
    info: TraceInfo | None = None


class Settings(Part, frozen=True, kw_only=True):
    """Every setting in force, by the name of its option.

    Attributes:
        cores: Cores of all ports.
        ports: Ports.
        emulated: Whether a core plays the card.
        app: What cores do with frames.
        target_reads: Random reads of the application `nf` for each frame.
        rate: Offered load, Gbps on the wire; `own` where a capture or a workload keeps its own timing.
        steer: How frames find a core: `rss` or `port`.
        numa: `local` or `remote`: the node of the card.
        ddio_ways: Ways of the LLC in which DMA writes may allocate.
        ring: Rx ring, entries.
        shared_by: Cores that share a ring; null for the interface's own.
        unlock: How shring and dynamic free their lock: `store` or `swap`.
        refill: How ddring takes buffers: `each` or `bulk`.
        marks: Which batches corec marks: `each` or `waiting`.
        ax: Ax ring of rxbisect, entries.
        bx: Bx ring of rxbisect, entries.
        tx_ring: Transmit ring, entries.
        pool: Buffers of the pool; null for as many as are needed.
        burst: Frames that a core receives at a time.
        sampling: One cache set in so many is simulated; 1 is exact.
        placements: Page placements of each point.
        frames: Frames to simulate; 0 for as many as the window needs.
        limit_ms: Longest simulated time of a run, ms.
        antagonist: Programs that press on the memory, `WHO:N`; null for none.
        arrivals: Arrivals, as `--arrivals` has them; null for the traffic's own.
        app_cycles: Cycles of the application for a frame; null for the profile's.
        resolution_pct: Resolution of the search for a no-drop rate, percent.
        trial_ms: Simulated time of a trial of that search, ms.
        senders: Hosts of each port that send by windows, as `--senders` has them; absent where traffic does not
            answer.
        hostcc: Period of HostCC's samples, us; absent without it.
        bypass: RDMA writes of each port that no core receives, as `--bypass` has them; absent for none.
        port_load: Shares of the load of each port, `3:1`; absent where ports are alike.
        port_cores: Cores of each port, `3:1`; absent where ports are alike.
        tables: Tables of the NIC that frames are looked up in, `root` or how many chained ones; absent for
            none.
        rules: Rules that are there from the start; absent without tables.
        rule_rate: Rules that a core inserts in a second; absent for none.
        rule_batch: Rules that a core inserts in one go and from when on, `N@MS`; absent for none.
        rule_core: The core that inserts rules: `same` or `other`; absent for none.
    """

    cores: int
    ports: int
    emulated: bool
    app: str
    target_reads: int
    rate: float | str
    steer: str
    numa: str
    ddio_ways: int
    ring: int
    shared_by: int | None
    unlock: str
    refill: str
    marks: str
    ax: int
    bx: int
    tx_ring: int
    pool: int | None
    burst: int
    sampling: int
    placements: int
    frames: int
    limit_ms: int
    antagonist: str | None
    arrivals: str | None
    app_cycles: float | None
    resolution_pct: float
    trial_ms: int
    senders: str | None = None
    hostcc: int | None = None
    bypass: str | None = None
    port_load: str | None = None
    port_cores: str | None = None
    tables: str | None = None
    rules: str | None = None
    rule_rate: str | None = None
    rule_batch: str | None = None
    rule_core: str | None = None


class ComparisonVerdictMargin(Part, frozen=True, kw_only=True):
    """The lead.

    Attributes:
        value: The winner's value, in `unit`.
        next_value: The next one's value, in `unit`.
        next: Label of who is next.
        unit: The unit of both.
        pct: The lead in percent of the next one's value; null where that is too small to divide by, or the lead
            is many times as large.
    """

    value: float
    next_value: float
    next: str
    unit: str
    pct: float | None


class ComparisonVerdictCarry(Part, frozen=True, kw_only=True):
    """A row.

    Attributes:
        label: The row's label.
        carries: Whether it carries the load without loss.
        flow_reordered_pct: Frames behind later ones of their flow at the load that it carries, percent.
        left_out: Whether that leaves it out.
    """

    label: str
    carries: Literal["yes", "no", "unsure"]
    flow_reordered_pct: float
    left_out: bool


class Diagnosis(Part, frozen=True, kw_only=True):
    """Why an interface drops frames at a load, or that it does not.

    Attributes:
        interface: The interface, or its row's label.
        gbps: The load of this run, Gbps of frames.
        cause: The most frequent cause of a drop, a key of `drops`; `none` without one.
        mechanism: What lies behind it.
        text: The same in words, with the numbers.
    """

    interface: str
    gbps: float
    cause: str
    mechanism: Literal["none", "port_imbalance", "rss_imbalance", "shared_ring_clogged", "cache_leak", "cores_busy", "transmit", "card_to_memory", "nic_core_busy", "pauses", "bursts", "bad_frames"]
    text: str


class ComparisonVerdict(Part, frozen=True, kw_only=True):
    """Which interface to take.

    Attributes:
        winner: Label of the row to take; null where no lead is larger than noise.
        decided_by: What decided: `loss` (it alone carries the load), a field, or `none`.
        margin: By how much the winner leads; null without one.
        load_gbps: Offered load of frames, Gbps.
        carries: Of each row, whether it carries the load.
        headline: The answer in one sentence.
        unconfirmed: Label of the row that carries most without loss, where it does so under these arrivals
            only; null otherwise.
        separates: What would separate the best ones first, where nothing does; null otherwise.
        diagnoses: Every interface explained at the load asked for.
        edges: Interfaces explained where they begin to drop; those that drop below the load.
    """

    winner: str | None
    decided_by: Literal["loss", "no_drop_gbps", "lost_pct", "latency_p99_us", "dram_gbps", "circulating_buffers", "none"]
    margin: ComparisonVerdictMargin | None
    load_gbps: float
    carries: list[ComparisonVerdictCarry]
    headline: str
    unconfirmed: str | None
    separates: str | None
    diagnoses: list[Diagnosis]
    edges: list[Diagnosis]


class Latency(Part, frozen=True, kw_only=True):
    """Latency from wire to wire, us.

    Attributes:
        mean: Mean, us.
        p10: 10th percentile, us.
        p25: 25th percentile, us.
        p50: Median, us.
        p75: 75th percentile, us.
        p90: 90th percentile, us.
        p99: 99th percentile, us.
        p999: 99.9th percentile, us.
        max: Largest, us.
    """

    mean: float
    p10: float
    p25: float
    p50: float
    p75: float
    p90: float
    p99: float
    p999: float
    max: float


class RowDramGbps(Part, frozen=True, kw_only=True):
    """DRAM traffic, Gbps.

    Attributes:
        read: Lines read, Gbps.
        write: Lines written, Gbps.
    """

    read: float
    write: float


class RowCounted(Part, frozen=True, kw_only=True):
    """The frames of the window, one by one.

    Attributes:
        from_us: When the window began, us since the start.
        offered: Frames that arrived in it.
        offered_bytes: Their bytes, without FCS.
        sent: Frames sent in it.
        dropped: Frames dropped in it.
        waiting_before: Frames under way when it began.
    """

    from_us: float
    offered: int
    offered_bytes: int
    sent: int
    dropped: int
    waiting_before: int


class RowPerCoreItem(Part, frozen=True, kw_only=True):
    """A core.

    Attributes:
        core: Core number.
        mpps: Frames processed, Mpps.
        drops: Frames dropped on the way to it.
        busy_pct: Share of time at work, percent.
        ring_mean: Frames waiting in its completion ring, mean.
        alloc_pct: Share of time spent taking buffers from the shared pool, percent.
        free_pct: Share of time spent giving buffers back, percent.
        first: Whether it serves the first queue of a port.
    """

    core: int
    mpps: float
    drops: int
    busy_pct: float
    ring_mean: float
    alloc_pct: float
    free_pct: float
    first: bool


class RowPerPortItem(Part, frozen=True, kw_only=True):
    """A port.

    Attributes:
        port: Port number.
        first_core: The first of its cores.
        cores: Its cores.
        offered_gbps: Offered load of frames, Gbps.
        throughput_gbps: Load sent back, Gbps of frames.
        drops: Frames dropped.
        drop_pct: Their share of what was offered, percent.
        busy_pct: Share of time that its cores are at work, mean, percent.
    """

    port: int
    first_core: int
    cores: int
    offered_gbps: float
    throughput_gbps: float
    drops: int
    drop_pct: float
    busy_pct: float


class RowConservation(Part, frozen=True, kw_only=True):
    """Exact totals of the whole run, warm-up included.

    Attributes:
        offered: Frames that reached the NIC.
        delivered: Frames delivered to a core's ring.
        dropped: Frames dropped.
        in_nic: Frames on the card at the end.
        buffers: Buffers of the pool.
        buffers_free: Buffers free at the end.
    """

    offered: int
    delivered: int
    dropped: int
    in_nic: int
    buffers: int
    buffers_free: int


class RowConfidence(Part, frozen=True, kw_only=True):
    """Half the width of 95% confidence intervals of the window's means, by batch means: of other arrivals on the
    same placement. Absent of a window with too few batches.

    Attributes:
        throughput_gbps: Of the load sent back, Gbps.
        ddio_hit_pct: Of the hit rate of DMA-written lines, points.
        dram_gbps: Of the DRAM traffic both ways, Gbps.
    """

    throughput_gbps: float
    ddio_hit_pct: float
    dram_gbps: float


class Row(Part, frozen=True, kw_only=True):
    """An interface with its sizes, from empty or from full rings: the run nearest to the mean of all placements.

    Attributes:
        interface: The interface.
        label: The interface, with the size by which it differs from another row of it.
        today: Whether cards and drivers of today give it: `driver` for a driver alone.
        params: Sizes of the interface: entries of rings (`ring`, `ax`, `bx`, `completions`), cores or queues
            (`shared_by`, `group`, `alloc_queues`), frames (`batch`, `report`), times in ns (`timeout_ns`,
            `round_ns`), 0 or 1 (`bulk`, `emulated`).
        start: Rings at the start.
        no_drop_gbps: Largest offered load without a drop, Gbps of frames; null where it was not searched.
        offered_gbps: Offered load of frames, without FCS, preamble and gap, Gbps.
        throughput_gbps: Load sent back after processing, Gbps of frames.
        mpps: Frames sent back, Mpps.
        drop_pct: Share of what was offered that dropped, percent.
        drops: Frames dropped in the window, by cause; a cause without a drop is absent.
        latency_us: Latency from wire to wire, us.
        ddio_hit_pct: Share of DMA-written lines found in the LLC, percent.
        llc_miss_pct: Share of core accesses beyond L2 that miss the LLC, percent.
        dram_gbps: DRAM traffic, Gbps.
        antagonist_gbps: DRAM traffic of antagonists, Gbps.
        io_working_set_mib: Memory that the card writes before it comes back to a buffer, MiB.
        circulating_buffers: Posted buffers, frames waiting and filled transmit entries, mean of the window,
            buffers.
        tx_ring_mean: Filled entries of a transmit ring, mean.
        cycles_per_packet: Cycles of a core for a frame, stalls included.
        nic_busy_pct: Busy time of the core that plays the card, percent; absent with a card.
        bypass_gbps: Payload of RDMA writes that no core receives, Gbps; absent without any.
        physical_mean: Frames in the physical rings of an emulated NIC, mean for each core; absent without one.
        counted: The frames of the window, one by one.
        per_core: Each core.
        per_port: Each port; absent where ports are alike.
        reordering: How frames left, by RFC 4737; absent where each core has a ring of its own.
        counters: Counters of the interface and its pool, by name, of the whole run: events.
        conservation: Exact totals of the whole run, warm-up included.
        measured_s: Simulated time measured, s.
        warmup_s: Simulated time of warm-up, s.
        settled: Whether rates had settled when measuring began.
        confidence: Half the width of 95% confidence intervals of the window's means, by batch means: of other
            arrivals on the same placement. Absent of a window with too few batches.
        packets: Frames simulated in all.
        range: Of fields, by name, the range over placements, other arrivals, and the parts of rates that never
            settle.
        posted_buffers: Buffers that full rings hold, of all cores.
        placements: Placements run: seeds from the printed one up.
        other_arrivals: Runs under other arrivals, which only the range shows.
        reproduce: The command line that runs this point again.
    """

    interface: str
    label: str
    today: Literal["yes", "driver", "no"]
    params: dict[str, int]
    start: Literal["empty", "full"]
    no_drop_gbps: float | None
    offered_gbps: float
    throughput_gbps: float
    mpps: float
    drop_pct: float
    drops: dict[str, int]
    latency_us: Latency
    ddio_hit_pct: float
    llc_miss_pct: float
    dram_gbps: RowDramGbps
    antagonist_gbps: float
    io_working_set_mib: float
    circulating_buffers: float
    tx_ring_mean: float
    cycles_per_packet: float
    nic_busy_pct: float | None = None
    bypass_gbps: float | None = None
    physical_mean: float | None = None
    counted: RowCounted
    per_core: list[RowPerCoreItem]
    per_port: list[RowPerPortItem] | None = None
    reordering: dict[str, float] | None = None
    counters: dict[str, int]
    conservation: RowConservation
    measured_s: float
    warmup_s: float
    settled: bool
    confidence: RowConfidence | None = None
    packets: int
    range: dict[str, list[float | None]]
    posted_buffers: int
    placements: int
    other_arrivals: int
    reproduce: str


class ComparisonRemedy(Part, frozen=True, kw_only=True):
    """What would end a row's loss.

    Attributes:
        label: The row's label.
        set: Options that end the loss; null where nothing that was tried does.
        tried: Changes that were tried, up to the one that helps.
        throughput_gbps: What is sent with it, Gbps of frames; null without one.
        latency_p99_us: Its 99th percentile of latency, us; null without one.
        no_drop_now_gbps: The load without loss as things are, Gbps of frames; null where it was not searched.
    """

    label: str
    set: str | None
    tried: list[str]
    throughput_gbps: float | None
    latency_p99_us: float | None
    no_drop_now_gbps: float | None


class ComparisonHeadroomItem(Part, frozen=True, kw_only=True):
    """A row.

    Attributes:
        label: The row's label.
        no_drop_gbps: Largest load without loss up to line rate, Gbps of frames.
    """

    label: str
    no_drop_gbps: float


class ComparisonSweepLoad(Part, frozen=True, kw_only=True):
    """A load.

    Attributes:
        gbps: The load, Gbps of frames.
        lost_pct: Of each row, frames lost, percent.
        latency_p99_us: Of each row, 99th percentile of latency, us.
    """

    gbps: float
    lost_pct: list[float | None]
    latency_p99_us: list[float | None]


class ComparisonSweep(Part, frozen=True, kw_only=True):
    """Loads.

    Attributes:
        labels: Labels of the rows.
        loads: Load by load.
    """

    labels: list[str]
    loads: list[ComparisonSweepLoad]


class ComparisonUncertaintyRowInterval(Part, frozen=True, kw_only=True):
    """A field.

    Attributes:
        field: Its name, as rows have it.
        low: A tenth of the draws is below.
        median: Half of the draws are below.
        high: Nine tenths of the draws are below.
    """

    field: str
    low: float
    median: float
    high: float


class ComparisonUncertaintyRow(Part, frozen=True, kw_only=True):
    """A row.

    Attributes:
        label: The row's label.
        wins: Draws in which it wins.
        carries: Draws in which it carries the load without loss.
        intervals: Fields, from empty rings where the row carries the load, else from full ones; those that were
            not searched are left out.
    """

    label: str
    wins: int
    carries: int
    intervals: list[ComparisonUncertaintyRowInterval]


class ComparisonUncertaintyChange(Part, frozen=True, kw_only=True):
    """A constant beyond a value.

    Attributes:
        constant: Its name.
        above: Whether draws end otherwise above the value, or below it.
        value: The value, amid those of two draws.
        unit: Its unit.
        beyond: Draws beyond it.
        beyond_other: Those of them that end otherwise.
        rest_other: Draws that end otherwise and are not beyond it.
    """

    constant: str
    above: bool
    value: float
    unit: str
    beyond: int
    beyond_other: int
    rest_other: int


class ComparisonUncertaintyConstant(Part, frozen=True, kw_only=True):
    """A constant.

    Attributes:
        name: Its name.
        low: The least value.
        value: That of the profile, the median of all draws.
        high: The largest value.
        unit: The unit.
        ends: Where both ends are from.
    """

    name: str
    low: float
    value: float
    high: float
    unit: str
    ends: str


class ComparisonUncertainty(Part, frozen=True, kw_only=True):
    """What becomes of a verdict where the assumed and fitted constants of the server are drawn within their
    spreads: a Latin hypercube, short runs of one placement each.

    Attributes:
        draws: How many draws there are.
        seed: Seed of the design.
        window: The window of each run, as `--window` takes it.
        nominal: Label of who wins with the profile's own constants in runs as short; null where nobody leads.
        same: Draws that end as the comparison did.
        level: Draws in which nobody leads.
        rows: Each row over all draws.
        changes: Constants that tell draws that end otherwise from the rest, the clearest first; empty where all
            end alike or nothing does.
        constants: The constants that were drawn.
    """

    draws: int
    seed: int
    window: str | None
    nominal: str | None
    same: int
    level: int
    rows: list[ComparisonUncertaintyRow]
    changes: list[ComparisonUncertaintyChange]
    constants: list[ComparisonUncertaintyConstant]


class ComparisonSensitivityConstantMost(Part, frozen=True, kw_only=True):
    """What it moves most.

    Attributes:
        label: The row's label.
        field: The field.
        at_low: The field where the constant is least.
        at_high: The field where the constant is largest.
        pct: The difference, percent of the field with the profile's own constants.
    """

    label: str
    field: str
    at_low: float
    at_high: float
    pct: float


class ComparisonSensitivityConstant(Part, frozen=True, kw_only=True):
    """A constant.

    Attributes:
        name: Its name.
        unit: The unit.
        low: The least value.
        value: That of the profile.
        high: The largest value.
        mean_pct: What it moves in the mean over all rows and no-drop rate, throughput, 99th percentile and DRAM
            traffic, percent.
        most: What it moves most.
        winner_low: Label of who wins where it is least; null where nobody leads.
        winner_high: Label of who wins where it is largest; null where nobody leads.
    """

    name: str
    unit: str
    low: float
    value: float
    high: float
    mean_pct: float
    most: ComparisonSensitivityConstantMost
    winner_low: str | None
    winner_high: str | None


class ComparisonSensitivity(Part, frozen=True, kw_only=True):
    """What each constant moves alone, from one end of its spread to the other.

    Attributes:
        noise_pct: What another placement moves in the mean, percent: less is noise.
        constants: Constants, what moves most first.
    """

    noise_pct: float | None
    constants: list[ComparisonSensitivityConstant]


class ComparisonAssumedItem(Part, frozen=True, kw_only=True):
    """One constant.

    Attributes:
        name: The constant's name in the profile; it ends with its unit.
        value: Its value, in that unit.
        origin: `assumed: id` (docs/assumptions.md), `fitted: to what`, or where it was measured.
    """

    name: str
    value: float
    origin: str


class Comparison(Result, frozen=True, kw_only=True):
    """A comparison of receive interfaces under one traffic.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        server: The server's profile.
        traffic: What is offered: a generated workload, or a capture.
        notes: What was done to the traffic so that it is what was asked for, a sentence each.
        defaults: Every setting in force, by the name of its option.
        seed: Seed of the first placement.
        verdict: Which interface to take.
        hysteresis: Labels of rows whose two starts end in different states.
        results: Rows: each interface from empty and then from full rings.
        remedies: What to set, for each row that has a loss.
        headroom: How far those carry that nothing tells apart; empty otherwise.
        sweep: What `--sweep rate` found; null without it.
        uncertainty: What `--uncertainty` found; null without it.
        sensitivity: What `--sensitivity` found; null without it.
        assumed: Constants of the server that are not published.
    """

    schema_version: int
    server: str
    traffic: Traffic
    notes: list[str]
    defaults: Settings
    seed: int
    verdict: ComparisonVerdict
    hysteresis: list[str]
    results: list[Row]
    remedies: list[ComparisonRemedy]
    headroom: list[ComparisonHeadroomItem]
    sweep: ComparisonSweep | None
    uncertainty: ComparisonUncertainty | None
    sensitivity: ComparisonSensitivity | None
    assumed: list[ComparisonAssumedItem]


class AdviceAdvice(Part, frozen=True, kw_only=True):
    """The sizes to set.

    Attributes:
        ax: Ax ring of a core, entries.
        bx: Bx ring of a core, entries.
        association: Which cores share the Ax rings of a port.
        cores_per_nic: Cores of the port with the fewest.
        pool: Buffers of the pool.
        port_cores: Cores of each port; absent where ports are alike.
        port_load: Share of the load of each port; absent where ports are alike.
    """

    ax: int
    bx: int
    association: str
    cores_per_nic: int
    pool: int
    port_cores: list[int] | None = None
    port_load: list[int] | None = None


class AdviceGuideline(Part, frozen=True, kw_only=True):
    """Sizes by the guidelines alone.

    Attributes:
        ax: Ax ring of a core, entries.
        bx: Bx ring of a core, entries.
    """

    ax: int
    bx: int


class AdviceTriedItem(Part, frozen=True, kw_only=True):
    """Sizes, and what they reach.

    Attributes:
        ax: Ax ring of a core, entries.
        bx: Bx ring of a core, entries.
        no_drop_gbps: Largest offered load without a drop, Gbps of frames.
        throughput_gbps: Sent at the load asked for, Gbps of frames.
    """

    ax: int
    bx: int
    no_drop_gbps: float | None
    throughput_gbps: float | None


class AdviceOtherTriedItem(Part, frozen=True, kw_only=True):
    """A ring, and what it reaches.

    Attributes:
        ring: Ring, entries.
        no_drop_gbps: Largest offered load without a drop, Gbps of frames.
        throughput_gbps: Sent at the load asked for, Gbps of frames.
    """

    ring: int
    no_drop_gbps: float | None
    throughput_gbps: float | None


class AdviceOther(Part, frozen=True, kw_only=True):
    """An interface.

    Attributes:
        interface: The interface.
        tried: Rings tried.
    """

    interface: str
    tried: list[AdviceOtherTriedItem]


class AdviceBreaksUsedItem(Part, frozen=True, kw_only=True):
    """A resource of the machine.

    Attributes:
        name: Its name.
        used: How much is in use, in `unit`.
        of: Of how much, in `unit`.
        unit: The unit of both.
    """

    name: str
    used: float
    of: float
    unit: str


class AdviceBreaks(Part, frozen=True, kw_only=True):
    """The limit.

    Attributes:
        gbps: Smallest load at which a frame drops, Gbps of frames; null where line rate passes.
        diagnosis: Why an interface drops frames at a load, or that it does not.
        used: What that load used of the machine.
    """

    gbps: float | None
    diagnosis: Diagnosis
    used: list[AdviceBreaksUsedItem]


class AdviceUncertaintyRowInterval(Part, frozen=True, kw_only=True):
    """A field.

    Attributes:
        field: Its name, as rows have it.
        low: A tenth of the draws is below.
        median: Half of the draws are below.
        high: Nine tenths of the draws are below.
    """

    field: str
    low: float
    median: float
    high: float


class AdviceUncertaintyRow(Part, frozen=True, kw_only=True):
    """A row.

    Attributes:
        label: The row's label.
        wins: Draws in which it wins.
        carries: Draws in which it carries the load without loss.
        intervals: Fields, from empty rings where the row carries the load, else from full ones; those that were
            not searched are left out.
    """

    label: str
    wins: int
    carries: int
    intervals: list[AdviceUncertaintyRowInterval]


class AdviceUncertaintyChange(Part, frozen=True, kw_only=True):
    """A constant beyond a value.

    Attributes:
        constant: Its name.
        above: Whether draws end otherwise above the value, or below it.
        value: The value, amid those of two draws.
        unit: Its unit.
        beyond: Draws beyond it.
        beyond_other: Those of them that end otherwise.
        rest_other: Draws that end otherwise and are not beyond it.
    """

    constant: str
    above: bool
    value: float
    unit: str
    beyond: int
    beyond_other: int
    rest_other: int


class AdviceUncertaintyConstant(Part, frozen=True, kw_only=True):
    """A constant.

    Attributes:
        name: Its name.
        low: The least value.
        value: That of the profile, the median of all draws.
        high: The largest value.
        unit: The unit.
        ends: Where both ends are from.
    """

    name: str
    low: float
    value: float
    high: float
    unit: str
    ends: str


class AdviceUncertainty(Part, frozen=True, kw_only=True):
    """What becomes of a verdict where the assumed and fitted constants of the server are drawn within their
    spreads: a Latin hypercube, short runs of one placement each.

    Attributes:
        draws: How many draws there are.
        seed: Seed of the design.
        window: The window of each run, as `--window` takes it.
        nominal: Label of who wins with the profile's own constants in runs as short; null where nobody leads.
        same: Draws that end as the comparison did.
        level: Draws in which nobody leads.
        rows: Each row over all draws.
        changes: Constants that tell draws that end otherwise from the rest, the clearest first; empty where all
            end alike or nothing does.
        constants: The constants that were drawn.
    """

    draws: int
    seed: int
    window: str | None
    nominal: str | None
    same: int
    level: int
    rows: list[AdviceUncertaintyRow]
    changes: list[AdviceUncertaintyChange]
    constants: list[AdviceUncertaintyConstant]


class Advice(Result, frozen=True, kw_only=True):
    """Sizes of rings and pool, with reasons.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        server: The server's profile.
        traffic: What is offered: a generated workload, or a capture.
        defaults: Every setting in force, by the name of its option.
        seed: Seed of the first placement.
        advice: The sizes to set.
        guideline: Sizes by the guidelines alone.
        reasons: Each condition with its numbers.
        ddio_margin_pct: Share of the DDIO capacity that posted buffers leave free, percent; negative beyond it.
        circulating_buffers: Buffers that circulate under the load, mean, buffers.
        metastable: Whether empty and full rings end in different states.
        tried: Sizes tried in the model.
        others: Other interfaces at each size of their ring.
        lost: What is lost with each of the others, a sentence each.
        breaks: What breaks first; null where a capture keeps its own timing.
        uncertainty: What `--uncertainty` found; null without it.
        results: Rows at the load asked for: the advised sizes and the other interfaces at their best, each from
            empty and then from full rings.
    """

    schema_version: int
    server: str
    traffic: Traffic
    defaults: Settings
    seed: int
    advice: AdviceAdvice
    guideline: AdviceGuideline
    reasons: list[str]
    ddio_margin_pct: float
    circulating_buffers: float
    metastable: bool
    tried: list[AdviceTriedItem]
    others: list[AdviceOther]
    lost: list[str]
    breaks: AdviceBreaks | None
    uncertainty: AdviceUncertainty | None = None
    results: list[Row]


class FlowAdvicePlace(Part, frozen=True, kw_only=True):
    """A place.

    Attributes:
        tables: root, or how many chained tables.
        look_up_ns: A look-up, ns.
        carries_gbps: The load that look-ups carry, Gbps on the wire.
        connection_us: A rule inserted and one removed, us of a core; in the root table without the removal.
        beside_us: The same on a port that receives, us.
        suffers_from: Connections a second from which forwarding is short of 5%, if the cores that forward
            insert.
        halves_at: The same for half.
        core_carries: Connections a second that one core which does nothing else keeps up with.
    """

    tables: str
    look_up_ns: float
    carries_gbps: float
    connection_us: float
    beside_us: float
    suffers_from: float
    halves_at: float
    core_carries: float


class FlowAdvice(Result, frozen=True, kw_only=True):
    """Rules in a NIC's tables: whether they pay, in which tables they belong, which core changes them.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        server: Profile.
        rules: Rules that there are.
        rate: New connections a second.
        cores: Cores that forward.
        gbps: Load on the wire, Gbps.
        frame: Bytes of a frame, without FCS.
        places: Places with room for the rules: the root table, then chains of tables.
        place: The place to use; null where none has room and carries the load.
        core: The cores that change rules: those that receive, one of its own, or none keeps up.
        cycles_of_frame: What changes cost, cycles of a core for each frame.
        pays: Whether that is less than what the tables save.
        advice: Sentences.
    """

    schema_version: int
    server: str
    rules: int
    rate: int
    cores: int
    gbps: float
    frame: int
    places: list[FlowAdvicePlace]
    place: str | None
    core: Literal["receiving", "own", "none"]
    cycles_of_frame: float
    pays: bool
    advice: list[str]


class TraceSizesHistogramItem(Part, frozen=True, kw_only=True):
    """A class.

    Attributes:
        up_to: Largest size in it, bytes.
        packets: Frames.
    """

    up_to: int
    packets: int


class TraceSizes(Part, frozen=True, kw_only=True):
    """Frame sizes, bytes without FCS.

    Attributes:
        min: Smallest, bytes.
        mean: Mean, bytes.
        p50: Median, bytes.
        p90: 90th percentile, bytes.
        p99: 99th percentile, bytes.
        max: Largest, bytes.
        histogram: Frames by size, each class from the one before.
    """

    min: int
    mean: float
    p50: int
    p90: int
    p99: int
    max: int
    histogram: list[TraceSizesHistogramItem]


class TraceFlows(Part, frozen=True, kw_only=True):
    """Flows: IP 5-tuples in one direction; of other frames, Ethernet headers.

    Attributes:
        count: How many.
        single_packet: How many have one frame only.
        top_pct: The heaviest flow's share of all wire bytes, percent.
        top10_pct: The ten heaviest flows' share of all wire bytes, percent.
    """

    count: int
    single_packet: int
    top_pct: float
    top10_pct: float


class Share(Part, frozen=True, kw_only=True):
    """So many frames, and how much of all they are.

    Attributes:
        packets: Frames.
        packets_pct: Percent of all frames.
        bytes_pct: Percent of all frame bytes.
    """

    packets: int
    packets_pct: float
    bytes_pct: float


class TraceBurstsWindow(Part, frozen=True, kw_only=True):
    """Windows of one length.

    Attributes:
        us: Length, us.
        mean: Frames in a window, mean.
        dispersion: Variance over mean of the frames in a window: 1 for Poisson arrivals, 0 for even ones.
        peak_to_mean: The fullest window over the mean.
    """

    us: float
    mean: float
    dispersion: float
    peak_to_mean: float


class TraceBursts(Part, frozen=True, kw_only=True):
    """Burstiness in the capture's own time.

    Attributes:
        windows: Lengths of which the capture has at least ten windows.
        longest: Longest row of frames without a gap at 100 Gbps, frames.
        equal_stamps: Frames with the time stamp of the one before.
    """

    windows: list[TraceBurstsWindow]
    longest: int
    equal_stamps: int


class TraceRssItem(Part, frozen=True, kw_only=True):
    """RSS over so many cores.

    Attributes:
        cores: Cores, a queue each.
        packets: Frames of each core.
        max_min: The most loaded core over the least; null where a core gets nothing.
        max_mean: The most loaded core over the mean.
    """

    cores: int
    packets: list[int]
    max_min: float | None
    max_mean: float


class Trace(Result, frozen=True, kw_only=True):
    """What is in a capture, and what RSS would make of it.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        read: Counts from reading the capture.
        gbps: Mean rate in the capture's own time, Gbps on the wire; null without a duration.
        pps: Mean rate, frames/s; null without a duration.
        sizes: Frame sizes, bytes without FCS.
        flows: Flows: IP 5-tuples in one direction; of other frames, Ethernet headers.
        network: Shares by network protocol.
        transport: Shares of the IP packets by transport protocol; `fragment`: their ports do not count.
        vlan: Frames with a VLAN tag.
        tunnel: Frames whose outer headers announce a tunnel.
        bad_headers: Frames with headers that contradict themselves or run past their end.
        bursts: Burstiness in the capture's own time.
        rss: Load of each core with RSS.
    """

    schema_version: int
    read: TraceInfo
    gbps: float | None
    pps: float | None
    sizes: TraceSizes
    flows: TraceFlows
    network: dict[str, Share]
    transport: dict[str, Share]
    vlan: Share
    tunnel: Share
    bad_headers: Share
    bursts: TraceBursts
    rss: list[TraceRssItem]


class FlowRulesCaptureMalformed(Part, frozen=True, kw_only=True):
    """Those with bad outer headers, by the first fault; they are looked up by what comes before it.

    Attributes:
        short: Frames with a header that runs past the bytes that were captured.
        version: Frames with another IP version than their type says.
        length: Frames with an IP length that the header contradicts.
    """

    short: int
    version: int
    length: int


class FlowRulesCaptureSkipped(Part, frozen=True, kw_only=True):
    """Frames that were left out, by cause.

    Attributes:
        malformed: Damaged records, and frames too short for their link type.
        unknown_link: Frames of a link type that cannot be read.
        oversize: Always 0: no frame is too long to be looked up.
    """

    malformed: int
    unknown_link: int
    oversize: int


class FlowRulesCapture(Part, frozen=True, kw_only=True):
    """What the capture has.

    Attributes:
        frames: Usable frames; all of them are looked up.
        bytes: Their bytes, without FCS.
        malformed: Those with bad outer headers, by the first fault; they are looked up by what comes before it.
        skipped: Frames that were left out, by cause.
        truncated: Whether the file ends in the middle of a record.
    """

    frames: int
    bytes: int
    malformed: FlowRulesCaptureMalformed
    skipped: FlowRulesCaptureSkipped
    truncated: bool


class FlowRulesEnding(Part, frozen=True, kw_only=True):
    """An ending and its frames.

    Attributes:
        ending: `missed`: no rule of the group matched; `too_long`: sent through more than 16 groups.
        number: Of `queue` the queue, of `rss` an index into `rss`, of `missed` the group; else null.
        frames: Frames; a rule counts one as often as it is sent there.
        bytes: Their bytes, without FCS.
        frames_pct: Percent of all frames.
    """

    ending: Literal["queue", "rss", "drop", "missed", "too_long"]
    number: int | None
    frames: int
    bytes: int
    frames_pct: float


class FlowRulesRule(Part, frozen=True, kw_only=True):
    """A rule and the frames that it matched.

    Attributes:
        rule: The number that testpmd gives it.
        line: Its line in the file, from 1.
        group: Its group.
        priority: Its priority; the lowest number wins.
        pattern: Its pattern as the file has it.
        actions: Its actions as the file has them.
        entries: Entries of the tables: several where it has ranges.
        queried: Whether a `flow query` asks for its count.
        frames: Frames; a rule counts one as often as it is sent there.
        bytes: Their bytes, without FCS.
        frames_pct: Percent of all frames.
        shadowed_by: A rule of better priority that takes all its frames; null where no single one does.
    """

    rule: int
    line: int
    group: int
    priority: int
    pattern: str
    actions: str
    entries: int
    queried: bool
    frames: int
    bytes: int
    frames_pct: float
    shadowed_by: int | None


class FlowRulesGroup(Part, frozen=True, kw_only=True):
    """A group.

    Attributes:
        group: Its number.
        rules: Its rules.
        entries: Their entries.
        masks: Different masks among them, a hash table each.
        frames: How often a frame was looked up in it.
        missed: How often no rule of it matched.
    """

    group: int
    rules: int
    entries: int
    masks: int
    frames: int
    missed: int


class FlowRulesRssItem(Part, frozen=True, kw_only=True):
    """An RSS action. Which of its queues a frame gets is not computed.

    Attributes:
        queues: Its queues; none means all.
        how: Function, level, types and key, as far as the file has them.
    """

    queues: list[int]
    how: str


class FlowRulesTables(Part, frozen=True, kw_only=True):
    """What the tables take.

    Attributes:
        entries: Entries of all rules.
        bytes: Arena, columns and hash tables, bytes.
        limit_bytes: The most that the limits allow, told before, bytes.
    """

    entries: int
    bytes: int
    limit_bytes: int


class FlowRulesLookup(Part, frozen=True, kw_only=True):
    """The time of a look-up, a frame's whole way through the groups, by the wall clock; null with `--repeat 0`.

    Attributes:
        median_ns: Median of the passes, ns.
        least_ns: The fastest pass, ns.
        most_ns: The slowest pass, ns.
        repeats: Passes, behind one to warm up.
        frames: Frames of the capture, its first ones, whose keys were looked up.
        lookups: Look-ups of a pass: the frames, several times over where they are few.
        burst: Frames that were looked up together.
    """

    median_ns: float
    least_ns: float
    most_ns: float
    repeats: int
    frames: int
    lookups: int
    burst: int


class FlowRules(Result, frozen=True, kw_only=True):
    """Which flow rules take which frames of a capture, and what a look-up costs.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        capture: What the capture has.
        endings: What becomes of the frames.
        rules: The rules, or those of the group asked for, by number.
        groups: The groups that have rules or frames.
        rss: The different RSS actions of the file.
        tables: What the tables take.
        lookup: The time of a look-up, a frame's whole way through the groups, by the wall clock; null with
            `--repeat 0`.
        ignored_lines: Lines of the file with commands that change no rule.
    """

    schema_version: int
    capture: FlowRulesCapture
    endings: list[FlowRulesEnding]
    rules: list[FlowRulesRule]
    groups: list[FlowRulesGroup]
    rss: list[FlowRulesRssItem]
    tables: FlowRulesTables
    lookup: FlowRulesLookup | None
    ignored_lines: int


class ExperimentSeriesPoint(Part, frozen=True, kw_only=True):
    """

    Attributes:
        x: The swept value, in the unit of what is swept; seconds for slices of traffic; 0 where nothing is
            swept.
        hysteresis: Whether the two starts end in different states.
        results: From empty and from full rings.
        reproduce: The command line that finds it again.
        imbalance: Most frames of a core / fewest; null where a core got none.
        heaviest: Most frames of a core / mean.
        sojourn_mean: Mean time in the system, service times.
        sojourn_p99: 99th percentile of it, service times.
        theory_mean: The mean in exact theory, service times.
        theory_p99: The 99th percentile in exact theory, service times.
        mean_ratio: Simulated mean / theory's.
        p99_ratio: Simulated 99th percentile / theory's.
        mean_off_pct: Distance of the mean from theory, percent.
        p99_off_pct: Distance of the 99th percentile from theory, percent.
        mean_ci_pct: Half of the 95% interval of the mean, percent of it.
        p99_ci_pct: Half of the 95% interval of the 99th percentile, percent of it.
        customers: Customers simulated.
        fct_mean_us: Mean flow completion time, us; null, as all times are, where a connection has not ended.
        fct_p50_us: Median flow completion time, us.
        fct_p99_us: 99th percentile of it, us.
        fct_max_us: Largest flow completion time, us.
        fct_s: Mean flow completion time, s.
        goodput_gbps: Goodput of a flow, Gbps of payload.
        retransmissions: Retransmissions of a flow, segments, mean.
        needless: Recoveries undone of a flow, mean.
        timeouts: Timeouts of a flow, mean.
        late_pct: Frames that arrive behind later ones of their flow, percent; null without a frame.
        dropped: Frames dropped.
        frames: Frames sent by both hosts.
        connections: Connections that ended.
        unfinished: Connections that did not end within the limit.
        krules_per_s: Rules in a second, thousands.
        rule_us: A rule in the mean, us.
        core_ms: All rules, ms of a core.
        operations: Operations.
        latency_ns: The wait for one line, a round trip, or all stores, ns.
        throughput_gbps: Bytes that were read or stored, Gbps.
        remote_reads: Lines that crossed the link for loads, of a round trip or of a line that was read.
        remote_rfos: Lines that crossed the link for stores (reads for ownership), of a round trip or of a line
            that was read.
        dram_lines: Lines of DRAM of both nodes, read and written, of a line that was read.
    """

    x: float
    hysteresis: bool | None = None
    results: list[Row] | None = None
    reproduce: str
    imbalance: float | None = None
    heaviest: float | None = None
    sojourn_mean: float | None = None
    sojourn_p99: float | None = None
    theory_mean: float | None = None
    theory_p99: float | None = None
    mean_ratio: float | None = None
    p99_ratio: float | None = None
    mean_off_pct: float | None = None
    p99_off_pct: float | None = None
    mean_ci_pct: float | None = None
    p99_ci_pct: float | None = None
    customers: float | None = None
    fct_mean_us: float | None = None
    fct_p50_us: float | None = None
    fct_p99_us: float | None = None
    fct_max_us: float | None = None
    fct_s: float | None = None
    goodput_gbps: float | None = None
    retransmissions: float | None = None
    needless: float | None = None
    timeouts: float | None = None
    late_pct: float | None = None
    dropped: float | None = None
    frames: float | None = None
    connections: float | None = None
    unfinished: float | None = None
    krules_per_s: float | None = None
    rule_us: float | None = None
    core_ms: float | None = None
    operations: float | None = None
    latency_ns: float | None = None
    throughput_gbps: float | None = None
    remote_reads: float | None = None
    remote_rfos: float | None = None
    dram_lines: float | None = None


class ExperimentSeries(Part, frozen=True, kw_only=True):
    """A line, or a bar.

    Attributes:
        id: Its name in metric expressions.
        label: Its name for people.
        interface: Receive interface; empty where there is none.
        x: What is swept; empty where nothing is.
        points: Its points.
    """

    id: str
    label: str
    interface: str
    x: str
    points: list[ExperimentSeriesPoint]


class Claim(Part, frozen=True, kw_only=True):
    """A published statement and what was obtained for it.

    Attributes:
        id: Its id.
        what: What it states.
        published: The published cell as text: a number, `yes`, an interval `100-119`, or several of these; in
            `unit`.
        obtained: The obtained value in `unit`, or one for each published one; null for what could not be had.
        unit: The unit of published and obtained values.
        rule: How both are compared.
        tolerance: What the rule allows: a share of 1 (`ratio`), in `unit` (`points`), a factor, doublings
            (`octave`).
        deviation: How far apart they are: a share of 1 (`ratio`), a factor, doublings (`octave`), else in
            `unit`.
        holds: Whether the claim holds; null for inputs.
    """

    id: str
    what: str
    published: str
    obtained: float | None | list[float | None]
    unit: str
    rule: Literal["ratio", "points", "factor", "octave", "range", "at_most", "exact", "input"]
    tolerance: float
    deviation: float | None | list[float | None]
    holds: bool | None


class Met(Part, frozen=True, kw_only=True):
    """A published curve and how far it was met.

    Attributes:
        id: Its id.
        what: What it shows.
        unit: Unit of its values.
        axis: What deviations are of: the published value, the smaller of the two, the largest published value.
        tolerance: The largest median deviation with which it holds, a share.
        points: Points that are compared.
        median: Median deviation without its sign, a share; null for what could not be had.
        worst: Largest deviation without its sign, a share; null for what could not be had.
        worst_x: Where that is, in the unit of what is swept.
        holds: Whether the median is within the tolerance.
        x: Where its points are, in the unit of what is swept.
        published: Published values, in `unit`.
        obtained: Obtained values, in `unit`; null for what could not be had.
    """

    id: str
    what: str
    unit: str
    axis: Literal["linear", "log", "full"]
    tolerance: float
    points: int
    median: float | None
    worst: float | None
    worst_x: float
    holds: bool
    x: list[float]
    published: list[float]
    obtained: list[float | None]


class ExperimentFinding(Part, frozen=True, kw_only=True):
    """A value with nothing published to compare it with.

    Attributes:
        id: Its id.
        what: What it is.
        obtained: The value in `unit`, or several; null for what could not be had.
        unit: Its unit.
    """

    id: str
    what: str
    obtained: float | None | list[float | None]
    unit: str


class ExperimentAssumedItem(Part, frozen=True, kw_only=True):
    """One constant.

    Attributes:
        name: The constant's name in the profile; it ends with its unit.
        value: Its value, in that unit.
        origin: `assumed: id` (docs/assumptions.md), `fitted: to what`, or where it was measured.
    """

    name: str
    value: float
    origin: str


class Experiment(Result, frozen=True, kw_only=True):
    """A figure or table, run again.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        id: Its id, `paper/figure`.
        title: One line.
        source: Paper and section.
        notes: What a reader must know.
        seed: Seed of the first placement.
        series: Series.
        claims: Published statements, judged.
        curves: Published curves, point by point; absent where there are none.
        goals: Narrower bands that the project sets itself.
        findings: What is worked out beside.
        assumed: Constants of the server that are not published.
        reproduce: The command line that finds it again.
    """

    schema_version: int
    id: str
    title: str
    source: str
    notes: list[str]
    seed: int
    series: list[ExperimentSeries]
    claims: list[Claim]
    curves: list[Met] | None = None
    goals: list[Claim]
    findings: list[ExperimentFinding]
    assumed: list[ExperimentAssumedItem]
    reproduce: str


class ExperimentEntry(Result, frozen=True, kw_only=True):
    """An experiment.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        id: Its id, `paper/figure`.
        title: One line.
        source: Paper and section.
        claims: Ids of its claims.
    """

    schema_version: int
    id: str
    title: str
    source: str
    claims: list[str]


class ProfileCaches(Part, frozen=True, kw_only=True):
    """Caches.

    Attributes:
        l1_kib: L1 of each core, KiB; absent where L1 and L2 are not told apart.
        l2_kib: L2 of each core, KiB.
        l2_ways: L2 ways.
        slices: LLC slices.
        sets_per_slice: Sets of a slice.
        ways: LLC ways.
        ddio_ways: Ways in which a DMA write may allocate.
        inclusive_ways: Ways that hold DMA-written lines which a core has read.
        llc_inclusive: Whether the LLC has all that the L2s have; absent where it does not.
        replacement: LLC replacement.
        placement: Where 2 MB pages lie.
        slice_hash: How lines spread over slices.
        adjacent_prefetch: Whose misses to DRAM also fetch the other line of their 128-byte pair: true for all
            cores, false for none, or the side whose cores do.
        remote_reads: What a load does with a line that a cache of the other node has; absent where it moves a
            line of a frame and copies one of words.
    """

    l1_kib: int | None = None
    l2_kib: int
    l2_ways: int
    slices: int
    sets_per_slice: int
    ways: int
    ddio_ways: int
    inclusive_ways: int
    llc_inclusive: bool | None = None
    replacement: Literal["random", "lru"]
    placement: Literal["contiguous", "random"]
    slice_hash: Literal["balanced", "random"]
    adjacent_prefetch: str | bool
    remote_reads: Literal["move", "copy"] | None = None


class ProfileBuffers(Part, frozen=True, kw_only=True):
    """Packet buffers.

    Attributes:
        stride_lines: Lines from one buffer to the next.
        frame_line: Line of a buffer in which its frame starts.
        room: Bytes of frame that fit.
    """

    stride_lines: int
    frame_line: int
    room: int


class ProfileNic(Part, frozen=True, kw_only=True):
    """The network card.

    Attributes:
        name: The name of the card.
        kind: `core` for a software NIC; absent for a card.
        ports: Ports.
        port_gbps: Rate of a port, Gbps.
        min_ring: Smallest ring, entries.
        max_ring: Largest ring, entries.
        remote: Whether it is on the other node than the cores; absent where it is not.
    """

    name: str
    kind: Literal["card", "core"] | None = None
    ports: int
    port_gbps: float
    min_ring: int
    max_ring: int
    remote: bool | None = None


class Constant(Part, frozen=True, kw_only=True):
    """A number of the model and where it comes from.

    Attributes:
        value: In the unit that the constant's name ends with: ns, us, ms, Gbps, GB/s (gbytes), Mpps, cycles,
            lines, KiB, bytes.
        origin: `published: source`, `measured: how`, `fitted: to what` or `assumed: id`, an entry of
            docs/assumptions.md.
    """

    value: float
    origin: str


class ProfileConstantsCaches(Part, frozen=True, kw_only=True):
    """What a hit of a cache takes.

    Attributes:
        l2_hit_ns: L2 hit. Allowed: 0.2 to 100 ns.
        llc_hit_ns: LLC hit. Allowed: 1 to 1000 ns.
    """

    l2_hit_ns: Constant
    llc_hit_ns: Constant


class ProfileConstantsInterconnect(Part, frozen=True, kw_only=True):
    """Ways between cores and between sockets.

    Attributes:
        snoop_ns: A line from another core's L2. Allowed: 1 to 5000 ns.
        taken_ns: From one line that a core takes from another, to store into it, to the next at the least; none
            where the profile does not say. Allowed: 0 to 5000 ns.
        remote_ns: The way to the other socket and back, on top of a local access. Allowed: 0 to 10000 ns.
        away_ns: What a load of a line of the core's own memory takes longer where the other socket's caches
            have it, and not memory of theirs; where the profile does not say, memory is read first. Allowed: 0
            to 5000 ns.
        link_gbytes: Lines that cross from one socket to the other, each way; no limit where the profile does
            not say. Allowed: 0.5 to 10000 GB/s.
    """

    snoop_ns: Constant
    taken_ns: Constant | None = None
    remote_ns: Constant | None = None
    away_ns: Constant | None = None
    link_gbytes: Constant | None = None


class ProfileConstantsDram(Part, frozen=True, kw_only=True):
    """Memory of the socket.

    Attributes:
        idle_ns: DRAM, idle. Allowed: 10 to 5000 ns.
        load_ns: DRAM under load: `idle + load * u / (1 - u)`. Allowed: 0 to 5000 ns.
        usable: Share of the peak bandwidth at which `u` is 1. Allowed: 0.05 to 1 of the peak.
        peak_gbytes: DRAM peak, GB/s. Allowed: 0.5 to 10000 GB/s.
    """

    idle_ns: Constant
    load_ns: Constant
    usable: Constant
    peak_gbytes: Constant


class ProfileConstantsPcie(Part, frozen=True, kw_only=True):
    """The slot of a card.

    Attributes:
        gbytes: PCIe payload and headers, each way, GB/s. Allowed: 0.2 to 256 GB/s.
        tlp_bytes: Largest TLP payload, bytes. Allowed: 64 to 4096 bytes, a whole number.
        overhead_bytes: Header, CRC and framing of a TLP, bytes. Allowed: 0 to 256 bytes, a whole number.
        write_ns: From the card to the cache, one way. Allowed: 10 to 20000 ns.
        read_ns: A DMA read, request to data. Allowed: 10 to 20000 ns.
        doorbell_ns: A doorbell, core to card. Allowed: 10 to 20000 ns.
        mmio_read_ns: A core's load of a register of the card, there and back; twice `doorbell_ns` where the
            profile does not say. Allowed: 10 to 40000 ns.
    """

    gbytes: Constant | None = None
    tlp_bytes: Constant | None = None
    overhead_bytes: Constant | None = None
    write_ns: Constant | None = None
    read_ns: Constant | None = None
    doorbell_ns: Constant | None = None
    mmio_read_ns: Constant | None = None


class ProfileConstantsNic(Part, frozen=True, kw_only=True):
    """The NIC, whatever plays it.

    Attributes:
        buffer_kib: The card's own receive buffer of a port, KiB. Allowed: 1 to 262144 KiB.
        mpps: Frames that the card's pipeline takes in a second, millions, however short they are. Allowed: 0.1
            to 10000 million frames/s.
        write_back_descriptors: Descriptors of a row that the card writes back together, where completions go
            into them; 1 where the profile does not say. Allowed: 1 to 8 descriptors, a whole number.
        write_back_us: The shortest time between two write-backs of a ring that do not wait for the rest of the
            row. Allowed: 0 to 10000 us.
        tx_queue_gbps: Rate of one transmit queue, Gbps on the wire; 0 where none is slower than its port.
            Allowed: 0, or 0.1 to 1600 Gbps.
        classify_cycles: Cycles of a software NIC to parse and hash a frame. Allowed: 0 to 1000000 cycles.
        emulator_cycles: Cycles of an emulated NIC to move a frame's pointers, beside the words that it touches.
            Allowed: 0 to 1000000 cycles.
    """

    buffer_kib: Constant | None = None
    mpps: Constant | None = None
    write_back_descriptors: Constant | None = None
    write_back_us: Constant | None = None
    tx_queue_gbps: Constant | None = None
    classify_cycles: Constant | None = None
    emulator_cycles: Constant | None = None


class ProfileConstantsNicMemory(Part, frozen=True, kw_only=True):
    """Memory of the card for frames, behind a switch within the card. A profile has all of it or none.

    Attributes:
        gib: How much there is of each card. Allowed: 0.001 to 1024 GiB.
        peak_gbytes: Its peak, reads and writes together. Allowed: 0.5 to 10000 GB/s.
        usable: Share of the peak that frames here and there reach. Allowed: 0.05 to 1 of the peak.
        idle_ns: From a read that has come to it to the data. Allowed: 10 to 5000 ns.
        switch_ns: One way through the card's switch. Allowed: 0 to 5000 ns.
        switch_gbytes: What the switch carries between the card's pipeline and this memory, each way, headers
            included. Allowed: 0.5 to 1000 GB/s.
        control_ns: What a packet's way to the host is longer by where the card's cores choose it by credits.
            Allowed: 0 to 5000 ns.
    """

    gib: Constant | None = None
    peak_gbytes: Constant | None = None
    usable: Constant | None = None
    idle_ns: Constant | None = None
    switch_ns: Constant | None = None
    switch_gbytes: Constant | None = None
    control_ns: Constant | None = None


class ProfileConstantsCore(Part, frozen=True, kw_only=True):
    """What a core does with lines that are at hand.

    Attributes:
        op_cycles: Cycles of a ring operation in L1. Allowed: 0.1 to 1000 cycles.
        atomic_cycles: Cycles of an uncontended atomic. Allowed: 0.1 to 10000 cycles.
        spin_cycles: Cycles between two looks of a core that spins on a word, the length of its pause
            instruction; 0 where the profile does not say. Allowed: 0 to 10000 cycles.
        combining_buffers: Lines that a core combines stores to registers in, at a time; 8, as of other stores,
            where the profile does not say. Allowed: 1 to 64 lines, a whole number.
        fill_buffers: Lines that a core has on their way past its caches to memory at a time, each in a fill
            buffer until the memory answers; where the profile does not say, they take places of the store
            buffer. Allowed: 1 to 64 lines, a whole number.
        read_line_cycles: Cycles to read all bytes of a line that is here. Allowed: 0 to 10000 cycles.
        copy_line_cycles: Cycles to copy a line from one that is here to another. Allowed: 0 to 10000 cycles.
        frame_cycles: Cycles of a receiver for a frame, however short: its buffer's header filled, looked at,
            and checked before the buffer is freed; 0 where the profile does not say. Allowed: 0 to 1000000
            cycles.
    """

    op_cycles: Constant
    atomic_cycles: Constant
    spin_cycles: Constant | None = None
    combining_buffers: Constant | None = None
    fill_buffers: Constant | None = None
    read_line_cycles: Constant | None = None
    copy_line_cycles: Constant | None = None
    frame_cycles: Constant | None = None


class ProfileConstantsPool(Part, frozen=True, kw_only=True):
    """The pool of buffers.

    Attributes:
        cycles: Cycles to take a buffer from the core's own pool and give it back. Allowed: 0 to 1000000 cycles.
        call_cycles: Cycles of a call of the pool, however many buffers it takes. Allowed: 0 to 1000000 cycles.
    """

    cycles: Constant | None = None
    call_cycles: Constant | None = None


class ProfileConstantsFetch(Part, frozen=True, kw_only=True):
    """Lines that a core has under way at a time.

    Attributes:
        load_lines: Lines that a core fetches at a time for loads that do not wait for each other. Allowed: 1 to
            100000 lines.
        run_lines: The same for lines that lie one behind the other, which the processor fetches ahead. Allowed:
            1 to 100000 lines.
        store_lines: Lines that a core fetches at a time for its stores. Allowed: 1 to 100000 lines.
        store_run_lines: The same for lines that lie one behind the other. Allowed: 1 to 100000 lines.
    """

    load_lines: Constant
    run_lines: Constant | None = None
    store_lines: Constant | None = None
    store_run_lines: Constant | None = None


class ProfileConstantsFetchLlc(Part, frozen=True, kw_only=True):
    """The same of lines that the LLC has. A constant that the profile does not have is that of `fetch`.

    Attributes:
        load_lines: As `load_lines`, of lines that the LLC has. Where the profile does not have this constant or
            one of those that follow, such lines come as all others do. Allowed: 1 to 100000 lines.
        run_lines: As `run_lines`, of lines that the LLC has. Allowed: 1 to 100000 lines.
        store_lines: As `store_lines`, of lines that the LLC has. Allowed: 1 to 100000 lines.
        store_run_lines: As `store_run_lines`, of lines that the LLC has. Allowed: 1 to 100000 lines.
    """

    load_lines: Constant | None = None
    run_lines: Constant | None = None
    store_lines: Constant | None = None
    store_run_lines: Constant | None = None


class ProfileConstantsFetchL1(Part, frozen=True, kw_only=True):
    """The same of lines that another core's L1 has.

    Attributes:
        load_lines: As `load_lines`, of lines that another core's L1 has. Allowed: 1 to 100000 lines.
        run_lines: As `run_lines`, of lines that another core's L1 has. Allowed: 1 to 100000 lines.
        store_lines: As `store_lines`, of lines that another core's L1 has. Allowed: 1 to 100000 lines.
        store_run_lines: As `store_run_lines`, of lines that another core's L1 has. Allowed: 1 to 100000 lines.
    """

    load_lines: Constant | None = None
    run_lines: Constant | None = None
    store_lines: Constant | None = None
    store_run_lines: Constant | None = None


class ProfileConstantsFirmware(Part, frozen=True, kw_only=True):
    """Pauses of all cores at once.

    Attributes:
        pause_us: How long all cores stand still now and then, whatever runs on them. Allowed: 0 to 100000 us.
        pause_every_ms: From one such pause to the next. Allowed: 0.1 to 1000000 ms.
    """

    pause_us: Constant | None = None
    pause_every_ms: Constant | None = None


class ProfileConstantsAntagonist(Part, frozen=True, kw_only=True):
    """Threads of the other socket.

    Attributes:
        stream_lines: Lines that a STREAM thread of the other socket has under way. Allowed: 1 to 1000 lines.
        pagerank_lines: Lines that a PageRank thread of the other socket has under way. Allowed: 1 to 1000
            lines.
    """

    stream_lines: Constant | None = None
    pagerank_lines: Constant | None = None


class ProfileConstantsGenerator(Part, frozen=True, kw_only=True):
    """The load generator.

    Attributes:
        latency_us: The load generator's share of a measured latency, microseconds. Allowed: 0 to 100000 us.
    """

    latency_us: Constant | None = None


class ProfileConstants(Part, frozen=True, kw_only=True):
    """The numbers of the model by component, see docs/assumptions.md; those that the profile does not have are
    absent.

    Attributes:
        caches: What a hit of a cache takes.
        interconnect: Ways between cores and between sockets.
        dram: Memory of the socket.
        pcie: The slot of a card.
        nic: The NIC, whatever plays it.
        nic_memory: Memory of the card for frames, behind a switch within the card. A profile has all of it or
            none.
        core: What a core does with lines that are at hand.
        pool: The pool of buffers.
        fetch: Lines that a core has under way at a time.
        fetch_llc: The same of lines that the LLC has. A constant that the profile does not have is that of
            `fetch`.
        fetch_l1: The same of lines that another core's L1 has.
        firmware: Pauses of all cores at once.
        antagonist: Threads of the other socket.
        generator: The load generator.
    """

    caches: ProfileConstantsCaches
    interconnect: ProfileConstantsInterconnect
    dram: ProfileConstantsDram
    pcie: ProfileConstantsPcie | None = None
    nic: ProfileConstantsNic | None = None
    nic_memory: ProfileConstantsNicMemory | None = None
    core: ProfileConstantsCore
    pool: ProfileConstantsPool | None = None
    fetch: ProfileConstantsFetch
    fetch_llc: ProfileConstantsFetchLlc | None = None
    fetch_l1: ProfileConstantsFetchL1 | None = None
    firmware: ProfileConstantsFirmware | None = None
    antagonist: ProfileConstantsAntagonist | None = None
    generator: ProfileConstantsGenerator | None = None


class ProfileTablesRoot(Part, frozen=True, kw_only=True):
    """The first table, of fixed size.

    Attributes:
        entries: Rules that it has room for. Allowed: 16 to 1073741824 rules, a whole number.
        frame_ns: A look-up in an empty table. Allowed: 0 to 1000000 ns.
        rule_ps: What each rule adds to a look-up. Allowed: 0 to 1000000 ps.
        indexed: Share of the entries that an index finds; rules beyond it are searched one by one. Allowed:
            0.01 to 1 of the entries.
        beyond_ns: What each rule beyond the index adds to a look-up. Allowed: 0 to 1000000 ns.
        buffer_kib: Frames that wait for a look-up, of a port. Allowed: 1 to 262144 KiB.
        first_us: The first rule, in all. Allowed: 0 to 1000000 us.
        rule_us: A rule that the driver writes, on top of one in a chained table. Allowed: 0 to 1000000 us.
        kernel_us: A rule that matches IPv4, which the kernel has the firmware write. Allowed: 0 to 1000000 us.
        shift_us: What each rule beyond the index adds to writing one by the firmware. Allowed: 0 to 1000000 us.
        beside: How many times as long the firmware takes on a port that receives. Allowed: 1 to 1000 times.
    """

    entries: Constant | None = None
    frame_ns: Constant | None = None
    rule_ps: Constant | None = None
    indexed: Constant | None = None
    beyond_ns: Constant | None = None
    buffer_kib: Constant | None = None
    first_us: Constant | None = None
    rule_us: Constant | None = None
    kernel_us: Constant | None = None
    shift_us: Constant | None = None
    beside: Constant | None = None


class ProfileTablesChained(Part, frozen=True, kw_only=True):
    """A table behind the root, a hash table in host memory with a cache on the card.

    Attributes:
        frame_ns: A look-up, beside what each table adds. Allowed: 0 to 1000000 ns.
        cache_lines: Lines of buckets that the card keeps. Allowed: 1 to 1073741824 lines, a whole number.
        miss_ns: A bucket that the card has to fetch. Allowed: 0 to 1000000 ns.
        collision: What the rules of a bucket add to fetching it, for a mean of one. Allowed: 0 to 100 of a
            miss.
        million_ns: What a million rules add to a look-up: more memory to find a bucket in. Allowed: 0 to
            1000000 ns.
        full: Rules for each bucket at which a table grows. Allowed: 0.05 to 100 rules a bucket.
        growth: How many times as many buckets it has then. Allowed: 2 to 64 times, a whole number.
        buffer_kib: Frames that wait for a look-up, of a port. Allowed: 1 to 262144 KiB.
    """

    frame_ns: Constant | None = None
    cache_lines: Constant | None = None
    miss_ns: Constant | None = None
    collision: Constant | None = None
    million_ns: Constant | None = None
    full: Constant | None = None
    growth: Constant | None = None
    buffer_kib: Constant | None = None


class ProfileTablesRules(Part, frozen=True, kw_only=True):
    """What operations on rules take a core.

    Attributes:
        first_us: The first rule of Ethernet alone, which sets the table up. Allowed: 0 to 1000000 us.
        table_us: What each hash table behind the first one of a rule adds to that. Allowed: 0 to 1000000 us.
        insert_us: A rule with an entry of its own in one hash table. Allowed: 0 to 1000000 us.
        entry_us: Each further entry of its own: another hash table, or two more actions. Allowed: 0 to 1000000
            us.
        shared_us: Each entry that it shares with other rules. Allowed: 0 to 1000000 us.
        action_us: Each action behind the first. Allowed: 0 to 1000000 us.
        warm_us: What a rule takes longer while the driver's pools grow. Allowed: 0 to 1000000 us.
        warm_rules: Rules until they have grown. Allowed: 0 to 1073741824 rules, a whole number.
        move_us: A rule that moves because its table grows. Allowed: 0 to 1000000 us.
        delete_us: A deletion, without what follows. Allowed: 0 to 1000000 us.
        update_us: An update in place, without what follows. Allowed: 0 to 1000000 us.
        chain_us: What the rules of a bucket add to either, for a mean of one. Allowed: 0 to 1000000 us.
        far_us: What more rules than the core's translations reach add to either. Allowed: 0 to 1000000 us.
        far_rules: Rules that these reach. Allowed: 1 to 1073741824 rules, a whole number.
        beside: How many times as long an operation takes on a port that receives. Allowed: 1 to 1000 times.
    """

    first_us: Constant | None = None
    table_us: Constant | None = None
    insert_us: Constant | None = None
    entry_us: Constant | None = None
    shared_us: Constant | None = None
    action_us: Constant | None = None
    warm_us: Constant | None = None
    warm_rules: Constant | None = None
    move_us: Constant | None = None
    delete_us: Constant | None = None
    update_us: Constant | None = None
    chain_us: Constant | None = None
    far_us: Constant | None = None
    far_rules: Constant | None = None
    beside: Constant | None = None


class ProfileTables(Part, frozen=True, kw_only=True):
    """Tables of the card's classifier, where it has any.

    Attributes:
        root: The first table, of fixed size.
        chained: A table behind the root, a hash table in host memory with a cache on the card.
        rules: What operations on rules take a core.
    """

    root: ProfileTablesRoot | None = None
    chained: ProfileTablesChained | None = None
    rules: ProfileTablesRules | None = None


class ProfileAppsL3fwd(Part, frozen=True, kw_only=True):
    """Longest-prefix-match forwarding. `kv` and `ipsec` have its base cycles as well (A41).

    Attributes:
        cycles: Base cycles of a frame in L3FWD. Allowed: 0 to 1000000 cycles.
    """

    cycles: Constant | None = None


class ProfileAppsLb(Part, frozen=True, kw_only=True):
    """Load balancer.

    Attributes:
        cycles: Base cycles of a frame in LB. Allowed: 0 to 1000000 cycles.
    """

    cycles: Constant | None = None


class ProfileAppsNat(Part, frozen=True, kw_only=True):
    """Address translation.

    Attributes:
        cycles: Base cycles of a frame in NAT. Allowed: 0 to 1000000 cycles.
    """

    cycles: Constant | None = None


class ProfileAppsNf(Part, frozen=True, kw_only=True):
    """Random reads and a route.

    Attributes:
        cycles: Base cycles of a frame in NF. Allowed: 0 to 1000000 cycles.
    """

    cycles: Constant | None = None


class ProfileAppsIpsec(Part, frozen=True, kw_only=True):
    """IPsec gateway: what sealing costs.

    Attributes:
        frame_cycles: Cycles to seal a packet by ESP, beside those of its bytes. Allowed: 0 to 1000000 cycles.
        byte_cycles: Cycles to encipher and sign a byte. Allowed: 0 to 1000 cycles.
    """

    frame_cycles: Constant | None = None
    byte_cycles: Constant | None = None


class ProfileApps(Part, frozen=True, kw_only=True):
    """Numbers of applications, by name.

    Attributes:
        l3fwd: Longest-prefix-match forwarding. `kv` and `ipsec` have its base cycles as well (A41).
        lb: Load balancer.
        nat: Address translation.
        nf: Random reads and a route.
        ipsec: IPsec gateway: what sealing costs.
    """

    l3fwd: ProfileAppsL3fwd | None = None
    lb: ProfileAppsLb | None = None
    nat: ProfileAppsNat | None = None
    nf: ProfileAppsNf | None = None
    ipsec: ProfileAppsIpsec | None = None


class ServerProfile(Result, frozen=True, kw_only=True):
    """A server: every number and where it comes from.

    Attributes:
        origins: Where numbers beside the constants are from, by place; absent where the profile does not say.
        name: The name on the command line.
        description: One line for people.
        cores: Cores that applications can have.
        ghz: Core clock, GHz.
        caches: Caches.
        buffers: Packet buffers.
        nic: The network card.
        constants: The numbers of the model by component, see docs/assumptions.md; those that the profile does
            not have are absent.
        tables: Tables of the card's classifier, where it has any.
        apps: Numbers of applications, by name.
        schema_version: The shape of this output; it changes with what a reader must know.
    """

    origins: dict[str, str] | None = None
    name: str
    description: str
    cores: int
    ghz: float
    caches: ProfileCaches
    buffers: ProfileBuffers
    nic: ProfileNic
    constants: ProfileConstants
    tables: ProfileTables | None = None
    apps: ProfileApps | None = None
    schema_version: int


class ProfileEntry(Result, frozen=True, kw_only=True):
    """A server.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        name: The name of the server.
        description: One line for people.
    """

    schema_version: int
    name: str
    description: str


class ProfileCheckOpenItem(Part, frozen=True, kw_only=True):
    """A number that is assumed.

    Attributes:
        place: Its place in the profile.
        value: Its value.
        origin: Why, and what else it may be.
    """

    place: str
    value: float
    origin: str


class ProfileCheck(Result, frozen=True, kw_only=True):
    """A profile that the model takes: how many numbers of it are from where.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        name: The name of the profile.
        origins: Numbers by the kind of their origin.
        silent: Numbers beside the constants whose origin the profile does not tell.
        open: What is assumed: measure it first.
    """

    schema_version: int
    name: str
    origins: dict[str, int]
    silent: int
    open: list[ProfileCheckOpenItem]


class ProfileField(Result, frozen=True, kw_only=True):
    """A number.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        place: Its place in a profile: tables, then its key.
        result: What results call it.
        allowed: What it may be, with the unit.
        meaning: What it is.
        measure: How to measure it with public tools.
    """

    schema_version: int
    place: str
    result: str | None
    allowed: str
    meaning: str
    measure: str


class Profile(Part, frozen=True, kw_only=True):
    """A described server.

    Attributes:
        origins: Where numbers beside the constants are from, by place; absent where the profile does not say.
        name: The name on the command line.
        description: One line for people.
        cores: Cores that applications can have.
        ghz: Core clock, GHz.
        caches: Caches.
        buffers: Packet buffers.
        nic: The network card.
        constants: The numbers of the model by component, see docs/assumptions.md; those that the profile does
            not have are absent.
        tables: Tables of the card's classifier, where it has any.
        apps: Numbers of applications, by name.
    """

    origins: dict[str, str] | None = None
    name: str
    description: str
    cores: int
    ghz: float
    caches: ProfileCaches
    buffers: ProfileBuffers
    nic: ProfileNic
    constants: ProfileConstants
    tables: ProfileTables | None = None
    apps: ProfileApps | None = None


class DetectedProfileProcessor(Part, frozen=True, kw_only=True):
    """What the processor tells.

    Attributes:
        vendor: The vendor, or the implementer of an Arm.
        family: Its family.
        model: Its model.
        stepping: Its stepping.
        name: As it calls itself.
        sockets: Sockets with a CPU that is online.
        cores: Cores of the socket that is described.
        threads: Threads of a core.
        guest: Whether a hypervisor is told of.
        ghz: Base clock, GHz; null where nothing tells it.
    """

    vendor: str
    family: int
    model: int
    stepping: int
    name: str
    sockets: int
    cores: int
    threads: int
    guest: bool
    ghz: float | None


class DetectedProfileCache(Part, frozen=True, kw_only=True):
    """A cache.

    Attributes:
        level: Its level.
        kind: Data, Instruction or Unified.
        kib: Its size, KiB.
        ways: Its ways; 0 where nothing tells them.
        sets: Its sets; 0 where nothing tells them.
        shared_by: CPUs that share it.
        instances: How many like it the socket has.
        inclusive: Whether it has all that caches below have; null where nothing tells.
        from_: Where this is from.
    """

    level: int
    kind: str
    kib: int
    ways: int
    sets: int
    shared_by: int
    instances: int
    inclusive: bool | None
    from_: str = field(name="from")


class DetectedProfileMemory(Part, frozen=True, kw_only=True):
    """Modules of memory.

    Attributes:
        modules: Slots with a module.
        slots: All slots.
        kind: ddr4 and its like.
        mts: Transfers in a microsecond, of the slowest module.
    """

    modules: int
    slots: int
    kind: str | None
    mts: int | None


class DetectedProfileCardRings(Part, frozen=True, kw_only=True):
    """Ring sizes.

    Attributes:
        rx: Receive, in use.
        rx_most: Receive, at the most.
        tx: Transmit, in use.
        tx_most: Transmit, at the most.
    """

    rx: int
    rx_most: int
    tx: int
    tx_most: int


class DetectedProfileCard(Part, frozen=True, kw_only=True):
    """A function of a card.

    Attributes:
        address: Domain, bus, device and function.
        id: Vendor and device.
        part: The part that describes it.
        driver: The driver that has it.
        interface: Its interface.
        link_up: Whether the interface has a link.
        gbps: Rate of the port, Gbps.
        node: The node that it is on.
        gts: Of a lane, GT/s.
        lanes: Lanes in use.
        rings: Ring sizes, entries; null where the driver is not asked or does not tell.
        from_: Where this is from.
    """

    address: str
    id: str
    part: str | None
    driver: str | None
    interface: str | None
    link_up: bool | None
    gbps: float | None
    node: int | None
    gts: float | None
    lanes: int | None
    rings: DetectedProfileCardRings | None
    from_: str = field(name="from")


class DetectedProfileTuningResctrl(Part, frozen=True, kw_only=True):
    """What resctrl says of the LLC.

    Attributes:
        cbm_mask: All ways, a bit each.
        shareable_bits: Ways that others than cores use as well.
        closids: Classes of service.
        io_alloc: Whether cards have ways of their own.
        io_alloc_cbm: Ways of the cards, of each LLC.
        groups: The ways of each group.
    """

    cbm_mask: str | None
    shareable_bits: str | None
    closids: int | None
    io_alloc: str | None
    io_alloc_cbm: str | None
    groups: list[list[str]]


class DetectedProfileTuningHugePage(Part, frozen=True, kw_only=True):
    """Huge pages of a size.

    Attributes:
        kib: Their size, KiB.
        all: How many there are.
        free: How many are free.
    """

    kib: int
    all: int
    free: int


class DetectedProfileTuning(Part, frozen=True, kw_only=True):
    """How the machine is set up for packets.

    Attributes:
        ddio_mask: The mask of MSR 0xC8B.
        resctrl: resctrl; null where it is not mounted.
        huge_pages: Huge pages by size.
        isolated: CPUs that the scheduler leaves alone.
        nohz_full: CPUs without ticks.
        nodes: Nodes of memory.
    """

    ddio_mask: int | None
    resctrl: DetectedProfileTuningResctrl | None
    huge_pages: list[DetectedProfileTuningHugePage]
    isolated: str | None
    nohz_full: str | None
    nodes: int


class DetectedProfileReadItem(Part, frozen=True, kw_only=True):
    """A number or a setting.

    Attributes:
        what: Its place in the profile, or what it is.
        value: Its value.
        from_: Where it was read, or why it is assumed.
    """

    what: str
    value: str
    from_: str = field(name="from")


class DetectedProfileAssumedItem(Part, frozen=True, kw_only=True):
    """A number or a setting.

    Attributes:
        what: Its place in the profile, or what it is.
        value: Its value.
        from_: Where it was read, or why it is assumed.
    """

    what: str
    value: str
    from_: str = field(name="from")


class DetectedProfile(Result, frozen=True, kw_only=True):
    """A machine that was read, as a profile, with where each number is from.

    Attributes:
        schema_version: The shape of this output; it changes with what a reader must know.
        profile: The profile that the model takes.
        part: The part that describes the processor.
        processor: What the processor tells.
        caches: Caches of a core and of its socket.
        memory: Modules of memory by the firmware's tables; null where these cannot be read.
        cards: Functions of network cards on PCI.
        tuning: How the machine is set up for packets.
        read: What was read, and where.
        assumed: What was assumed, and why.
    """

    schema_version: int
    profile: Profile
    part: str
    processor: DetectedProfileProcessor
    caches: list[DetectedProfileCache]
    memory: DetectedProfileMemory | None
    cards: list[DetectedProfileCard]
    tuning: DetectedProfileTuning
    read: list[DetectedProfileReadItem]
    assumed: list[DetectedProfileAssumedItem]
