//! Which constants move the numbers of a comparison, one at a time: what to measure first on one's own server.
//!
//! Each constant alone goes to both ends of its spread, against the same arrivals and placement, so that nothing else moves.
//! Rank correlations over a sample as small as that of `robust` would have an error of a fifth for every constant.

use model::profile::Spread;
use serde::Serialize;

use crate::fail::Fail;
use crate::lab::draws::{self, Values};
use crate::show::table::{Table, num, number, words};
use crate::verdict::robust::{Answer, Asked, answers, value};

/// The fields that count, with a difference that nobody minds: below it a small value is not divided by.
const FIELDS: [(&str, &str, f64); 4] = [
    ("no_drop_gbps", "no-drop", 1.0),
    ("throughput_gbps", "sent", 1.0),
    ("latency_p99_us", "p99", 10.0),
    ("dram_gbps", "DRAM", 10.0),
];

/// What each constant moves, the most first.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sensitivity {
    /// What a second placement alone moves, percent in the mean: less than that is noise.
    pub noise_pct: f64,
    /// Each constant.
    pub constants: Vec<Moves>,
}

/// What a constant moves from one end of its spread to the other.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Moves {
    /// Its name.
    pub name: &'static str,
    /// The unit of what follows.
    pub unit: &'static str,
    /// The least value.
    pub low: f64,
    /// That of the profile.
    pub value: f64,
    /// The largest.
    pub high: f64,
    /// The mean over all rows and the fields no-drop rate, throughput, 99th percentile and DRAM traffic, percent.
    pub mean_pct: f64,
    /// What it moves most.
    pub most: Moved,
    /// Who wins at the lower end; none where nobody leads.
    pub winner_low: Option<String>,
    /// Who wins at the upper end.
    pub winner_high: Option<String>,
}

/// A field of a row at both ends.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Moved {
    /// The row's label.
    pub label: String,
    /// The field.
    pub field: &'static str,
    /// What it is called in tables.
    #[serde(skip)]
    heading: &'static str,
    /// At the lower end of the constant.
    pub at_low: f64,
    /// At the upper end.
    pub at_high: f64,
    /// The difference, percent of what it is with the profile's own constants.
    pub pct: f64,
}

/// Asks the comparison with each constant at both of its ends.
///
/// # Errors
/// A run that the model refuses.
pub(crate) fn sensitivity(asked: &Asked) -> Result<Sensitivity, Fail> {
    let point = asked.jobs.iter().find_map(|job| job.full.first());
    let point = point.ok_or_else(|| Fail::new("--sensitivity: allowed: with one interface at least"))?;
    let spreads = draws::spreads(point)?;
    let ends = spreads.iter().flat_map(|s| [s.low, s.high].map(|end| vec![(s.name, end)]));
    let servers: Vec<Values> = std::iter::once(Values::new()).chain(ends).collect();
    let found = answers(asked, &servers, "moving constants")?;
    let (nominal, ends) = found.split_first().ok_or_else(|| Fail::new("nothing was run"))?;
    let mut constants: Vec<Moves> =
        spreads.iter().zip(ends.chunks(2)).filter_map(|(s, pair)| moves(s, nominal, pair)).collect();
    constants.sort_by(|a, b| b.mean_pct.total_cmp(&a.mean_pct));
    Ok(Sensitivity { noise_pct: noise(asked, nominal)?, constants })
}

/// What another placement and other replacement move.
fn noise(asked: &Asked, nominal: &Answer) -> Result<f64, Fail> {
    let mut jobs = Vec::new();
    for job in asked.jobs {
        let mut other = draws::job(job, &[], None);
        let points = other.empty.iter_mut().chain(&mut other.full);
        points.for_each(|p| p.setting.seed = p.setting.seed.wrapping_add(1));
        jobs.push(other);
    }
    let other =
        answers(&Asked { jobs: &jobs, machine: asked.machine, ..*asked }, &[Values::new()], "placing anew")?;
    let Some(other) = other.first() else { return Ok(f64::NAN) };
    Ok(mean(&moved(nominal, nominal, other)))
}

fn moves(s: &Spread, nominal: &Answer, ends: &[Answer]) -> Option<Moves> {
    let [low, high] = ends else { return None };
    let all = moved(nominal, low, high);
    let mean_pct = mean(&all);
    let most = all.into_iter().max_by(|a, b| a.pct.abs().total_cmp(&b.pct.abs()))?;
    Some(Moves {
        name: s.name,
        unit: s.unit,
        low: s.low,
        value: s.value,
        high: s.high,
        mean_pct,
        most,
        winner_low: low.winner.clone(),
        winner_high: high.winner.clone(),
    })
}

/// Every field of every row at both ends; those that were not searched are left out.
fn moved(nominal: &Answer, low: &Answer, high: &Answer) -> Vec<Moved> {
    let mut all = Vec::new();
    for ((base, low), high) in nominal.pairs.iter().zip(&low.pairs).zip(&high.pairs) {
        for (field, heading, floor) in FIELDS {
            let [base_value, at_low, at_high] = [base, low, high].map(|pair| value(pair, field));
            let pct = 100.0 * (at_high - at_low) / base_value.abs().max(floor);
            if pct.is_finite() {
                all.push(Moved { label: base.full.label.clone(), field, heading, at_low, at_high, pct });
            }
        }
    }
    all
}

fn mean(all: &[Moved]) -> f64 {
    all.iter().map(|m| m.pct.abs()).sum::<f64>() / all.len().max(1) as f64
}

impl Sensitivity {
    /// The constants in their order; those that move nothing at all are one line below.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(&[
            words("constant"),
            number("value", ""),
            number("from..to", ""),
            words("unit"),
            number("moves", "% mean"),
            words("most of all"),
            words("who wins there"),
        ]);
        for c in self.constants.iter().filter(|c| c.mean_pct > 0.0) {
            let m = &c.most;
            let most = format!(
                "{} of {}: {} to {} ({:+.1}%)",
                m.heading,
                m.label,
                num(m.at_low),
                num(m.at_high),
                m.pct
            );
            let ends = format!("{}..{}", num(c.low), num(c.high));
            table.rows.push(vec![
                c.name.into(),
                num(c.value),
                ends,
                c.unit.into(),
                num(c.mean_pct),
                most,
                c.winners(),
            ]);
        }
        table
    }

    /// What is said below the table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let first: Vec<&str> = self
            .constants
            .iter()
            .take_while(|c| c.mean_pct > self.noise_pct)
            .map(|c| c.name)
            .take(3)
            .collect();
        let nothing: Vec<&str> =
            self.constants.iter().filter(|c| c.mean_pct == 0.0).map(|c| c.name).collect();
        let mut lines = Vec::new();
        if !first.is_empty() {
            let what =
                format!("measure first: {}; how: rxlab profile explain {}", first.join(", "), first[0]);
            lines.push(what);
        }
        lines.push(format!(
            "each constant alone goes from one end of its spread to the other; another placement moves {}%",
            num(self.noise_pct)
        ));
        if !nothing.is_empty() {
            lines.push(format!("moves nothing here: {}", nothing.join(", ")));
        }
        lines
    }
}

impl Moves {
    fn winners(&self) -> String {
        let name = |winner: &Option<String>| winner.clone().unwrap_or_else(|| "nobody".into());
        let (low, high) = (name(&self.winner_low), name(&self.winner_high));
        if low == high { low } else { format!("{low}, then {high}") }
    }
}
