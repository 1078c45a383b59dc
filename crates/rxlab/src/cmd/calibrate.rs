//! `rxlab calibrate`: the primitives of this machine, measured, as a profile for the model. No ring and
//! no driver takes part.

mod bed;
mod copy;
mod latency;
mod lines;
mod machine;
mod pass;
mod predict;
mod work;

use std::path::PathBuf;

use clap::Args;
use model::profile::Server;
use serde::Serialize;

use crate::cpus::limit::{self, Distance, pin};
use crate::cpus::median;
use crate::fail::Fail;
use crate::show::file::Target;
use crate::show::out;
use crate::show::stamp;
use crate::show::table::{Table, num, number, words};
use bed::Cpus;
use lines::{Line, Within};
use pass::{Order, Pass, Pool};

/// Options of `calibrate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab calibrate --out here.toml --predict
  rxlab calibrate --from here.toml --predict --json
  rxlab profile show here.toml

Run nothing else meanwhile. A virtual machine's CPUs move: before, between and after the measurements of a round
lines that go from one to the other place it. A line that the other wrote comes to a sibling within 10 ns; cores
under one LLC take up to 280 ns (AMD: 130) for a round trip, those far apart more. Rounds of the most frequent placement
count, and values are their medians; a prediction holds for that placement. Work in L1 is timed while both CPUs
do it: siblings share a core's units. What only one of them does live counts as that one does it: a guest's CPU may share
its core with another guest. dpdk/bench/predictions.py compares with the driver, point by point.")]
pub(crate) struct Options {
    /// The CPU that receives and the one that plays the NIC [default: the first two]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    cpus: Vec<usize>,
    /// Rounds, each of all measurements
    #[arg(long, value_name = "N", default_value_t = 11)]
    rounds: u32,
    /// Frames in buffers in no order, as in programs that have run for long; a new pool has them one behind the other
    #[arg(long, conflicts_with = "from")]
    mixed: bool,
    /// Write the profile to this file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    out: Option<PathBuf>,
    /// Measure nothing: take this profile
    #[arg(long, value_name = "FILE", requires = "predict")]
    from: Option<String>,
    /// What the model predicts for each interface: a NIC on one core, a receiver on the other
    #[arg(long)]
    predict: bool,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Where the two CPUs may sit.
const PLACES: [Distance; 3] = [Distance::Siblings, Distance::Near, Distance::Far];

/// What one round measures, or the medians of some. Times are in ns, copies in GB/s.
#[derive(Clone, Debug, Default, Serialize)]
struct Values {
    /// Clock rate, GHz.
    ghz: f64,
    /// What [`limit::cores`] says of the receiver's CPU and the NIC's: the least and the most of a round's looks, ns.
    core_ns: [[f64; 2]; 2],
    /// A load from L1, L2, LLC, DRAM.
    latency: [f64; 4],
    /// Round trips on one line and on two.
    ping_pong: [f64; 2],
    /// A load of a line that the other core has written.
    transfer: f64,
    /// Lines that the other core has written, and lines in the LLC.
    other: Streams,
    /// Lines that this core loads while the other one stores, and the other way round, of the L2s.
    exchanged: Streams,
    /// The same of the L1s.
    exchanged_l1: Streams,
    /// From one line to the next that are stored for the other core, which takes them at once.
    taken: f64,
    llc: Streams,
    /// Between two atomic additions of either core to one word.
    shared_add: f64,
    own_swap: f64,
    /// Plain copies of 16 KiB, 4 MiB, 128 MiB.
    copy: [f64; 3],
    put_line: f64,
    read_line: f64,
    operation: f64,
    buffer: f64,
    classify: f64,
    frame: f64,
}

/// A line of a stream, ns.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Streams {
    load_scattered: f64,
    load_sequential: f64,
    store_scattered: f64,
    store_sequential: f64,
}

impl Streams {
    /// Measures each.
    fn of(line: impl Fn(Pass, Order) -> Result<f64, Fail>) -> Result<Streams, Fail> {
        Ok(Streams {
            load_scattered: line(Pass::Load, Order::Scattered)?,
            load_sequential: line(Pass::Load, Order::Sequential)?,
            store_scattered: line(Pass::Store, Order::Scattered)?,
            store_sequential: line(Pass::Store, Order::Sequential)?,
        })
    }

    /// Of loads and stores, at random and in frames.
    fn both(at_random: [Line; 2], frames: [Line; 2]) -> Streams {
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
    fn rows(&self) -> Vec<(&'static str, &'static str, f64)> {
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
    fn median(rounds: &[&Values]) -> Values {
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

/// All that was measured.
struct Measured {
    placed: Distance,
    /// Rounds by placement, in the order of [`PLACES`]; those that moved are in none.
    rounds: [usize; 3],
    moved: usize,
    /// Rounds of `placed`, and their medians.
    kept: Vec<Values>,
    values: Values,
    large_pages: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, or a system that does not let us measure.
pub(crate) fn run(options: Options) -> Result<(), Fail> {
    if let Some(name) = &options.from {
        let server = Server::by_name(name).map_err(|e| Fail::new(format!("--from: {e}")))?;
        let predictions = predict::all(&server)?;
        return if options.json {
            out::json(&serde_json::json!({"profile": server.name, "predictions": predictions}))
        } else {
            out::print(&predict::table(&predictions).text(out::colour()))
        };
    }
    let target = Target::asked("--out", options.out.as_deref(), &[])?;
    if !(1..=1000).contains(&options.rounds) {
        return Err(Fail::new(format!("--rounds {}: allowed: 1 to 1000", options.rounds)));
    }
    let cpus = Cpus::new(&options.cpus)?;
    let sizes = machine::Sizes::of(cpus.here);
    let pool = if options.mixed { Pool::Mixed } else { Pool::New };
    let measured = measure(cpus, sizes, pool, options.rounds)?;
    let mixed = if options.mixed { ", a mixed pool" } else { "" };
    let origin = format!("{}, {}, {}{mixed}", stamp::now().date(), machine::class(), measured.placed.name());
    let server = machine::server(&measured.values, sizes, measured.placed, &origin)?;
    let text = machine::text(&server)?;
    let predictions = if options.predict { predict::all(&server) } else { Ok(Vec::new()) };
    let shown = predictions.and_then(|predictions| show(&options, &measured, &server, &predictions, &text));
    shown.and(target.map_or(Ok(()), |target| target.write(&text)))
}

fn show(
    options: &Options,
    measured: &Measured,
    server: &Server,
    predictions: &[predict::Prediction],
    text: &str,
) -> Result<(), Fail> {
    if options.json {
        return out::json(&serde_json::json!({
            "placement": measured.placed,
            "rounds": counts(measured),
            "mixed": options.mixed,
            "large_pages": measured.large_pages,
            "values": measured.values,
            "profile": server,
            "predictions": predictions,
        }));
    }
    let mut lines = report(measured);
    if options.predict {
        lines += &format!("\n{}", predict::table(predictions).text(out::colour()));
    }
    if options.out.is_none() && !options.predict {
        lines += &format!("\n{text}");
    }
    out::print(&lines)
}

fn measure(cpus: Cpus, sizes: machine::Sizes, pool: Pool, rounds: u32) -> Result<Measured, Fail> {
    let bar = out::rounds(u64::from(rounds), "measuring");
    pin(cpus.here)?;
    let sets = latency::Sets::new(sizes.l2, sizes.llc)?;
    let (mut walks, stream) = (sets.walks()?, sets.stream(pool)?);
    let (region, large) = bed::region(4 << 20)?;
    let lines = lines::Lines::new(&region, cpus, pool)?;
    let mut copies = copy::Copies::new();
    let mut work = [work::Work::new(&region)?, work::Work::new(&region)?];
    let mut m = region.view();
    let mut all: Vec<(Option<Distance>, Values)> = Vec::new();
    for _ in 0..rounds {
        let (mut places, mut cores) = (Vec::new(), Vec::new());
        let mut look = || {
            places.push(limit::place([cpus.here, cpus.there])?);
            cores.push(limit::cores([cpus.here, cpus.there])?);
            Ok::<_, Fail>(())
        };
        let mut v = Values::default();
        look()?;
        v.ghz = bed::ghz(&mut m);
        v.ping_pong = [lines.ping_pong(1)?, lines.ping_pong(2)?];
        v.transfer = lines.one_way(Pass::Walk, Order::Scattered)?;
        v.other = Streams::of(|what, order| lines.one_way(what, order))?;
        look()?;
        let frames = lines.exchanged(Within::L2, Order::Sequential)?;
        [v.read_line, v.put_line] = frames.map(|line| line.work);
        v.exchanged = Streams::both(lines.exchanged(Within::L2, Order::Scattered)?, frames);
        let exchanged = |order| lines.exchanged(Within::L1, order);
        v.exchanged_l1 = Streams::both(exchanged(Order::Scattered)?, exchanged(Order::Sequential)?);
        v.taken = lines.taken()?;
        look()?;
        v.llc = Streams::of(|what, order| Ok(stream.line(&mut region.view(), what, order)))?;
        for (latency, walk) in v.latency.iter_mut().zip(&mut walks) {
            *latency = walk.latency(&mut m);
        }
        look()?;
        v.shared_add = lines.shared_add()?;
        v.own_swap = mean(bed::alike(cpus, &region, &mut work, |w, m| w.own_swap(m))?);
        v.copy = copy::SIZES.map(|bytes| copies.gbytes(&mut m, bytes));
        look()?;
        v.operation = mean(bed::alike(cpus, &region, &mut work, |w, m| w.operation(m))?);
        look()?;
        [v.buffer, _] = bed::alike(cpus, &region, &mut work, |w, m| w.buffer(m))?;
        [_, v.classify] = bed::alike(cpus, &region, &mut work, |w, m| w.classify(m))?;
        [v.frame, _] = bed::alike(cpus, &region, &mut work, |w, m| w.frame(m))?;
        look()?;
        v.core_ns = limit::core_range(cores.into_iter());
        let stayed = places.iter().all(|p| *p == places[0]);
        all.push((stayed.then_some(places[0]), v));
        bar.inc(1);
    }
    bar.finish_and_clear();
    keep(all, large && sets.large_pages)
}

/// Of a value that both CPUs have.
fn mean([here, there]: [f64; 2]) -> f64 {
    f64::midpoint(here, there)
}

/// Rounds of the most frequent placement; the nearer one of equals.
fn keep(all: Vec<(Option<Distance>, Values)>, large_pages: bool) -> Result<Measured, Fail> {
    let rounds = PLACES.map(|p| all.iter().filter(|(placed, _)| *placed == Some(p)).count());
    let most = (0..PLACES.len()).rev().max_by_key(|i| rounds[*i]).unwrap_or_default();
    if rounds[most] == 0 {
        return Err(Fail::new("the CPUs moved in every round; allowed: more --rounds, on a quieter machine"));
    }
    let placed = PLACES[most];
    let moved = all.iter().filter(|(p, _)| p.is_none()).count();
    let kept: Vec<Values> = all.into_iter().filter(|(p, _)| *p == Some(placed)).map(|(_, v)| v).collect();
    let values = Values::median(&kept.iter().collect::<Vec<_>>());
    Ok(Measured { placed, rounds, moved, kept, values, large_pages })
}

fn counts(measured: &Measured) -> serde_json::Value {
    let mut counts: serde_json::Map<_, _> =
        PLACES.iter().zip(measured.rounds).map(|(p, n)| (p.name().to_owned(), n.into())).collect();
    counts.insert("moved".into(), measured.moved.into());
    counts.into()
}

/// Medians, and how far apart the rounds were.
fn report(measured: &Measured) -> String {
    let mut table = Table::new(&[
        words("primitive"),
        number("median", ""),
        words("unit"),
        number("lowest", ""),
        number("highest", ""),
    ]);
    let rounds: Vec<_> = measured.kept.iter().map(Values::rows).collect();
    for (i, (name, unit, value)) in measured.values.rows().into_iter().enumerate() {
        let range = |pick: fn(f64, f64) -> f64| rounds.iter().map(|r| r[i].2).reduce(pick).unwrap_or(value);
        table.rows.push(vec![
            name.into(),
            num(value),
            unit.into(),
            num(range(f64::min)),
            num(range(f64::max)),
        ]);
    }
    let placed: Vec<_> =
        PLACES.iter().zip(measured.rounds).map(|(p, n)| format!("{n} {}", p.name())).collect();
    let pages = if measured.large_pages { "2 MB pages" } else { "small pages: no 2 MB pages are free" };
    format!(
        "{}: {} rounds ({}, {} moved), {pages}\n\n{}",
        measured.placed.name(),
        measured.kept.len(),
        placed.join(", "),
        measured.moved,
        table.text(out::colour())
    )
}
