//! What was measured, as tables and as JSON.

use live::tables::{Beside, Change, Forwarded};
use serde::Serialize;

use crate::cmd::bench::flow::peers::{Peer, Peers};
use crate::cpus::median;
use crate::fail::Fail;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    /// Look-ups.
    pub(super) look_ups: Vec<LookUps>,
    /// Changes.
    pub(super) changes: Vec<Changes>,
    /// Forwarding beside changes.
    pub(super) beside: Vec<Besides>,
}

/// Look-ups in one table.
#[derive(Debug, Serialize)]
pub(crate) struct LookUps {
    rules: u32,
    /// Tables that are chained, over which the rules are spread.
    tables: u32,
    table: &'static str,
    /// Nanoseconds of a look-up: median, least and most of the rounds.
    ns: f64,
    range_ns: [f64; 2],
    /// How much longer than in our tables without counters: median over the rounds.
    against_flow: f64,
    /// Bytes of a rule.
    bytes_of_rule: f64,
}

/// Changes of one kind.
#[derive(Debug, Serialize)]
pub(crate) struct Changes {
    rules: u32,
    /// Changes of a batch.
    batch: u32,
    change: &'static str,
    /// Millions a second: median, least and most of the rounds.
    millions_s: f64,
    range_millions_s: [f64; 2],
    /// Against removal with insertion: median over the rounds.
    against_remove_insert: f64,
}

/// Forwarding beside changes of one kind.
#[derive(Debug, Serialize)]
pub(crate) struct Besides {
    rules: u32,
    beside: String,
    /// Millions of rules inserted a second.
    inserted_millions_s: f64,
    /// Millions of frames a second, as fast as they are taken.
    mpps: f64,
    /// Against nothing beside: median over the rounds.
    against_nothing: f64,
    /// Latencies at 70% of the load: half, 99.9 of a hundred, the longest, microseconds; medians of the rounds.
    p50_us: f64,
    p999_us: f64,
    longest_us: f64,
    /// The 99.9th percentile against that with nothing beside: median over the rounds.
    p999_against_nothing: f64,
}

/// Nanoseconds of look-ups, by table and round.
pub(super) struct Samples {
    /// Rules and tables.
    shape: [u32; 2],
    bytes: [u64; 2],
    ours: [Vec<f64>; 2],
    theirs: [Vec<f64>; Peer::ALL.len()],
    rounds: usize,
}

/// Our tables, as they are shown.
const OURS: [&str; 2] = ["flow", "flow, counted"];

impl Samples {
    /// Of `shape`, rules and tables.
    pub(super) fn new(shape: [u32; 2], bytes: [u64; 2]) -> Samples {
        Samples { shape, bytes, ours: Default::default(), theirs: Default::default(), rounds: 0 }
    }

    /// # Errors
    /// A look-up did not find its rule.
    pub(super) fn ours(&mut self, at: usize, ns: f64, all_found: bool) -> Result<(), Fail> {
        self.ours[at].push(ns);
        found(OURS[at], all_found)
    }

    /// # Errors
    /// A look-up did not find its rule.
    pub(super) fn theirs(&mut self, peer: Peer, ns: f64, all_found: bool) -> Result<(), Fail> {
        self.theirs[peer as usize].push(ns);
        found(peer.name(), all_found)
    }

    pub(super) fn round(&mut self) {
        self.rounds += 1;
    }

    pub(super) fn rows(&self, peers: &Peers) -> Vec<LookUps> {
        let rules = f64::from(self.shape[0]);
        let ours = OURS.iter().zip(&self.ours).zip(self.bytes);
        let ours = ours.map(|((table, ns), bytes)| self.row(table, ns, bytes as f64 / rules));
        let theirs = Peer::ALL.into_iter().filter_map(|peer| {
            let [_, bytes] = peers.filled(peer, self.shape[0])?;
            Some(self.row(peer.name(), &self.theirs[peer as usize], bytes))
        });
        ours.chain(theirs).collect()
    }

    fn row(&self, table: &'static str, ns: &[f64], bytes_of_rule: f64) -> LookUps {
        let against_flow = median(ns.iter().zip(&self.ours[0]).map(|(ns, ours)| ns / ours).collect());
        let ([rules, tables], range_ns) = (self.shape, range(ns));
        LookUps { rules, tables, table, ns: median(ns.to_vec()), range_ns, against_flow, bytes_of_rule }
    }
}

fn found(table: &str, all: bool) -> Result<(), Fail> {
    if all { Ok(()) } else { Err(Fail::new(format!("{table}: a look-up did not find its rule"))) }
}

fn range(values: &[f64]) -> [f64; 2] {
    values.iter().fold([f64::INFINITY, 0.0], |[lo, hi], v| [lo.min(*v), hi.max(*v)])
}

/// The rows of changes with so many rules, in batches of so many, whose rates by kind and round are given, a second.
pub(super) fn changes([rules, batch]: [u32; 2], rates: [Vec<f64>; 4]) -> Vec<Changes> {
    let last = rates[Change::RemoveInsert as usize].clone();
    let names = ["insert", "update actions", "update match", "remove and insert"];
    let rows = names.into_iter().zip(rates).map(|(change, rates)| {
        let against = rates.iter().zip(&last).map(|(rate, other)| rate / other).collect();
        let millions: Vec<f64> = rates.iter().map(|rate| rate / 1e6).collect();
        let range_millions_s = range(&millions);
        let (millions_s, against_remove_insert) = (median(millions), median(against));
        Changes { rules, batch, change, millions_s, range_millions_s, against_remove_insert }
    });
    rows.collect()
}

/// The rows of forwarding, whose runs by kind and round are given: as fast as it goes, and at the load of latencies.
pub(super) fn beside(rules: u32, whats: &[Beside], runs: &[Vec<[Forwarded; 2]>]) -> Vec<Besides> {
    let rows = whats.iter().zip(runs).map(|(what, these)| {
        let over = |f: &dyn Fn(&[Forwarded; 2]) -> f64| median(these.iter().map(f).collect());
        let against = |f: &dyn Fn(&[Forwarded; 2]) -> f64| {
            median(these.iter().zip(&runs[0]).map(|(run, nothing)| f(run) / f(nothing)).collect())
        };
        Besides {
            rules,
            beside: match *what {
                Beside::Nothing => "nothing".into(),
                Beside::Rate(rate) => format!("{}k/s, other core", rate / 1000),
                Beside::Same(rate) => format!("{}k/s, same core", rate / 1000),
                Beside::Batch(n) => format!("batch of {}k", n / 1000),
            },
            inserted_millions_s: over(&|run| run[0].inserted / 1e6),
            mpps: over(&|run| run[0].mpps),
            against_nothing: against(&|run| run[0].mpps),
            p50_us: over(&|run| run[1].latency_ns[0] / 1e3),
            p999_us: over(&|run| run[1].latency_ns[1] / 1e3),
            longest_us: over(&|run| run[1].latency_ns[2] / 1e3),
            p999_against_nothing: against(&|run| run[1].latency_ns[1]),
        }
    });
    rows.collect()
}

impl Report {
    /// As tables.
    pub(super) fn text(&self) -> String {
        let tables = [self.look_up_table(), self.change_table(), self.beside_table()];
        let shown = tables.iter().filter(|table| !table.rows.is_empty());
        shown.map(|table| table.text(out::colour())).collect::<Vec<_>>().join("\n")
    }

    fn look_up_table(&self) -> Table {
        let mut table = Table::new(&[
            number("rules", ""),
            number("tables", ""),
            words("whose"),
            number("look-up", "ns"),
            number("lowest..highest", "ns"),
            number("look-ups", "M/s"),
            number("against flow", ""),
            number("rule", "B"),
        ]);
        for row in &self.look_ups {
            table.rows.push(vec![
                row.rules.to_string(),
                row.tables.to_string(),
                row.table.into(),
                num(row.ns),
                format!("{}..{}", num(row.range_ns[0]), num(row.range_ns[1])),
                num(1e3 / row.ns),
                num(row.against_flow),
                num(row.bytes_of_rule),
            ]);
        }
        table
    }

    fn change_table(&self) -> Table {
        let mut table = Table::new(&[
            number("rules", ""),
            number("batch", ""),
            words("change"),
            number("changes", "M/s"),
            number("lowest..highest", "M/s"),
            number("against remove and insert", ""),
        ]);
        for row in &self.changes {
            let [lo, hi] = row.range_millions_s;
            table.rows.push(vec![
                row.rules.to_string(),
                row.batch.to_string(),
                row.change.into(),
                num(row.millions_s),
                format!("{}..{}", num(lo), num(hi)),
                num(row.against_remove_insert),
            ]);
        }
        table
    }

    fn beside_table(&self) -> Table {
        let mut table = Table::new(&[
            number("rules", ""),
            words("beside"),
            number("inserted", "M/s"),
            number("forwarded", "Mpps"),
            number("against nothing", ""),
            number("p50", "us"),
            number("p99.9", "us"),
            number("longest", "us"),
            number("p99.9 against nothing", ""),
        ]);
        for row in &self.beside {
            table.rows.push(vec![
                row.rules.to_string(),
                row.beside.clone(),
                num(row.inserted_millions_s),
                num(row.mpps),
                num(row.against_nothing),
                num(row.p50_us),
                num(row.p999_us),
                num(row.longest_us),
                num(row.p999_against_nothing),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_the_schema_says() {
        let forwarded = Forwarded { mpps: 2.0, latency_ns: [1e3, 2e3, 3e3], missed: 0, inserted: 5e5 };
        let whats = [Beside::Nothing, Beside::Rate(500_000), Beside::Same(1000), Beside::Batch(100_000)];
        let runs = vec![vec![[forwarded; 2]]; whats.len()];
        let mut samples = Samples::new([100, 1], [12_800, 12_800]);
        samples.ours(0, 10.0, true).unwrap();
        samples.ours(1, 12.0, true).unwrap();
        let look_ups =
            OURS.iter().zip(&samples.ours).map(|(table, ns)| samples.row(table, ns, 128.0)).collect();
        let changes = changes([100, 64], [vec![4e6], vec![6e6], vec![2e6], vec![1e6]]);
        assert_eq!(changes[2].against_remove_insert, 2.0);
        let report = Report { look_ups, changes, beside: beside(100, &whats, &runs) };
        assert_eq!(report.look_ups[1].against_flow, 1.2);
        crate::show::schema::tests::holds("bench flow", &report);
        assert!(report.text().contains("500k/s, other core"));
        assert!(samples.ours(0, 1.0, false).is_err());
    }
}
