//! Plan files: a published figure or table as series to run and claims to judge.

mod built_in;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fail::Fail;
use crate::paper::curve::Published;
use crate::paper::judge::{self, Rule};
use crate::show::plot::Scale;

/// A published figure or table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// `paper/figure`.
    pub id: String,
    /// One line.
    pub title: String,
    /// Paper and section.
    pub source: String,
    /// What a reader must know: inputs, what is native and what is emulated.
    pub notes: Vec<String>,
    /// Which command runs its points.
    #[serde(default)]
    pub kind: Kind,
    /// Options of that command that all series share; a series' own come behind and override them.
    pub options: String,
    /// What is swept, as the x axis says it.
    #[serde(default)]
    pub x: String,
    /// How the x axis is drawn.
    #[serde(default)]
    pub scale: Scale,
    /// Whether the largest load without a drop is searched at every point.
    #[serde(default)]
    pub search: bool,
    /// Whether each placement meets arrivals of its own, the same for all series: where single draws differ much.
    #[serde(default)]
    pub redraw: bool,
    /// Slices of time into which traffic is cut, to see how unevenly it falls on cores; without it, series are
    /// runs of the model.
    pub slices: Option<u32>,
    /// How a point is run, in plans of kind `compare`.
    #[serde(default)]
    pub runs: Runs,
    /// Fields of the table and the plots.
    pub fields: Vec<String>,
    /// What is run.
    pub series: Vec<Series>,
    /// What is published of it.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// Published curves, each point of which is compared.
    #[serde(default)]
    pub curves: Vec<Published>,
    /// Narrower bands that the project sets itself; not counted as claims.
    #[serde(default)]
    pub goals: Vec<Claim>,
    /// What is worked out beside, with nothing published to compare it with.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// Runs that make one line or one bar.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// Its name in metric expressions.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// Receive interface; none where slices of traffic are looked at, and of kinds that have none.
    #[serde(default)]
    pub interface: String,
    /// Options of the plan's command.
    #[serde(default)]
    pub options: String,
    /// The capture that it replays, by the name of its file: the project ships none, [`Plan::with_captures_in`]
    /// finds it.
    pub capture: Option<String>,
    /// Where that is.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Without it the series is one point.
    pub sweep: Option<Sweep>,
}

/// An option that takes several values, one point each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// The option with `{}` where the value goes, such as `--ring {}`.
    pub option: String,
    /// Values, in ascending order: the x of the points.
    pub values: Vec<f64>,
}

/// The command whose options a plan has, and which runs its points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// `rxlab compare`: interfaces in the model, from empty and from full rings.
    #[default]
    Compare,
    /// `rxlab queue`: queueing theory.
    Queue,
    /// `rxlab tcp`: connections through a modelled router.
    Tcp,
    /// `rxlab rules`: operations on rules.
    Rules,
    /// `rxlab link`: a coherent link, and stores to a card.
    Link,
    /// `rxlab loopback`: frames over a coherent NIC or a card, there and back.
    Loopback,
}

/// How a point of kind `compare` is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runs {
    /// From empty and from full rings, over all placements.
    #[default]
    Pairs,
    /// Once, from empty rings.
    Once,
    /// Once, from empty rings: each part of the window is a point, whose x is the time at its end, s.
    Parts,
}

/// A value that is worked out from the series, with nothing to compare it with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    /// Its name.
    pub id: String,
    /// What it is.
    pub what: String,
    /// Unit.
    pub unit: String,
    /// Expressions over the series, see `metric.rs`.
    pub metric: Vec<String>,
}

/// A published statement and how it is obtained.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The id in the list of published results.
    pub id: String,
    /// What is stated.
    pub what: String,
    /// The published value or values.
    pub published: String,
    /// Unit of both values.
    pub unit: String,
    /// How they are compared.
    pub rule: Rule,
    /// How far apart they may be.
    pub tolerance: f64,
    /// Expressions over the series, see `metric.rs`.
    pub metric: Vec<String>,
}

impl Series {
    /// Names by which a condition may ask for it.
    pub(super) fn owners(&self) -> impl Iterator<Item = String> {
        [&self.id, &self.interface].into_iter().filter(|name| !name.is_empty()).cloned()
    }
}

impl Plan {
    /// Whether its points are runs from empty and from full rings.
    pub(crate) fn has_starts(&self) -> bool {
        self.kind == Kind::Compare && self.slices.is_none() && self.runs == Runs::Pairs
    }

    /// The points of `series`: what is swept there, and all options as words.
    pub(crate) fn points(&self, series: &Series) -> Vec<(f64, Vec<String>)> {
        let words = |x: Option<f64>| {
            let swept = series.sweep.as_ref().zip(x).map(|(s, x)| s.option.replace("{}", &x.to_string()));
            let all = [self.options.as_str(), series.options.as_str(), swept.as_deref().unwrap_or_default()];
            // A path is one word, whatever it holds.
            let file = series.file.iter().flat_map(|f| ["--pcap".to_string(), f.display().to_string()]);
            all.iter().flat_map(|o| o.split_whitespace()).map(str::to_string).chain(file).collect()
        };
        match &series.sweep {
            None => vec![(0.0, words(None))],
            Some(sweep) => sweep.values.iter().map(|&x| (x, words(Some(x)))).collect(),
        }
    }

    /// The plan with a series for each of `captures`.
    ///
    /// # Errors
    /// The plan does not look at traffic.
    pub(crate) fn with_captures(mut self, captures: &[PathBuf]) -> Result<Plan, Fail> {
        if !captures.is_empty() && self.slices.is_none() {
            return Err(Fail::new(format!("--pcap: allowed with plans of slices, which {} is not", self.id)));
        }
        for (i, path) in captures.iter().enumerate() {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            self.series.push(Series {
                id: format!("capture_{i}"),
                label: name,
                interface: String::new(),
                options: "--ports 1 --rate own".into(),
                capture: None,
                file: Some(path.clone()),
                sweep: None,
            });
        }
        Ok(self)
    }

    /// The plan with the captures of its series, from `dir`.
    ///
    /// # Errors
    /// No directory is given, or one is not there.
    pub(crate) fn with_captures_in(mut self, dir: Option<&Path>) -> Result<Plan, Fail> {
        for series in &mut self.series {
            let Some(name) = &series.capture else { continue };
            let Some(dir) = dir else {
                return Err(Fail::new(format!(
                    "{}: replays captures such as {name}, which rxlab does not come with; allowed: --captures DIR that holds them",
                    self.id
                )));
            };
            let path = dir.join(name);
            if !path.is_file() {
                return Err(Fail::new(format!(
                    "{}: no capture {name} in {}; allowed: --captures DIR that holds the plan's captures",
                    self.id,
                    dir.display()
                )));
            }
            series.file = Some(path);
        }
        Ok(self)
    }

    /// Reads a plan and checks what can be checked before a run; `name` is for errors.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Plan, Fail> {
        let bad = |e: String| Fail::new(format!("{name}: {}", e.trim().replace('\n', " ")));
        let plan: Plan = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        if plan.series.is_empty() {
            return Err(bad("no series; a plan needs at least one".into()));
        }
        if plan.kind != Kind::Compare && (plan.slices.is_some() || plan.search || plan.redraw) {
            return Err(bad("slices, search, redraw: allowed in plans of kind compare".into()));
        }
        if plan.runs != Runs::Pairs && (plan.kind != Kind::Compare || plan.slices.is_some() || plan.search) {
            return Err(bad("runs: allowed in plans of kind compare without slices or search".into()));
        }
        for sweep in plan.series.iter().filter_map(|s| s.sweep.as_ref()) {
            if sweep.values.is_empty() || !sweep.values.is_sorted() || !sweep.option.contains("{}") {
                return Err(bad(format!(
                    "sweep of `{}`: allowed: an option with {{}} and values in ascending order",
                    sweep.option
                )));
            }
        }
        plan.curves.iter().try_for_each(Published::check).map_err(bad)?;
        for claim in plan.claims.iter().chain(&plan.goals) {
            judge::cells(&claim.published).map_err(|e| bad(format!("claim {}: {e}", claim.id)))?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_that_are_not_here_are_named() {
        let nowhere = Some(Path::new("/nowhere"));
        let missing =
            |dir| Plan::find("corec/table4").unwrap().with_captures_in(dir).unwrap_err().to_string();
        assert!(missing(nowhere).starts_with("corec/table4: no capture "), "{}", missing(nowhere));
        assert!(missing(None).contains("--captures DIR"), "{}", missing(None));
        assert!(Plan::find("corec/fig7").unwrap().with_captures_in(None).is_ok());
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_one_line() {
        for text in ["", "id = 3", "series = []", "nonsense"] {
            let error = Plan::parse("p.toml", text).unwrap_err().to_string();
            assert!(error.starts_with("p.toml: ") && !error.contains('\n'), "{error}");
        }
        assert!(Plan::find("rxbisect/fig99").unwrap_err().to_string().contains("rxbisect/fig2"));
        assert!(Plan::find("none.toml").is_err());
    }
}
