//! Options that put rules into the tables of the NIC, and have a core insert more.

use clap::Args;
use memory::Ps;
use model::classifier::Place;
use model::{RuleCore, Rules, Updates};

use crate::fail::Fail;

/// Rules of the NIC.
#[derive(Args, Clone, Debug)]
pub(crate) struct RuleOptions {
    /// Tables of the NIC that frames are looked up in: root, or how many chained ones behind it
    /// [default: none, frames are steered without rules]
    #[arg(long, value_name = "root|N", help_heading = "Rules")]
    pub tables: Option<String>,
    /// Rules that are there from the start, in all tables together
    #[arg(long, value_name = "N", default_value_t = 0, requires = "tables", help_heading = "Rules")]
    pub rules: u64,
    /// Rules that a core inserts in a second: the interval to the next one begins when one is done
    #[arg(
        long,
        value_name = "N",
        requires = "tables",
        conflicts_with = "rule_batch",
        help_heading = "Rules"
    )]
    pub rule_rate: Option<f64>,
    /// Rules that a core inserts one after the other, from a time on: N@MS
    #[arg(long, value_name = "N@MS", requires = "tables", help_heading = "Rules")]
    pub rule_batch: Option<String>,
    /// The core that inserts them: the first that receives (same), or one of its own (other)
    #[arg(
        long,
        value_name = "same|other",
        default_value = "same",
        requires = "tables",
        help_heading = "Rules"
    )]
    pub rule_core: String,
}

/// The tables that are called so.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn place(text: &str) -> Result<Place, Fail> {
    match (text, text.parse::<u32>()) {
        ("root", _) => Ok(Place::Root),
        (_, Ok(n @ 1..=64)) => Ok(Place::Chained(n)),
        _ => Err(Fail::new(format!("--tables {text}: allowed: root, or 1 to 64 chained tables"))),
    }
}

impl RuleOptions {
    /// What they ask for, of a traffic of `flows`.
    ///
    /// # Errors
    /// The option that is not allowed, and what is.
    pub(super) fn read(&self, flows: u64) -> Result<Option<Rules>, Fail> {
        let Some(tables) = &self.tables else { return Ok(None) };
        let core = match self.rule_core.as_str() {
            "same" => RuleCore::Same,
            "other" => RuleCore::Other,
            other => {
                return Err(Fail::new(format!("--rule-core: unknown `{other}`; allowed: same, other")));
            }
        };
        let updates = match (self.rule_rate, self.rule_batch.as_deref()) {
            (Some(rate), _) if !(0.001..=1e9).contains(&rate) => {
                return Err(Fail::new(format!("--rule-rate {rate}: allowed: 0.001 to 1e9 rules a second")));
            }
            (Some(rate), _) => {
                let gap = Ps((1e12 / rate) as u64);
                Some(Updates { first: gap, gap, number: None, core })
            }
            (None, Some(text)) => {
                let (number, first) = batch(text)?;
                Some(Updates { first, gap: Ps::ZERO, number: Some(number), core })
            }
            (None, None) => None,
        };
        Ok(Some(Rules { place: place(tables)?, installed: self.rules, flows, updates }))
    }

    /// The options in force, as a command line has them, each with its name.
    pub(super) fn flags(&self) -> Vec<(&'static str, String)> {
        let Some(tables) = &self.tables else { return Vec::new() };
        let mut flags = vec![("tables", tables.clone()), ("rules", self.rules.to_string())];
        flags.extend(self.rule_rate.map(|rate| ("rule-rate", rate.to_string())));
        flags.extend(self.rule_batch.clone().map(|batch| ("rule-batch", batch)));
        if flags.len() > 2 {
            flags.push(("rule-core", self.rule_core.clone()));
        }
        flags
    }
}

/// `N@MS`: how many, and when they fall due.
fn batch(text: &str) -> Result<(u64, Ps), Fail> {
    let read = |(n, ms): (&str, &str)| Some((n.parse::<u64>().ok()?, ms.parse::<u64>().ok()?));
    match text.split_once('@').and_then(read) {
        Some((n @ 1..=1_000_000_000, ms @ 0..=1_000_000)) => Ok((n, Ps::from_us(ms * 1000))),
        _ => Err(Fail::new(format!(
            "--rule-batch {text}: allowed: N@MS, 1 to 1e9 rules from a time of up to 1e6 ms on"
        ))),
    }
}
