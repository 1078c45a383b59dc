//! The constants of a profile, by component: `dram.idle_ns` is in `[constants.dram]`. The name in quotes is the one that
//! results have, and profiles of the flat form.

use serde::{Deserialize, Serialize};

use super::NicKind;
use super::declare::{Constant, Declared, Of, components, is_default};
use super::range::Range;

components! {
    /// The numbers of the model beside those of applications, see docs/assumptions.md.
    Constants at constants, listed in CONSTANTS;
    /// What a hit of a cache takes.
    caches: Caches {
        /// L2 hit.
        l2_hit_ns = "l2_hit_ns": Of::Any, Range::real(0.2, 100.0, "ns");
        /// LLC hit.
        llc_hit_ns = "llc_hit_ns": Of::Any, Range::real(1.0, 1000.0, "ns");
    }
    /// Ways between cores and between sockets.
    interconnect: Interconnect {
        /// A line from another core's L2.
        snoop_ns = "snoop_ns": Of::Any, Range::real(1.0, 5000.0, "ns");
        /// From one line that a core takes from another, to store into it, to the next at the least; none where the
        /// profile does not say.
        taken_ns = "taken_ns": Of::Some(NicKind::Core), Range::real(0.0, 5000.0, "ns");
        /// The way to the other socket and back, on top of a local access.
        remote_ns = "remote_ns": Of::Card, Range::real(0.0, 10_000.0, "ns");
        /// What a load of a line of the core's own memory takes longer where the other socket's caches have it, and not
        /// memory of theirs; where the profile does not say, memory is read first.
        away_ns = "away_ns": Of::Some(NicKind::Card), Range::real(0.0, 5000.0, "ns");
        /// Lines that cross from one socket to the other, each way; no limit where the profile does not say.
        link_gbytes = "link_gbytes": Of::Some(NicKind::Card), Range::real(0.5, 10_000.0, "GB/s");
    }
    /// Memory of the socket.
    dram: Dram {
        /// DRAM, idle.
        idle_ns = "dram_idle_ns": Of::Any, Range::real(10.0, 5000.0, "ns");
        /// DRAM under load: `idle + load * u / (1 - u)`.
        load_ns = "dram_load_ns": Of::Any, Range::real(0.0, 5000.0, "ns");
        /// Share of the peak bandwidth at which `u` is 1.
        usable = "dram_usable": Of::Any, Range::real(0.05, 1.0, "of the peak");
        /// DRAM peak, GB/s.
        peak_gbytes = "dram_peak_gbytes": Of::Any, Range::real(0.5, 10_000.0, "GB/s");
    }
    /// The slot of a card.
    pcie: Pcie {
        /// PCIe payload and headers, each way, GB/s.
        gbytes = "pcie_gbytes": Of::Only(NicKind::Card), Range::real(0.2, 256.0, "GB/s");
        /// Largest TLP payload, bytes.
        tlp_bytes = "pcie_tlp_bytes": Of::Only(NicKind::Card), Range::whole(64, 4096, "bytes");
        /// Header, CRC and framing of a TLP, bytes.
        overhead_bytes = "pcie_overhead_bytes": Of::Only(NicKind::Card), Range::whole(0, 256, "bytes");
        /// From the card to the cache, one way.
        write_ns = "pcie_write_ns": Of::Only(NicKind::Card), Range::real(10.0, 20_000.0, "ns");
        /// A DMA read, request to data.
        read_ns = "pcie_read_ns": Of::Only(NicKind::Card), Range::real(10.0, 20_000.0, "ns");
        /// A doorbell, core to card.
        doorbell_ns = "doorbell_ns": Of::Only(NicKind::Card), Range::real(10.0, 20_000.0, "ns");
        /// A core's load of a register of the card, there and back; twice `doorbell_ns` where the profile does not say.
        mmio_read_ns = "mmio_read_ns": Of::Some(NicKind::Card), Range::real(10.0, 40_000.0, "ns");
    }
    /// The NIC, whatever plays it.
    nic: Nic {
        /// The card's own receive buffer of a port, KiB.
        buffer_kib = "nic_buffer_kib": Of::Only(NicKind::Card), Range::real(1.0, 262_144.0, "KiB");
        /// Frames that the card's pipeline takes in a second, millions, however short they are.
        mpps = "nic_mpps": Of::Some(NicKind::Card), Range::real(0.1, 10_000.0, "million frames/s");
        /// Descriptors of a row that the card writes back together, where completions go into them; 1 where the
        /// profile does not say.
        write_back_descriptors = "write_back_descriptors": Of::Some(NicKind::Card), Range::whole(1, 8, "descriptors");
        /// The shortest time between two write-backs of a ring that do not wait for the rest of the row.
        write_back_us = "write_back_us": Of::Some(NicKind::Card), Range::real(0.0, 10_000.0, "us");
        /// Rate of one transmit queue, Gbps on the wire; 0 where none is slower than its port.
        tx_queue_gbps = "tx_queue_gbps": Of::Only(NicKind::Card), Range::real(0.1, 1600.0, "Gbps").or_zero();
        /// Cycles of a software NIC to parse and hash a frame.
        classify_cycles = "classify_cycles": Of::Only(NicKind::Core), Range::real(0.0, 1e6, "cycles");
        /// Cycles of an emulated NIC to move a frame's pointers, beside the words that it touches.
        emulator_cycles = "emulator_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// Memory of the card for frames, behind a switch within the card. A profile has all of it or none.
    nic_memory: NicMemory {
        /// How much there is of each card.
        gib = "nic_memory_gib": Of::Some(NicKind::Card), Range::real(0.001, 1024.0, "GiB");
        /// Its peak, reads and writes together.
        peak_gbytes = "nic_memory_peak_gbytes": Of::Some(NicKind::Card), Range::real(0.5, 10_000.0, "GB/s");
        /// Share of the peak that frames here and there reach.
        usable = "nic_memory_usable": Of::Some(NicKind::Card), Range::real(0.05, 1.0, "of the peak");
        /// From a read that has come to it to the data.
        idle_ns = "nic_memory_idle_ns": Of::Some(NicKind::Card), Range::real(10.0, 5000.0, "ns");
        /// One way through the card's switch.
        switch_ns = "nic_switch_ns": Of::Some(NicKind::Card), Range::real(0.0, 5000.0, "ns");
        /// What the switch carries between the card's pipeline and this memory, each way, headers included.
        switch_gbytes = "nic_switch_gbytes": Of::Some(NicKind::Card), Range::real(0.5, 1000.0, "GB/s");
        /// What a packet's way to the host is longer by where the card's cores choose it by credits.
        control_ns = "nic_control_ns": Of::Some(NicKind::Card), Range::real(0.0, 5000.0, "ns");
    }
    /// What a core does with lines that are at hand.
    core: Core {
        /// Cycles of a ring operation in L1.
        op_cycles = "op_cycles": Of::Any, Range::real(0.1, 1000.0, "cycles");
        /// Cycles of an uncontended atomic.
        atomic_cycles = "atomic_cycles": Of::Any, Range::real(0.1, 10_000.0, "cycles");
        /// Cycles between two looks of a core that spins on a word, the length of its pause instruction; 0 where
        /// the profile does not say.
        spin_cycles = "spin_cycles": Of::Some(NicKind::Card), Range::real(0.0, 10_000.0, "cycles");
        /// Lines that a core combines stores to registers in, at a time; 8, as of other stores, where the profile does
        /// not say.
        combining_buffers = "combining_buffers": Of::Some(NicKind::Card), Range::whole(1, 64, "lines");
        /// Lines that a core has on their way past its caches to memory at a time, each in a fill buffer until the memory
        /// answers; where the profile does not say, they take places of the store buffer.
        fill_buffers = "fill_buffers": Of::Some(NicKind::Card), Range::whole(1, 64, "lines");
        /// Cycles to read all bytes of a line that is here.
        read_line_cycles = "read_line_cycles": Of::Only(NicKind::Core), Range::real(0.0, 10_000.0, "cycles");
        /// Cycles to copy a line from one that is here to another.
        copy_line_cycles = "copy_line_cycles": Of::Only(NicKind::Core), Range::real(0.0, 10_000.0, "cycles");
        /// Cycles of a receiver for a frame, however short: its buffer's header filled, looked at, and checked before
        /// the buffer is freed; 0 where the profile does not say.
        frame_cycles = "frame_cycles": Of::Some(NicKind::Core), Range::real(0.0, 1e6, "cycles");
    }
    /// The pool of buffers.
    pool: Pool {
        /// Cycles to take a buffer from the core's own pool and give it back.
        cycles = "pool_cycles": Of::Only(NicKind::Core), Range::real(0.0, 1e6, "cycles");
        /// Cycles of a call of the pool, however many buffers it takes.
        call_cycles = "pool_call_cycles": Of::Card, Range::real(0.0, 1e6, "cycles");
    }
    /// Lines that a core has under way at a time.
    fetch: Fetch {
        /// Lines that a core fetches at a time for loads that do not wait for each other.
        load_lines = "load_lines": Of::Any, Range::real(1.0, 1e5, "lines");
        /// The same for lines that lie one behind the other, which the processor fetches ahead.
        run_lines = "run_lines": Of::Only(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// Lines that a core fetches at a time for its stores.
        store_lines = "store_lines": Of::Only(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// The same for lines that lie one behind the other.
        store_run_lines = "store_run_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
    }
    /// The same of lines that the LLC has. A constant that the profile does not have is that of `fetch`.
    fetch_llc: FetchLlc {
        /// As `load_lines`, of lines that the LLC has. Where the profile does not have this constant or one of those that
        /// follow, such lines come as all others do.
        load_lines = "llc_load_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `run_lines`, of lines that the LLC has.
        run_lines = "llc_run_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `store_lines`, of lines that the LLC has.
        store_lines = "llc_store_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `store_run_lines`, of lines that the LLC has.
        store_run_lines = "llc_store_run_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
    }
    /// The same of lines that another core's L1 has.
    fetch_l1: FetchL1 {
        /// As `load_lines`, of lines that another core's L1 has.
        load_lines = "l1_load_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `run_lines`, of lines that another core's L1 has.
        run_lines = "l1_run_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `store_lines`, of lines that another core's L1 has.
        store_lines = "l1_store_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
        /// As `store_run_lines`, of lines that another core's L1 has.
        store_run_lines = "l1_store_run_lines": Of::Some(NicKind::Core), Range::real(1.0, 1e5, "lines");
    }
    /// Pauses of all cores at once.
    firmware: Firmware {
        /// How long all cores stand still now and then, whatever runs on them.
        pause_us = "pause_us": Of::Card, Range::real(0.0, 100_000.0, "us");
        /// From one such pause to the next.
        pause_every_ms = "pause_every_ms": Of::Card, Range::real(0.1, 1e6, "ms");
    }
    /// Threads of the other socket.
    antagonist: Antagonist {
        /// Lines that a STREAM thread of the other socket has under way.
        stream_lines = "stream_lines": Of::Card, Range::real(1.0, 1000.0, "lines");
        /// Lines that a PageRank thread of the other socket has under way.
        pagerank_lines = "pagerank_lines": Of::Card, Range::real(1.0, 1000.0, "lines");
    }
    /// The load generator.
    generator: Generator {
        /// The load generator's share of a measured latency, microseconds.
        latency_us = "generator_us": Of::Only(NicKind::Card), Range::real(0.0, 100_000.0, "us");
    }
}
