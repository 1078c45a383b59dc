//! What the samples of `bench live` come to: medians and spreads, near and far apart, and ratios within a round.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cmd::bench::peer::{App, Case, Kind, WORK};
use crate::cmd::bench::sample::Sample;
use crate::cpus::limit::{Distance, Limit, core_range};
use crate::cpus::median;
use crate::show::out;
use crate::show::table::{Column, Table, num, number, words};

/// Samples as they come.
pub(crate) struct Tally {
    /// What is measured.
    pub cases: Vec<Case>,
    /// By case and distance: the round and its sample.
    kept: BTreeMap<(usize, Distance), Vec<(u32, Sample)>>,
    /// Samples of each case during which the CPUs moved.
    moved: Vec<u32>,
}

/// Everything that was found.
#[derive(Serialize)]
pub(crate) struct Report {
    /// Samples during which the CPUs moved; they count nowhere.
    moved: u32,
    /// The pools' buffers were in no order.
    mixed: bool,
    rows: Vec<Row>,
}

/// A case at one distance.
#[derive(Serialize)]
struct Row {
    kind: Kind,
    peer: &'static str,
    size: u16,
    burst: u16,
    /// Receiving lcores.
    cores: u16,
    /// What is done with the frames whose cycles are counted.
    app: App,
    distance: Distance,
    /// Mpps, ns, or TSC cycles per frame: the median, the lowest and the highest.
    median: f64,
    lowest: f64,
    highest: f64,
    /// Medians of the tails of round trips, ns.
    p99: Option<f64>,
    p999: Option<f64>,
    /// What it is compared with, and how many lcores receive there.
    base: (&'static str, u16),
    /// Against that in the same round and distance: the median of the ratios.
    ratio: Option<f64>,
    /// The machine beside the samples: medians.
    ping_pong_ns: f64,
    two_lines_ns: f64,
    mlines: f64,
    core_ns: [f64; 2],
    /// The least and the most of either core's.
    core_ns_range: [[f64; 2]; 2],
    /// Payload lines against the lines that stream; a round trip against the ping-pong.
    of_limit: Option<f64>,
    /// Samples of this case that do not count.
    moved: u32,
    /// Frames that did not arrive, of all samples; one way only with `--check`.
    lost: u64,
    /// Claims that failed, percent: the median.
    failed_claims_pct: Option<f64>,
    /// Each round's figure.
    samples: BTreeMap<u32, f64>,
}

impl Tally {
    /// Nothing yet.
    pub(crate) fn new(cases: Vec<Case>) -> Tally {
        let moved = vec![0; cases.len()];
        Tally { cases, kept: BTreeMap::new(), moved }
    }

    /// Takes a sample of case number `case`.
    pub(crate) fn add(&mut self, case: usize, round: u32, sample: Sample) {
        match sample.distance() {
            Some(distance) => self.kept.entry((case, distance)).or_default().push((round, sample)),
            None => self.moved[case] += 1,
        }
    }

    /// What it comes to.
    pub(crate) fn report(&self, mixed: bool) -> Report {
        let rows = self.kept.iter().map(|(&(case, distance), samples)| self.row(case, distance, samples));
        Report { moved: self.moved.iter().sum(), mixed, rows: rows.collect() }
    }

    fn row(&self, at: usize, distance: Distance, samples: &[(u32, Sample)]) -> Row {
        let case = &self.cases[at];
        let values: BTreeMap<u32, f64> = samples.iter().map(|(round, s)| (*round, s.figure.value)).collect();
        let over = |of: fn(&Sample) -> f64| median(samples.iter().map(|(_, s)| of(s)).collect());
        let some = |of: fn(&Sample) -> Option<f64>| {
            let all: Vec<f64> = samples.iter().filter_map(|(_, s)| of(s)).collect();
            (!all.is_empty()).then(|| median(all))
        };
        let of_limit = samples.iter().filter_map(|(_, s)| of_limit(case, s)).collect::<Vec<_>>();
        Row {
            kind: case.kind,
            peer: case.peer.name,
            size: case.size,
            burst: case.burst,
            cores: case.cores,
            app: case.app,
            distance,
            base: case.base(),
            median: median(values.values().copied().collect()),
            lowest: values.values().copied().fold(f64::INFINITY, f64::min),
            highest: values.values().copied().fold(0.0, f64::max),
            p99: some(|s| s.figure.p99),
            p999: some(|s| s.figure.p999),
            ratio: self.ratio(case, distance, &values),
            ping_pong_ns: over(|s| mean(s, |limit| limit.ping_pong_ns)),
            two_lines_ns: over(|s| mean(s, |limit| limit.two_lines_ns)),
            mlines: over(|s| mean(s, |limit| limit.mlines)),
            core_ns: [
                over(|s| mean(s, |limit| limit.core_ns[0])),
                over(|s| mean(s, |limit| limit.core_ns[1])),
            ],
            core_ns_range: core_range(samples.iter().flat_map(|(_, s)| [s.before.core_ns, s.after.core_ns])),
            of_limit: (!of_limit.is_empty()).then(|| median(of_limit)),
            moved: self.moved[at],
            lost: samples.iter().map(|(_, s)| s.lost).sum(),
            failed_claims_pct: some(|s| s.failed_claims_pct),
            samples: values,
        }
    }

    /// Round by round against what this kind is compared with; None where no round has both.
    fn ratio(&self, case: &Case, distance: Distance, values: &BTreeMap<u32, f64>) -> Option<f64> {
        let alike = |c: &Case| (c.kind, c.size, c.burst, c.app);
        let is_base = |c: &Case| (c.peer.name, c.cores) == case.base() && alike(c) == alike(case);
        let base = self.cases.iter().position(is_base)?;
        let base = self.kept.get(&(base, distance))?;
        let ratios = base.iter().filter_map(|(round, b)| Some(values.get(round)? / b.figure.value));
        let ratios: Vec<f64> = ratios.collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }
}

fn mean(sample: &Sample, of: fn(Limit) -> f64) -> f64 {
    f64::midpoint(of(sample.before), of(sample.after))
}

fn of_limit(case: &Case, sample: &Sample) -> Option<f64> {
    match case.kind {
        Kind::Stream => {
            let lines = f64::from(case.size.div_ceil(64));
            Some(sample.figure.value * lines / mean(sample, |limit| limit.mlines))
        }
        Kind::Rtt => Some(sample.figure.value / mean(sample, |limit| limit.ping_pong_ns)),
        Kind::Loop | Kind::Cycles | Kind::Share => None,
    }
}

impl Report {
    /// A table for each kind.
    pub(crate) fn text(&self) -> String {
        let kinds = [Kind::Stream, Kind::Loop, Kind::Rtt, Kind::Cycles, Kind::Share];
        let mut text = kinds.iter().filter_map(|&kind| self.table(kind)).collect::<String>();
        let order = if self.mixed { "in no order" } else { "one behind the other, as in a new pool" };
        text += &format!("Buffers: {order}. {} samples left out: the CPUs moved meanwhile\n", self.moved);
        text
    }

    fn table(&self, kind: Kind) -> Option<String> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.kind == kind).collect();
        rows.first()?;
        let mut table = Table::new(&columns(kind));
        let mut sorted = rows.clone();
        // The order of peers is that of the cases; the sort is stable.
        sorted.sort_by_key(|row| (row.distance, row.size, row.burst, row.app, row.cores));
        table.rows = sorted.iter().map(|row| row.cells()).collect();
        Some(format!("{}\n{}\n", title(kind), table.text(out::colour())))
    }
}

fn title(kind: Kind) -> String {
    match kind {
        Kind::Stream => "One way: written and sent by one CPU, received and read by the other".into(),
        Kind::Loop => "There and back, 256 frames in flight".into(),
        Kind::Rtt => "There and back, one frame in flight".into(),
        Kind::Cycles => "Full bursts on filled rings: received, or received, forwarded and sent".into(),
        Kind::Share => format!(
            "A full queue emptied by one and two lcores, the NIC at rest, {WORK} cycles of application a frame"
        ),
    }
}

fn columns(kind: Kind) -> Vec<Column> {
    let unit = match kind {
        Kind::Stream | Kind::Loop | Kind::Share => "Mpps",
        Kind::Rtt => "ns",
        Kind::Cycles => "cycles/frame",
    };
    let mut columns = vec![words("distance"), number("frame", "B")];
    match kind {
        Kind::Stream | Kind::Loop => columns.push(number("burst", "")),
        Kind::Cycles => columns.extend([number("burst", ""), words("doing"), number("lcores", "")]),
        Kind::Share => columns.push(number("lcores", "")),
        Kind::Rtt => {}
    }
    columns.extend([words("over"), number("median", unit), number("lowest..highest", unit)]);
    if kind == Kind::Rtt {
        columns.extend([number("p99", "ns"), number("p99.9", "ns")]);
    }
    columns.extend([number("times", ""), words("that of"), number("samples", ""), number("moved", "")]);
    if !counts_cycles(kind) {
        columns.push(number("lost", "frames"));
    }
    columns.push(number("ping-pong", "ns"));
    if kind == Kind::Rtt {
        columns.push(number("of two lines", "ns"));
    }
    columns.extend([number("stream", "M lines/s"), number("cores", "ns, ns")]);
    match kind {
        Kind::Stream => columns.push(number("of stream", "%")),
        Kind::Rtt => columns.push(number("ping-pongs", "")),
        Kind::Share => columns.push(number("failed claims", "%")),
        Kind::Loop | Kind::Cycles => {}
    }
    columns
}

/// Rings are filled beforehand: nothing is under way that could be lost.
fn counts_cycles(kind: Kind) -> bool {
    matches!(kind, Kind::Cycles | Kind::Share)
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let maybe = |v: Option<f64>| v.map_or("-".into(), num);
        let mut cells = vec![self.distance.name().into(), self.size.to_string()];
        match self.kind {
            Kind::Stream | Kind::Loop => cells.push(self.burst.to_string()),
            Kind::Cycles => {
                cells.extend([self.burst.to_string(), self.app.name().into(), self.cores.to_string()]);
            }
            Kind::Share => cells.push(self.cores.to_string()),
            Kind::Rtt => {}
        }
        cells.extend([self.peer.into(), num(self.median)]);
        cells.push(format!("{}..{}", num(self.lowest), num(self.highest)));
        if self.kind == Kind::Rtt {
            cells.extend([maybe(self.p99), maybe(self.p999)]);
        }
        cells.extend([maybe(self.ratio), self.base.0.into()]);
        cells.extend([self.samples.len().to_string(), self.moved.to_string()]);
        if !counts_cycles(self.kind) {
            cells.push(self.lost.to_string());
        }
        cells.push(num(self.ping_pong_ns));
        if self.kind == Kind::Rtt {
            cells.push(num(self.two_lines_ns));
        }
        cells.push(num(self.mlines));
        cells.push(self.core_ns.map(num).join(", "));
        match self.kind {
            Kind::Stream => cells.push(maybe(self.of_limit.map(|share| share * 100.0))),
            Kind::Rtt => cells.push(maybe(self.of_limit)),
            Kind::Share => cells.push(maybe(self.failed_claims_pct)),
            Kind::Loop | Kind::Cycles => {}
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::bench::peer::PEERS;
    use crate::cmd::bench::sample::Figure;

    fn case(name: &str) -> Case {
        let peer = PEERS.iter().find(|p| p.name == name).unwrap();
        Case { kind: Kind::Stream, peer, size: 100, burst: 32, cores: 1, app: App::Bare }
    }

    fn sample(value: f64, before: Distance, after: Distance) -> Sample {
        let limit = |distance| Limit {
            ping_pong_ns: 100.0,
            two_lines_ns: 140.0,
            mlines: 200.0,
            distance,
            core_ns: [1.0; 2],
        };
        let figure = Figure { value, p99: None, p999: None };
        Sample { figure, lost: 1, failed_claims_pct: None, before: limit(before), after: limit(after) }
    }

    #[test]
    fn ratios_are_within_rounds_and_a_move_leaves_a_sample_out() {
        use Distance::{Far, Near};
        let mut tally = Tally::new(vec![case("memif"), case("rxbisect")]);
        for (round, memif, ours) in [(0, 10.0, 15.0), (1, 20.0, 50.0), (2, 10.0, 30.0)] {
            tally.add(0, round, sample(memif, Near, Near));
            tally.add(1, round, sample(ours, Near, Near));
        }
        tally.add(1, 3, sample(99.0, Near, Far));
        tally.add(1, 4, sample(7.0, Far, Far));
        let report = tally.report(false);
        assert_eq!(report.moved, 1);
        let row = |i: usize| (report.rows[i].peer, report.rows[i].distance, report.rows[i].ratio);
        assert_eq!(row(0), ("memif", Near, Some(1.0)));
        assert_eq!(row(1), ("rxbisect", Near, Some(2.5)));
        assert_eq!(row(2), ("rxbisect", Far, None));
        assert_eq!(
            (report.rows[1].median, report.rows[1].lowest, report.rows[1].highest),
            (30.0, 15.0, 50.0)
        );
        assert_eq!(report.rows[1].lost, 3);
        // Two lines a frame.
        assert_eq!(report.rows[1].of_limit, Some(0.3));
        assert!(report.text().contains("1 samples left out"));
        crate::show::schema::tests::holds("bench live", &report);
    }
}
