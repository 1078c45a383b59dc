//! What a round of measurements gives, value by value.

use serde::Serialize;

use super::lines::Line;
use super::pass::{Order, Pass};
use crate::cpus::median;
use crate::fail::Fail;

/// What one round measures, or the medians of some. Times are in ns, copies in GB/s.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Values {
    /// Clock rate, GHz.
    pub ghz: f64,
    /// What [`crate::cpus::limit::cores`] says of the receiver's CPU and the NIC's: the least and the most of a round's looks, ns.
    pub core_ns: [[f64; 2]; 2],
    /// A load from L1, L2, LLC, DRAM.
    pub latency: [f64; 4],
    /// Round trips on one line and on two.
    pub ping_pong: [f64; 2],
    /// A load of a line that the other core has written.
    pub transfer: f64,
    /// Lines that the other core has written, and lines in the LLC.
    pub other: Streams,
    /// Lines that this core loads while the other one stores, and the other way round, of the L2s.
    pub exchanged: Streams,
    /// The same of the L1s.
    pub exchanged_l1: Streams,
    /// From one line to the next that are stored for the other core, which takes them at once.
    pub taken: f64,
    pub llc: Streams,
    /// Between two atomic additions of either core to one word.
    pub shared_add: f64,
    pub own_swap: f64,
    /// Plain copies of 16 KiB, 4 MiB, 128 MiB.
    pub copy: [f64; 3],
    pub put_line: f64,
    pub read_line: f64,
    pub operation: f64,
    pub buffer: f64,
    pub classify: f64,
    pub frame: f64,
}

/// A line of a stream, ns.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Streams {
    pub load_scattered: f64,
    pub load_sequential: f64,
    pub store_scattered: f64,
    pub store_sequential: f64,
}

impl Streams {
    /// Measures each.
    ///
    /// # Errors
    /// As `line`.
    pub(super) fn of(line: impl Fn(Pass, Order) -> Result<f64, Fail>) -> Result<Streams, Fail> {
        Ok(Streams {
            load_scattered: line(Pass::Load, Order::Scattered)?,
            load_sequential: line(Pass::Load, Order::Sequential)?,
            store_scattered: line(Pass::Store, Order::Scattered)?,
            store_sequential: line(Pass::Store, Order::Sequential)?,
        })
    }

    /// Of loads and stores, at random and in frames.
    pub(super) fn both(at_random: [Line; 2], frames: [Line; 2]) -> Streams {
        let [[load_scattered, store_scattered], [load_sequential, store_sequential]] =
            [at_random, frames].map(|lines| lines.map(|line| line.wait));
        Streams { load_scattered, load_sequential, store_scattered, store_sequential }
    }

    fn median(of: impl Fn(&dyn Fn(&Streams) -> f64) -> f64) -> Streams {
        Streams {
            load_scattered: of(&|s| s.load_scattered),
            load_sequential: of(&|s| s.load_sequential),
            store_scattered: of(&|s| s.store_scattered),
            store_sequential: of(&|s| s.store_sequential),
        }
    }
}

impl Values {
    /// Every value with its name and unit.
    pub(super) fn rows(&self) -> Vec<(&'static str, &'static str, f64)> {
        let [l1, l2, llc, dram] = self.latency;
        let [small, middle, large] = self.copy;
        vec![
            ("clock", "GHz", self.ghz),
            ("short chains of instructions, the receiver's core", "ns", self.core_ns[0][1]),
            ("short chains of instructions, the NIC's core", "ns", self.core_ns[1][1]),
            ("load from L1", "ns", l1),
            ("load from L2", "ns", l2),
            ("load from LLC", "ns", llc),
            ("load from DRAM", "ns", dram),
            ("ping-pong on one line", "ns", self.ping_pong[0]),
            ("ping-pong on two lines", "ns", self.ping_pong[1]),
            ("load from the other core", "ns", self.transfer),
            ("the same in a stream, loads at random", "ns", self.other.load_scattered),
            ("frames read in a stream, a line", "ns", self.other.load_sequential),
            ("the same in a stream, stores at random", "ns", self.other.store_scattered),
            ("frames copied in a stream, a line", "ns", self.other.store_sequential),
            ("the same while it stores others, loads at random", "ns", self.exchanged.load_scattered),
            (
                "the wait for a line of frames read while it stores others",
                "ns",
                self.exchanged.load_sequential,
            ),
            ("a line stored that the other has read, at random", "ns", self.exchanged.store_scattered),
            ("the wait for a line of frames copied that it has read", "ns", self.exchanged.store_sequential),
            ("from its L1 while it stores others, loads at random", "ns", self.exchanged_l1.load_scattered),
            ("the wait for a line of frames read from its L1", "ns", self.exchanged_l1.load_sequential),
            ("a line stored that its L1 has, at random", "ns", self.exchanged_l1.store_scattered),
            (
                "the wait for a line of frames copied that its L1 has",
                "ns",
                self.exchanged_l1.store_sequential,
            ),
            ("a line stored for the other, which takes it at once", "ns", self.taken),
            ("LLC line of a stream, loads at random", "ns", self.llc.load_scattered),
            ("the wait for a line of frames read from the LLC", "ns", self.llc.load_sequential),
            ("LLC line of a stream, stores at random", "ns", self.llc.store_scattered),
            ("the wait for a line of frames copied in the LLC", "ns", self.llc.store_sequential),
            ("addition to a shared word", "ns", self.shared_add),
            ("swap of an own word, both CPUs", "ns", self.own_swap),
            ("copy of 16 KiB", "GB/s", small),
            ("copy of 4 MiB", "GB/s", middle),
            ("copy of 128 MiB", "GB/s", large),
            ("line of a frame copied in L1, the NIC's CPU", "ns", self.put_line),
            ("line of a frame read in L1, the receiver's", "ns", self.read_line),
            ("ring word, in L1, both CPUs", "ns", self.operation),
            ("buffer taken and given back, the receiver's", "ns", self.buffer),
            ("frame that comes in from a stock, the NIC's", "ns", self.classify),
            ("frame received, read and freed in L1, the receiver's", "ns", self.frame),
        ]
    }

    /// The median of each value.
    pub(super) fn median(rounds: &[&Values]) -> Values {
        let mid = |of: &dyn Fn(&Values) -> f64| median(rounds.iter().map(|v| of(v)).collect());
        Values {
            ghz: mid(&|v| v.ghz),
            core_ns: std::array::from_fn(|cpu| std::array::from_fn(|i| mid(&|v| v.core_ns[cpu][i]))),
            latency: std::array::from_fn(|i| mid(&|v| v.latency[i])),
            ping_pong: std::array::from_fn(|i| mid(&|v| v.ping_pong[i])),
            transfer: mid(&|v| v.transfer),
            other: Streams::median(|of| mid(&|v| of(&v.other))),
            exchanged: Streams::median(|of| mid(&|v| of(&v.exchanged))),
            exchanged_l1: Streams::median(|of| mid(&|v| of(&v.exchanged_l1))),
            taken: mid(&|v| v.taken),
            llc: Streams::median(|of| mid(&|v| of(&v.llc))),
            shared_add: mid(&|v| v.shared_add),
            own_swap: mid(&|v| v.own_swap),
            copy: std::array::from_fn(|i| mid(&|v| v.copy[i])),
            put_line: mid(&|v| v.put_line),
            read_line: mid(&|v| v.read_line),
            operation: mid(&|v| v.operation),
            buffer: mid(&|v| v.buffer),
            classify: mid(&|v| v.classify),
            frame: mid(&|v| v.frame),
        }
    }
}
