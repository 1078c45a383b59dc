//! What each number of a profile may be: wide enough for every server of the next years, and narrow enough to tell
//! MHz from GHz and percent from a share.

use super::range::Range;
use super::{Server, declared};

/// A number of a profile beside its constants.
pub(super) struct Number {
    /// Its key, tables before it.
    pub name: &'static str,
    pub range: Range,
    pub of: fn(&Server) -> f64,
}

const fn number(name: &'static str, range: Range, of: fn(&Server) -> f64) -> Number {
    Number { name, range, of }
}

/// All of them; a test looks for numbers that are missing here.
pub(super) static MACHINE: &[Number] = &[
    number("cores", Range::whole(1, 128, "cores"), |s| s.cores.into()),
    number("ghz", Range::real(0.1, 10.0, "GHz"), |s| s.ghz),
    number("caches.l1_kib", Range::whole(4, 128, "KiB").or_zero(), |s| s.caches.l1_kib.into()),
    number("caches.l2_kib", Range::whole(16, 65_536, "KiB"), |s| s.caches.l2_kib.into()),
    number("caches.l2_ways", Range::whole(1, 32, "ways"), |s| s.caches.l2_ways.into()),
    number("caches.slices", Range::whole(1, 256, "slices"), |s| s.caches.slices.into()),
    number("caches.sets_per_slice", Range::whole(64, 65_536, "sets"), |s| s.caches.sets_per_slice.into()),
    number("caches.ways", Range::whole(2, 32, "ways"), |s| s.caches.ways.into()),
    number("caches.ddio_ways", Range::whole(1, 32, "ways").or_zero(), |s| s.caches.ddio_ways.into()),
    number("caches.inclusive_ways", Range::whole(1, 32, "ways"), |s| s.caches.inclusive_ways.into()),
    number("buffers.stride_lines", Range::whole(1, 1024, "lines"), |s| s.buffers.stride_lines.into()),
    number("buffers.frame_line", Range::whole(0, 1023, "lines"), |s| s.buffers.frame_line.into()),
    number("buffers.room", Range::whole(1, 65_535, "bytes"), |s| s.buffers.room.into()),
    number("nic.ports", Range::whole(1, 16, "ports"), |s| s.nic.ports.into()),
    number("nic.port_gbps", Range::real(0.1, 1600.0, "Gbps"), |s| s.nic.port_gbps),
    number("nic.min_ring", Range::whole(2, 1 << 20, "entries"), |s| s.nic.min_ring.into()),
    number("nic.max_ring", Range::whole(2, 1 << 20, "entries"), |s| s.nic.max_ring.into()),
];

/// What each number of a profile may be, by its place: tables, then its key, with dots between.
pub fn ranges() -> impl Iterator<Item = (&'static str, &'static Range)> {
    let machine = MACHINE.iter().map(|number| (number.name, &number.range));
    machine.chain(declared().map(|d| (d.place, &d.range)))
}
