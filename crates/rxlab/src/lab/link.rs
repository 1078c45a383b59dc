//! A server's coherent link and its stores to a card, measured in the model as a program on the server would: what an
//! access takes, a word there and back, streams, stores past the caches.

mod measure;

use clap::Args;
use model::profile::Server;
use serde_json::{Map, Value, json};

use crate::fail::Fail;
use crate::lab::alone;
use crate::lab::measured::Measured;

pub(crate) use measure::{Case, Measure};

/// What is measured of which server.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Server profile: a name, or a file NAME.toml
    #[arg(long, visible_alias = "profile", value_name = "NAME", default_value = "icx")]
    pub server: String,
    /// What is measured: access, ping-pong, stream, writes, stores
    #[arg(long, value_name = "WHAT", default_value = "access")]
    measure: String,
    /// One of its cases; all without it
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Pairs of a host's and a NIC's core that stream [default: powers of two, and all cores]
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pairs: Vec<u32>,
    /// MiB that each pair streams; a quarter is left out at the beginning [default: 4]
    #[arg(long, value_name = "N")]
    mib: Option<u64>,
    /// Bytes that are written before each barrier [default: powers of two from 64 to 8192]
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    bytes: Vec<u32>,
    /// Stores to registers, each into a line of its own [default: 1, 8, 16 .. 64]
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    count: Vec<u32>,
}

/// One measurement: a case, and what is swept.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub case: &'static Case,
    /// Pairs, bytes, or stores, where one of these is swept.
    pub x: Option<u32>,
}

/// Options that are allowed.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// As it was asked for.
    name: String,
    server: Server,
    pub measure: Measure,
    mib: u64,
    pub points: Vec<Point>,
}

impl Options {
    /// Reads options as a command line has them: one point's.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Asked, Fail> {
        let asked = alone::parse::<Options>(words)?.ready()?;
        if asked.points.len() == 1 {
            return Ok(asked);
        }
        let swept =
            asked.measure.swept().map_or(String::new(), |option| format!(" and one value of --{option}"));
        Err(Fail::new(format!(
            "{} points of --measure {}; allowed at a point: one --case{swept}",
            asked.points.len(),
            asked.measure.name()
        )))
    }

    /// Holds the options against each other and against the server.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn ready(&self) -> Result<Asked, Fail> {
        let server = Server::by_name(&self.server).map_err(|e| Fail::new(format!("--server: {e}")))?;
        let measure = Measure::find(&self.measure)?;
        let swept = measure.swept();
        for (option, given) in [
            ("pairs", !self.pairs.is_empty()),
            ("bytes", !self.bytes.is_empty()),
            ("count", !self.count.is_empty()),
            ("mib", self.mib.is_some()),
        ] {
            let of = Measure::of_option(option);
            if given && measure != of {
                return Err(Fail::new(format!("--{option}: allowed with --measure {}", of.name())));
            }
        }
        let given = [&self.pairs, &self.bytes, &self.count].into_iter().find(|values| !values.is_empty());
        let values: Vec<Option<u32>> = match (swept, given) {
            (None, _) => vec![None],
            (Some(_), Some(given)) => given.iter().copied().map(Some).collect(),
            (Some(_), None) => measure.defaults(server.cores).into_iter().map(Some).collect(),
        };
        let cases = measure.cases_named(self.case.as_deref())?;
        let point = |case: &'static Case| values.iter().map(move |x| Point { case, x: *x });
        let points = cases.into_iter().flat_map(point).collect();
        Ok(Asked { name: self.server.clone(), server, measure, mib: self.mib.unwrap_or(4), points })
    }
}

impl Asked {
    /// The profile, as it was asked for.
    pub(crate) fn server(&self) -> &str {
        &self.name
    }

    /// Measures one of the points.
    ///
    /// # Errors
    /// What the server does not have.
    pub(crate) fn measure(&self, point: &Point) -> Result<Measured, Fail> {
        let fields = (point.case.run)(&self.server, point.x.unwrap_or_default(), self.mib).map_err(|e| {
            Fail::new(format!("--measure {} --case {}: {e}", self.measure.name(), point.case.name))
        })?;
        Ok(Measured { fields, reproduce: self.command(point) })
    }

    /// The only point's measurement, for a plan.
    ///
    /// # Errors
    /// As [`Asked::measure`].
    pub(crate) fn single(&self) -> Result<Measured, Fail> {
        let point = self.points.first().ok_or_else(|| Fail::new("no point; allowed: one"))?;
        self.measure(point)
    }

    fn command(&self, point: &Point) -> String {
        let (measure, case) = (self.measure.name(), point.case.name);
        let swept = self.measure.swept().zip(point.x).map_or(String::new(), |(o, x)| format!(" --{o} {x}"));
        let mib =
            if self.measure == Measure::Stream { format!(" --mib {}", self.mib) } else { String::new() };
        format!("rxlab link --server {} --measure {measure} --case {case}{swept}{mib}", self.name)
    }

    /// All as data; `found` are the points' measurements.
    pub(crate) fn data(&self, found: &[Measured]) -> Map<String, Value> {
        let point = |(point, found): (&Point, &Measured)| {
            let mut data = Map::from_iter([("case".to_string(), json!(point.case.name))]);
            data.extend(point.x.map(|x| ("x".to_string(), json!(x))));
            data.extend(found.data());
            Value::from(data)
        };
        let points: Vec<Value> = self.points.iter().zip(found).map(point).collect();
        let all = json!({"server": self.server.name, "measure": self.measure.name(), "points": points});
        all.as_object().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_string).collect()
    }

    fn points(line: &str) -> Vec<(&'static str, Option<u32>)> {
        let options: Options = alone::parse(&words(line)).unwrap();
        options.ready().unwrap().points.iter().map(|p| (p.case.name, p.x)).collect()
    }

    #[test]
    fn a_point_is_a_case_and_a_value() {
        assert_eq!(points("--measure stream --case caching").len(), 5, "1, 2, 4, 8, 16 pairs");
        let spr = points("--profile spr --measure stream --case caching");
        assert_eq!(spr.iter().map(|p| p.1.unwrap()).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 56]);
        let two = points("--measure writes --case mmio --bytes 64,128");
        assert_eq!(two, [("mmio", Some(64)), ("mmio", Some(128))]);
        assert!(points("").iter().all(|p| p.1.is_none()));
    }

    #[test]
    fn what_does_not_go_together_is_told_in_one_line() {
        for (line, told) in [
            ("--measure latency", "access, ping-pong, stream, writes, stores"),
            ("--case remote-l3", "remote-l2-rh"),
            ("--pairs 4", "--pairs: allowed with --measure stream"),
            ("--measure stores --mib 8", "--mib: allowed with --measure stream"),
            ("--server nowhere", "--server: unknown server"),
            ("--measure access", "allowed at a point: one --case"),
            ("--measure writes --case mmio", "one --case and one value of --bytes"),
        ] {
            let error = Options::parse(&words(line)).unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains('\n'), "{line}: {error}");
        }
        for (line, told) in [
            ("--measure stream --case read --pairs 17", "17 pairs; allowed: 1 to 16"),
            ("--measure stream --case read --pairs 1 --mib 1", "1 MiB a pair; allowed: 4 to 64"),
            ("--measure writes --case mmio --bytes 96", "96 B a barrier; allowed: "),
            ("--measure stores --case mmio --count 65", "65 stores; allowed: 1 to 64"),
            ("--server ddio-bench --case remote-l2-rh", ""),
        ] {
            let found = Options::parse(&words(line)).unwrap().single().map_err(|e| e.to_string());
            match found {
                Err(error) => assert!(!told.is_empty() && error.contains(told), "{line}: {error}"),
                Ok(found) => assert!(told.is_empty() && found.value("latency_ns") > 0.0, "{line}"),
            }
        }
    }

    #[test]
    fn a_command_finds_the_same_again() {
        for line in [
            "--case remote-l2-lh",
            "--measure stores --case mmio --count 25",
            "--measure ping-pong --case together-nic",
        ] {
            let found = Options::parse(&words(line)).unwrap().single().unwrap();
            let again = found.reproduce.strip_prefix("rxlab link ").unwrap();
            assert_eq!(
                Options::parse(&words(again)).unwrap().single().unwrap().fields,
                found.fields,
                "{line}"
            );
        }
    }
}
