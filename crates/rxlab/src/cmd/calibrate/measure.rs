//! The rounds: each measures all primitives, and those of the most frequent placement count.

use super::bed::{self, Cpus};
use super::lines::{Lines, Within};
use super::pass::{Order, Pass, Pool};
use super::values::{Streams, Values};
use super::{copy, latency, machine, work};
use crate::cpus::limit::{self, Distance, pin};
use crate::fail::Fail;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Where the two CPUs may sit.
const PLACES: [Distance; 3] = [Distance::Siblings, Distance::Near, Distance::Far];

/// All that was measured.
pub(super) struct Measured {
    pub placed: Distance,
    /// Rounds by placement, in the order of [`PLACES`]; those that moved are in none.
    pub rounds: [usize; 3],
    pub moved: usize,
    /// Rounds of `placed`, and their medians.
    pub kept: Vec<Values>,
    pub values: Values,
    pub large_pages: bool,
}

/// Measures all primitives in so many rounds.
///
/// # Errors
/// No memory, no second thread, or CPUs that moved in every round.
pub(super) fn measure(cpus: Cpus, sizes: machine::Sizes, pool: Pool, rounds: u32) -> Result<Measured, Fail> {
    let bar = bar::rounds(u64::from(rounds), "measuring");
    pin(cpus.here)?;
    let sets = latency::Sets::new(sizes.l2, sizes.llc)?;
    let (mut walks, stream) = (sets.walks()?, sets.stream(pool)?);
    let (region, large) = bed::region(4 << 20)?;
    let lines = Lines::new(&region, cpus, pool)?;
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

/// Rounds by placement.
pub(super) fn counts(measured: &Measured) -> serde_json::Value {
    let mut counts: serde_json::Map<_, _> =
        PLACES.iter().zip(measured.rounds).map(|(p, n)| (p.name().to_owned(), n.into())).collect();
    counts.insert("moved".into(), measured.moved.into());
    counts.into()
}

/// Medians, and how far apart the rounds were.
pub(super) fn report(measured: &Measured) -> String {
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
