//! What the system says of this machine, and what was measured, as a profile.

use std::fs;

use model::profile::{
    AdjacentPrefetch, Apps, BufferLayout, Caches, Card, Constant, Constants, NicKind, Placement, RemoteReads,
    Replacement, Server, SliceHash, Tables, apps, constants,
};

use super::values::{Streams, Values};
use crate::cpus::limit::Distance;
use crate::fail::Fail;

/// Caches of the first CPU, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub l1: u32,
    pub l2: u32,
    pub llc: u32,
}

impl Sizes {
    /// From sysfs; what it does not tell is 32 KiB, 1 MiB and 32 MiB.
    pub(super) fn of(cpu: usize) -> Sizes {
        let of = |level: &str| {
            (0..8).find_map(|i| {
                let read = |what: &str| {
                    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{i}/{what}"))
                };
                let here = read("level").ok()?.trim() == level && read("type").ok()?.trim() != "Instruction";
                let kib: u32 = read("size").ok()?.trim().trim_end_matches('K').parse().ok()?;
                (here && kib > 0).then_some(kib.min(1 << 20) << 10)
            })
        };
        Sizes {
            l1: of("1").unwrap_or(32 << 10),
            l2: of("2").unwrap_or(1 << 20),
            llc: of("3").unwrap_or(32 << 20),
        }
    }
}

/// The processor's name.
pub(super) fn class() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("model name")?.split(':').nth(1));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |n| n.trim().to_owned())
}

/// Sets of a slice, and the most ways that a modelled cache has.
const SETS: u32 = 2048;
const WAYS: u32 = 16;
/// Sets of a modelled L2, at least and at most.
const L2_SETS: [u32; 2] = [1024, 16384];

/// A profile of the machine: one core for the application, one that plays the card.
///
/// # Errors
/// The measured values are not possible.
pub(super) fn server(v: &Values, sizes: Sizes, placed: Distance, origin: &str) -> Result<Server, Fail> {
    let measured = |value: f64, how: &str| Constant {
        value: round(value),
        origin: format!("measured: {how}, {origin}"),
    };
    let assumed = |value: f64, id: &str| Constant { value, origin: format!("assumed: {id}") };
    // Of either CPU: the model makes nanoseconds of them again, by the same clock.
    let cycles = |ns: f64| ns * v.ghz;
    // Siblings share their caches: what one has comes to the other as a line of the LLC does.
    let siblings = placed == Distance::Siblings;
    let ([loads, runs, stores, store_runs], llc, l1) = if siblings {
        (lines(v.latency[2], &v.llc), None, None)
    } else {
        let of = |latency, streams| lines(latency, streams);
        (of(v.transfer, &v.exchanged), Some(of(v.latency[2], &v.llc)), Some(of(v.transfer, &v.exchanged_l1)))
    };
    let from = |lines: Option<[f64; 4]>, kind: usize, how: &str| match lines {
        Some(lines) => measured(lines[kind], &format!("latency over a line's time in a stream of {how}")),
        None => Constant::default(),
    };
    let constants = Constants {
        caches: constants::Caches {
            l2_hit_ns: measured(v.latency[1], "random walk over half an L2"),
            llc_hit_ns: measured(v.latency[2], "random walk over a quarter of the LLC"),
        },
        interconnect: constants::Interconnect {
            snoop_ns: measured(v.transfer, "random walk over lines that the other core has written"),
            taken_ns: measured(v.taken, "from one line to the next that are stored for the other core"),
            ..Default::default()
        },
        dram: constants::Dram {
            idle_ns: measured(v.latency[3], "random walk over more than the LLC"),
            load_ns: assumed(25.0, "A3"),
            usable: assumed(0.68, "A3"),
            peak_gbytes: measured(2.0 * v.copy[2], "a copy of 128 MiB, read and written"),
        },
        nic: constants::Nic {
            classify_cycles: measured(
                cycles(v.classify),
                "frames of a stock of 8192 filtered, parsed, hashed and described",
            ),
            ..Default::default()
        },
        core: constants::Core {
            op_cycles: measured(cycles(v.operation), "entries made, written, read and tested in L1"),
            atomic_cycles: measured(cycles(v.own_swap), "compare-and-swap on an own line"),
            read_line_cycles: measured(cycles(v.read_line), "frames of 24 lines in L1 read"),
            copy_line_cycles: measured(cycles(v.put_line), "a frame of 24 lines copied in L1"),
            // The words of its line are counted as of any other.
            frame_cycles: measured(
                cycles((v.frame - v.read_line).max(0.0)),
                "frames of a line in L1 received, read and freed, less the line",
            ),
            ..Default::default()
        },
        pool: constants::Pool {
            cycles: measured(cycles(v.buffer), "32 buffers taken and given back"),
            ..Default::default()
        },
        fetch: constants::Fetch {
            load_lines: measured(loads, "latency over a line's time in a stream of loads"),
            run_lines: measured(
                runs,
                "latency over what a line is waited for in a stream of frames that are read",
            ),
            store_lines: measured(stores, "latency over a line's time in a stream of stores"),
            store_run_lines: measured(
                store_runs,
                "latency over what a line is waited for in a stream of frames that are copied",
            ),
        },
        fetch_llc: constants::FetchLlc {
            load_lines: from(llc, 0, "loads from the LLC"),
            run_lines: from(llc, 1, "frames read from the LLC, less the reading"),
            store_lines: from(llc, 2, "stores into lines of the LLC"),
            store_run_lines: from(llc, 3, "frames copied into lines of the LLC, less the copying"),
        },
        fetch_l1: constants::FetchL1 {
            load_lines: from(l1, 0, "loads from the other core's L1"),
            run_lines: from(l1, 1, "frames read from the other core's L1, less the reading"),
            store_lines: from(l1, 2, "stores into lines of the other core's L1"),
            store_run_lines: from(l1, 3, "frames copied into lines of the other core's L1, less the copying"),
        },
        ..Constants::default()
    };
    let server = Server {
        name: format!("calibrated-{}", placed.name()),
        description: format!("{}, two cores {}, one of them plays the card", class(), placed.name()),
        cores: 1,
        ghz: round(v.ghz),
        caches: caches(sizes, placed),
        buffers: BufferLayout { stride_lines: 37, frame_line: 5, room: 2048 },
        nic: Card {
            name: "a core".into(),
            kind: NicKind::Core,
            ports: 1,
            port_gbps: 1000.0,
            min_ring: 2,
            max_ring: 1 << 20,
            remote: false,
        },
        constants,
        apps: Apps { l3fwd: apps::L3fwd { cycles: assumed(50.0, "A9") }, ..Apps::default() },
        tables: Tables::default(),
        origins: std::collections::BTreeMap::new(),
    };
    server.validate().map_err(Fail::new)?;
    Ok(server)
}

/// How many lines a core has under way that each come after `latency`: loads at random, in order, stores at random, in
/// order.
fn lines(latency: f64, s: &Streams) -> [f64; 4] {
    [s.load_scattered, s.load_sequential, s.store_scattered, s.store_sequential]
        .map(|ns| (latency / ns).max(1.0))
}

/// The machine's capacities in the model's shape. Siblings share an L2: either has half of it. Far apart, no LLC is
/// shared: what either CPU's LLC has comes to the other as a line of its L2 does, so both together are one private cache
/// (A63), and beside them hardly anything is left.
fn caches(sizes: Sizes, placed: Distance) -> Caches {
    let (private, shared) = match placed {
        Distance::Siblings => (sizes.l2 / 2, sizes.llc),
        Distance::Near => (sizes.l2, sizes.llc),
        Distance::Far => (sizes.l2.max(sizes.llc), 0),
    };
    let l2_lines = private / 64;
    let [fewest, most] = L2_SETS;
    let l2_sets = (l2_lines / WAYS).next_power_of_two().clamp(fewest, most);
    let l2_ways = (l2_lines / l2_sets).clamp(1, WAYS);
    let slices = (shared / 64 / SETS / WAYS).clamp(1, 64);
    Caches {
        l1_kib: if placed == Distance::Siblings { 0 } else { (sizes.l1 >> 12 << 2).min(64) },
        l2_kib: l2_ways * l2_sets * 64 / 1024,
        l2_ways,
        slices,
        sets_per_slice: SETS,
        ways: if shared > 0 { WAYS } else { 2 },
        ddio_ways: 1,
        llc_inclusive: false,
        inclusive_ways: 1,
        replacement: Replacement::Lru,
        placement: Placement::Random,
        slice_hash: SliceHash::Balanced,
        adjacent_prefetch: AdjacentPrefetch::None,
        remote_reads: RemoteReads::default(),
    }
}

/// Three digits are more than a measurement repeats.
fn round(value: f64) -> f64 {
    let digits = 3 - value.abs().max(1e-3).log10().floor() as i32;
    let scale = 10f64.powi(digits.clamp(0, 6));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_placement_shares() {
        let sizes = Sizes { l1: 32 << 10, l2: 512 << 10, llc: 8 << 20 };
        let of = |placed| caches(sizes, placed);
        let shared = |c: &Caches| c.slices * c.sets_per_slice * c.ways * 64 / 1024;
        let siblings = of(Distance::Siblings);
        assert_eq!((siblings.l1_kib, siblings.l2_kib, shared(&siblings)), (0, 256, 8192));
        let near = of(Distance::Near);
        assert_eq!((near.l1_kib, near.l2_kib, shared(&near)), (32, 512, 8192));
        let far = of(Distance::Far);
        assert_eq!((far.l1_kib, far.l2_kib, shared(&far)), (32, 8192, 256));
    }
}
