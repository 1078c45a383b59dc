//! Plan files: a published figure or table as series to run and claims to judge.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fail::Fail;
use crate::paper::judge::{self, Rule};
use crate::show::plot::Scale;

/// The plans that come with the program, by id.
macro_rules! plans {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../../experiments/", $id, ".toml")))),*]
    };
}
const BUILT_IN: &[(&str, &str)] = plans![
    "rxbisect/table2",
    "rxbisect/fig2",
    "rxbisect/fig3",
    "rxbisect/fig4",
    "rxbisect/fig9",
    "rxbisect/fig10",
    "rxbisect/fig11",
    "rxbisect/fig12",
    "rxbisect/fig13",
    "rxbisect/fig14",
    "rxbisect/fig15",
    "rxbisect/table3",
    "rxbisect/fig16",
    "rxbisect/fig17",
    "rxbisect/fig18",
    "ddio-bench/descriptors",
    "corec/fig3",
    "corec/fig4",
    "corec/fig5",
    "corec/fig6",
    "corec/fig7",
    "corec/fig8",
    "corec/fig9",
    "corec/fig10",
    "corec/table2",
    "corec/table3",
    "corec/table4",
    "corec/table5",
];

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
    /// Fields of the table and the plots.
    pub fields: Vec<String>,
    /// What is run.
    pub series: Vec<Series>,
    /// What is published of it.
    #[serde(default)]
    pub claims: Vec<Claim>,
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

impl Plan {
    /// Whether its points are runs from empty and from full rings.
    pub(crate) fn has_starts(&self) -> bool {
        self.kind == Kind::Compare && self.slices.is_none()
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

impl Plan {
    /// A built-in plan by its id, or a file whose name ends with `.toml`.
    pub(crate) fn find(id: &str) -> Result<Plan, Fail> {
        if id.ends_with(".toml") {
            let text = std::fs::read_to_string(id)
                .map_err(|e| Fail::new(format!("{id}: {e}; expected a plan file")))?;
            return Plan::parse(id, &text);
        }
        match BUILT_IN.iter().find(|(name, _)| *name == id) {
            Some((name, text)) => Plan::parse(name, text),
            None => {
                let known: Vec<_> = BUILT_IN.iter().map(|p| p.0).collect();
                Err(Fail::new(format!(
                    "unknown experiment `{id}`; allowed: {}, or a plan file *.toml",
                    known.join(", ")
                )))
            }
        }
    }

    /// The built-in plans of a paper: those whose id begins with `paper/`.
    ///
    /// # Errors
    /// There is no such paper.
    pub(crate) fn of_paper(paper: &str) -> Result<Vec<Plan>, Fail> {
        let mine = |p: &Plan| p.id.split_once('/').is_some_and(|(name, _)| name == paper);
        let plans: Vec<Plan> = Plan::all()?.into_iter().filter(mine).collect();
        if plans.is_empty() {
            let mut papers: Vec<_> =
                BUILT_IN.iter().filter_map(|p| p.0.split_once('/')).map(|p| p.0).collect();
            papers.sort_unstable();
            papers.dedup();
            return Err(Fail::new(format!("unknown paper `{paper}`; allowed: {}", papers.join(", "))));
        }
        Ok(plans)
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

    /// All built-in plans.
    pub(crate) fn all() -> Result<Vec<Plan>, Fail> {
        BUILT_IN.iter().map(|(name, text)| Plan::parse(name, text)).collect()
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
        for sweep in plan.series.iter().filter_map(|s| s.sweep.as_ref()) {
            if sweep.values.is_empty() || !sweep.values.is_sorted() || !sweep.option.contains("{}") {
                return Err(bad(format!(
                    "sweep of `{}`: allowed: an option with {{}} and values in ascending order",
                    sweep.option
                )));
            }
        }
        for claim in plan.claims.iter().chain(&plan.goals) {
            judge::cells(&claim.published).map_err(|e| bad(format!("claim {}: {e}", claim.id)))?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of one CSV line; quotes may hold commas.
    fn csv(line: &str) -> Vec<String> {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    }

    #[test]
    fn every_plan_parses_and_is_named_as_it_is_found() {
        for &(name, _) in BUILT_IN {
            assert_eq!(Plan::find(name).unwrap().id, name);
        }
    }

    #[test]
    fn plans_carry_the_published_claims_word_for_word() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/published/claims.csv");
        let Ok(text) = std::fs::read_to_string(path) else {
            eprintln!("skipped: the list of published results is not here");
            return;
        };
        let rows: Vec<Vec<String>> = text.lines().skip(1).map(csv).collect();
        let claims: Vec<Claim> = Plan::all().unwrap().into_iter().flat_map(|p| p.claims).collect();
        for claim in &claims {
            let row = rows
                .iter()
                .find(|r| r[0] == claim.id)
                .unwrap_or_else(|| panic!("{} is not published", claim.id));
            let rule: Rule = serde_json::from_value(row[7].clone().into()).unwrap();
            let tolerance = row[8].parse().unwrap_or(0.0);
            let (given, listed) =
                ((&claim.published, claim.rule, claim.tolerance), (&row[5], rule, tolerance));
            assert_eq!(given, listed, "{}", claim.id);
            assert_eq!(claim.unit, row[6], "{}", claim.id);
        }
        for prefix in ["rxb-", "ddio-desc", "cor-"] {
            for row in rows.iter().filter(|r| r[0].starts_with(prefix)) {
                assert!(claims.iter().any(|c| c.id == row[0]), "{} is in no plan", row[0]);
            }
        }
    }

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
