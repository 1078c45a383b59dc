//! `rxlab advise flows`: whether rules in a card's tables pay for themselves, where they belong, and which core changes
//! them.
//!
//! It asks the same model of the card's classifier that runs with `compare --tables` do: what a look-up takes, and what
//! operations take of a core.

use clap::Args;
use model::classifier::{Kind, LookUp, Operations, Place};
use model::profile::{Server, Tables};
use serde::Serialize;

use crate::fail::Fail;
use crate::lab::operations;
use crate::show::out;
use crate::show::table::{Table, num, number, words};
use crate::show::text::wrapped;

/// Bits on the wire beside a frame: FCS, preamble, gap.
const WIRE_BITS: f64 = 8.0 * 24.0;
/// Chains of tables that are looked at.
const CHAINS: [u32; 5] = [1, 2, 4, 8, 16];
/// A part of forwarding, or of look-ups' rate, that nobody misses.
const SLACK: f64 = 0.05;
/// Of a core that does nothing else, the part that operations may take.
const BUSY: f64 = 0.9;

/// Options of `advise flows`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab advise flows --rules 1000000
  rxlab advise flows --rate 36000 --cores 4
  rxlab advise flows --rules 50000 --rate 4000 --gbps 60 --frame 600 --look-up-cycles 120 --json

--rate is of new connections: a rule is inserted for each, and one removed. A Hadoop cluster has
some 4000 a second, a cache 36000, a web server 338000 (NIC paper, section 3.1). Rules match IPv4
5-tuples and send to a queue.")]
pub(crate) struct Flows {
    /// Server profile with the tables of its NIC
    #[arg(long, value_name = "NAME", default_value = "nic-testbed-cx5")]
    server: String,
    /// Rules that there are
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    rules: u64,
    /// New connections a second
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=100_000_000))]
    rate: u64,
    /// Cores that forward
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    cores: u32,
    /// Load, Gbps of frames on the wire; default: the port's rate
    #[arg(long, value_name = "GBPS")]
    gbps: Option<f64>,
    /// Bytes of a frame, without FCS
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(60..=9000))]
    frame: u32,
    /// Flows that frames belong to
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    flows: u64,
    /// Cycles of a core that the tables save for each frame, such as those of its look-up in software
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    look_up_cycles: f64,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What a place for the rules is like.
#[derive(Clone, Debug, Serialize)]
struct Row {
    /// `root`, or how many chained tables.
    tables: String,
    /// A look-up, ns, and the load that look-ups carry, Gbps.
    look_up_ns: f64,
    carries_gbps: f64,
    /// A connection: a rule more and one less, us of a core that does nothing else, and beside frames.
    connection_us: f64,
    beside_us: f64,
    /// Connections a second from which forwarding by so many cores is short of 5%, of half; the most that one core
    /// which does nothing else keeps up with.
    suffers_from: f64,
    halves_at: f64,
    core_carries: f64,
}

/// All that is told.
#[derive(Debug, Serialize)]
struct Advice {
    server: String,
    rules: u64,
    rate: u64,
    cores: u32,
    gbps: f64,
    frame: u32,
    places: Vec<Row>,
    /// The place to use; none where no place has room and carries the load.
    place: Option<String>,
    /// `receiving`, `own` or `none`: the core that changes rules.
    core: &'static str,
    /// Cycles that changes cost for each frame, and whether they are less than the tables save.
    cycles_of_frame: f64,
    pays: bool,
    /// Sentences.
    advice: Vec<String>,
}

/// Runs it.
///
/// # Errors
/// A value that is not allowed, or a server whose NIC has no tables.
pub(crate) fn run(options: &Flows) -> Result<(), Fail> {
    let advice = options.advice()?;
    if options.json { out::json(&advice) } else { out::print(&advice.text()) }
}

impl Flows {
    fn advice(&self) -> Result<Advice, Fail> {
        let (server, tables) = operations::with_tables(&self.server)?;
        let gbps = self.load(&server)?;
        if !(self.look_up_cycles.is_finite() && self.look_up_cycles > 0.0) {
            return Err(Fail::new(format!("--look-up-cycles {}: allowed: more than 0", self.look_up_cycles)));
        }
        let chains = CHAINS.map(Place::Chained);
        let room =
            |place: &Place| Operations::new(&tables, *place, Kind::CONNECTION).has_room(self.rules - 1);
        let places: Vec<Row> = [Place::Root]
            .into_iter()
            .chain(chains)
            .filter(room)
            .map(|place| self.row(&tables, place))
            .collect();
        let chosen = best(&places, gbps);
        let spent = chosen.map_or(0.0, |row| self.rate as f64 * row.connection_us / 1e6);
        let frames = gbps * 1e9 / (f64::from(self.frame) * 8.0 + WIRE_BITS);
        let core = chosen.map_or("none", |row| self.core(row));
        let cycles_of_frame = match core {
            "receiving" => chosen.map_or(0.0, |row| self.lost(row)) * f64::from(self.cores),
            _ => spent,
        } * server.ghz
            * 1e9
            / frames;
        let pays = chosen.is_some() && core != "none" && cycles_of_frame < self.look_up_cycles;
        let mut advice = Advice {
            server: self.server.clone(),
            rules: self.rules,
            rate: self.rate,
            cores: self.cores,
            gbps,
            frame: self.frame,
            place: chosen.map(|row| row.tables.clone()),
            places: places.clone(),
            core,
            cycles_of_frame,
            pays,
            advice: Vec::new(),
        };
        advice.advice = self.sentences(&advice, chosen);
        Ok(advice)
    }

    fn load(&self, server: &Server) -> Result<f64, Fail> {
        let port = server.nic.port_gbps;
        match self.gbps {
            Some(gbps) if !(gbps > 0.0 && gbps <= port) => {
                Err(Fail::new(format!("--gbps {gbps}: allowed: more than 0, up to the port's {port}")))
            }
            asked => Ok(asked.unwrap_or(port)),
        }
    }

    fn row(&self, tables: &Tables, place: Place) -> Row {
        let operations = Operations::new(tables, place, Kind::CONNECTION);
        let look_up_ns = LookUp::new(tables, place, self.flows).time(self.rules).0 as f64 / 1e3;
        let connection_us = match place {
            // What a deletion takes there is not published.
            Place::Root => operations.insert(self.rules.saturating_sub(1).max(1)),
            Place::Chained(_) => operations.replace(self.rules),
        };
        let beside_us = connection_us * operations.beside();
        let share = |part: f64| part / (1.0 - part) * f64::from(self.cores) * 1e6 / beside_us;
        Row {
            tables: match place {
                Place::Root => "root".into(),
                Place::Chained(n) => n.to_string(),
            },
            look_up_ns,
            carries_gbps: (f64::from(self.frame) * 8.0 + WIRE_BITS) / look_up_ns,
            connection_us,
            beside_us,
            suffers_from: share(SLACK),
            halves_at: share(0.5),
            core_carries: BUSY * 1e6 / connection_us,
        }
    }

    /// Who changes the rules.
    fn core(&self, row: &Row) -> &'static str {
        match self.rate as f64 {
            rate if rate <= row.suffers_from => "receiving",
            rate if rate <= row.core_carries => "own",
            _ => "none",
        }
    }

    fn sentences(&self, advice: &Advice, chosen: Option<&Row>) -> Vec<String> {
        let mut all = Vec::new();
        let Some(row) = chosen else {
            let most = advice.places.iter().map(|row| row.carries_gbps).fold(0.0, f64::max);
            all.push(format!(
                "Do not offload: with {} rules look-ups carry {} Gbps of {} B frames at the most, and {} are asked for.",
                self.rules, num(most), self.frame, num(advice.gbps)
            ));
            return all;
        };
        let root = advice.places.iter().find(|row| row.tables == "root");
        all.push(place_sentence(row, root, advice.gbps));
        if self.rate == 0 {
            all.push(format!(
                "Rules that stay cost no core. Forwarding by {} is short of 5% from {} new connections a second on, \
                 if the cores that forward insert their rules.",
                cores(self.cores), num(row.suffers_from)
            ));
            return all;
        }
        let percent = num(100.0 * self.lost(row));
        all.push(match advice.core {
            "receiving" => format!(
                "Let the cores that forward insert the rules of their connections: it takes {percent}% of them, {} us for \
                 each connection. 5% is at {} connections a second.",
                num(row.beside_us), num(row.suffers_from)
            ),
            "own" => format!(
                "Let a core of its own insert: it is busy {}%. Cores that forward would be short of {}%, for they do not \
                 poll while they insert.",
                num(self.rate as f64 * row.connection_us / 1e4),
                percent
            ),
            _ => format!(
                "Do not offload each connection: one core inserts {} a second at the most, and the cores that forward \
                 would be short of {percent}%. Offload long connections alone, at most {} a second.",
                num(row.core_carries), num(row.core_carries)
            ),
        });
        all.push(format!(
            "Insertions cost {} cycles for each frame, and the tables save some {}: {}.",
            num(advice.cycles_of_frame),
            num(self.look_up_cycles),
            if advice.pays { "it pays" } else { "it does not pay" }
        ));
        all.push(format!("Try it: {}", self.command(row, advice.core)));
        all
    }

    /// The part of forwarding that is lost if the cores that forward insert.
    fn lost(&self, row: &Row) -> f64 {
        let each = self.rate as f64 * row.beside_us / 1e6 / f64::from(self.cores);
        each / (1.0 + each)
    }

    /// A run that shows it.
    fn command(&self, row: &Row, core: &str) -> String {
        format!(
            "rxlab compare --server {} --cores {} --workload fixed:{} --tables {} --rules {} --rule-rate {} --rule-core {}",
            self.server,
            self.cores,
            self.frame,
            row.tables,
            self.rules,
            self.rate,
            if core == "own" { "other" } else { "same" }
        )
    }
}

fn cores(n: u32) -> String {
    if n == 1 { "one core".into() } else { format!("{n} cores") }
}

/// The place with room that carries the load, whose connections cost the least: the root table or one behind it, for
/// look-ups in a chain take longer with each table.
fn best(places: &[Row], gbps: f64) -> Option<&Row> {
    let short = |row: &&Row| matches!(row.tables.as_str(), "root" | "1");
    let can = |row: &&Row| row.carries_gbps >= (1.0 - SLACK) * gbps;
    places.iter().filter(short).filter(can).min_by(|a, b| a.connection_us.total_cmp(&b.connection_us))
}

fn place_sentence(row: &Row, root: Option<&Row>, gbps: f64) -> String {
    let why = match root {
        _ if row.tables == "root" => "it costs a core the least".to_string(),
        None => "the root table has no room".into(),
        Some(root) if root.carries_gbps < (1.0 - SLACK) * gbps => {
            format!("with these rules look-ups in the root table carry {} Gbps", num(root.carries_gbps))
        }
        Some(root) => {
            let times = num(root.connection_us / row.connection_us);
            format!(
                "an insertion into the root table goes through the firmware and takes {times} times as long"
            )
        }
    };
    let place = match row.tables.as_str() {
        "root" => "the root table".to_string(),
        "1" => "one table behind the root".into(),
        n => format!("{n} tables behind the root"),
    };
    format!(
        "Use {place}: look-ups carry {} Gbps; {why}. Each further table in the chain costs look-ups.",
        num(row.carries_gbps)
    )
}

impl Advice {
    fn text(&self) -> String {
        let mut table = Table::new(&[
            words("tables"),
            number("look-up", "ns"),
            number("carries", "Gbps"),
            number("connection", "us"),
            number("beside frames", "us"),
            number("forwarding -5% at", "/s"),
            number("-50% at", "/s"),
            number("own core up to", "/s"),
        ]);
        for row in &self.places {
            table.rows.push(vec![
                row.tables.clone(),
                num(row.look_up_ns),
                num(row.carries_gbps),
                num(row.connection_us),
                num(row.beside_us),
                num(row.suffers_from),
                num(row.halves_at),
                num(row.core_carries),
            ]);
        }
        let advice: String = self.advice.iter().map(|line| wrapped("", line)).collect();
        format!("{}\n{advice}", table.text(out::colour()))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flows: Flows,
    }

    fn advice(words: &[&str]) -> Advice {
        Line::parse_from([&["flows"], words].concat()).flows.advice().unwrap()
    }

    #[test]
    fn the_rates_of_the_paper_are_told_apart() {
        let [hadoop, cache, web] = ["4000", "36000", "338000"].map(|rate| advice(&["--rate", rate]));
        assert_eq!([hadoop.core, cache.core, web.core], ["receiving", "own", "none"]);
        assert_eq!([hadoop.pays, web.pays], [true, false]);
        for told in [&hadoop, &cache, &web] {
            assert_eq!(told.place.as_deref(), Some("1"), "IPv4 does not go through the firmware");
            crate::show::schema::tests::holds("advise flows", told);
        }
    }

    #[test]
    fn the_root_table_is_left_where_it_has_no_room_or_breaks_down() {
        let [small, cliff, large] = ["1000", "60000", "1000000"].map(|rules| advice(&["--rules", rules]));
        assert!(small.places[0].carries_gbps > 99.0 && cliff.places[0].carries_gbps < 1.0);
        assert_eq!(
            (large.places[0].tables.as_str(), large.place.as_deref()),
            ("1", Some("1")),
            "no room in the root"
        );
        let chained = |told: &Advice| told.places.iter().map(|row| row.carries_gbps).collect::<Vec<_>>();
        assert!(chained(&large).is_sorted_by(|a, b| a >= b), "each table costs look-ups");
    }

    #[test]
    fn small_frames_and_many_tables_are_not_carried() {
        let told = advice(&["--rules", "4000000", "--frame", "60"]);
        assert_eq!((told.place.as_deref(), told.pays), (None, false));
        assert!(told.advice[0].starts_with("Do not offload"));
    }

    #[test]
    fn values_that_are_not_allowed_are_named() {
        let refused = |words: &[&str]| {
            Line::parse_from([&["flows"], words].concat()).flows.advice().unwrap_err().to_string()
        };
        assert!(refused(&["--server", "corec-testbed"]).contains("no tables"));
        assert!(refused(&["--gbps", "200"]).contains("up to the port's 100"));
        assert!(refused(&["--look-up-cycles", "NaN"]).contains("--look-up-cycles"));
    }
}
