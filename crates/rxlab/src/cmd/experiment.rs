//! `rxlab experiment`: published figures and tables, run again and judged.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::jobs;
use crate::paper::figure::{self, Figure, Overrides};
use crate::paper::plan::Plan;
use crate::paper::prepared::Prepared;
use crate::show::bar;
use crate::show::file::{Folder, Target};
use crate::show::html::{self, Html};
use crate::show::out;
use crate::show::table::{Table, number, words};
use crate::verdict::fail_if::{self, Condition, Outcome};

/// Options of `experiment`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab experiment list
  rxlab experiment run rxbisect/fig2 --html fig2.html
  rxlab experiment run rxbisect/fig10 --json
  rxlab experiment run rxbisect --all --html rxbisect-pages
  rxlab experiment run rxbisect/fig2 --fail-if claims --fail-if 'rxbisect.drops>0'")]
pub(crate) struct Experiment {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The experiments there are
    List {
        /// Write JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Run one, or all of a paper, and judge the claims
    Run(Run),
}

/// Options of `experiment run`.
#[derive(Args, Debug)]
struct Run {
    /// An experiment's id, or a plan file; with --all a paper's name
    #[arg(value_name = "ID")]
    id: String,
    /// Run all experiments of the paper
    #[arg(long)]
    all: bool,
    /// Captures to look at beside the plan's own traffic, with their own timing (plans of slices)
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    pcap: Vec<PathBuf>,
    /// Where the captures lie that a plan replays; no folder is looked at unless told
    #[arg(long, value_name = "DIR")]
    captures: Option<PathBuf>,
    /// Seed of the first placement
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Page placements per point [default: the plan's]
    #[arg(long, value_name = "N")]
    placements: Option<u32>,
    /// Simulate one cache set in N [default: as compare]
    #[arg(long, value_name = "N")]
    sampling: Option<u32>,
    // An attribute, because a documentation comment takes the brackets for links.
    #[arg(
        long,
        value_name = "claims|CONDITION",
        help = "End with code 1 if a judged claim does not hold (claims), or if a point meets [SERIES.]NAME OP NUMBER, SERIES \
                a series' id or its interface, the rest as `rxlab compare` has it; may be given several times"
    )]
    fail_if: Vec<String>,
    /// Write a report with plots; with --all a directory of reports with an index
    #[arg(long, value_name = "FILE|DIR")]
    html: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, a plan that cannot be used.
pub(crate) fn run(options: Experiment) -> Result<Outcome, Fail> {
    match options.what {
        What::List { json } => list(json).map(|()| Outcome::Done),
        What::Run(options) if options.all => run_all(&options),
        What::Run(options) => run_one(&options),
    }
}

fn list(as_json: bool) -> Result<(), Fail> {
    let plans = Plan::all()?;
    if as_json {
        let ids = |p: &Plan| p.claims.iter().map(|c| c.id.clone()).collect::<Vec<_>>();
        let rows: Vec<Value> = plans
            .iter()
            .map(|p| json!({"id": p.id, "title": p.title, "source": p.source, "claims": ids(p)}))
            .collect();
        return out::json_rows(&rows);
    }
    let mut table = Table::new(&[words("experiment"), number("claims", ""), words("what")]);
    table.rows =
        plans.iter().map(|p| vec![p.id.clone(), p.claims.len().to_string(), p.title.clone()]).collect();
    out::print(&table.text(false))
}

fn run_one(options: &Run) -> Result<Outcome, Fail> {
    let plan = Plan::find(&options.id)?
        .with_captures(&options.pcap)?
        .with_captures_in(options.captures.as_deref())?;
    let prepared = Prepared::new(plan, options.overrides())?;
    let target = Target::asked("--html", options.html.as_deref(), &options.inputs([&prepared]))?;
    let conditions = options.conditions(std::slice::from_ref(&prepared))?;
    let figures = carry_out(vec![prepared])?;
    figures.iter().try_for_each(|figure| {
        let shown =
            if options.json { out::json(&figure::data(figure)) } else { out::print(&figure::text(figure)) };
        html::deliver(shown, target.as_ref(), || figure::report(figure))
    })?;
    options.outcome(&conditions, &figures)
}

/// All points of all plans in one go: the machine is busy until the last one.
fn carry_out(prepared: Vec<Prepared>) -> Result<Vec<Figure>, Fail> {
    let mut jobs = prepared.iter().flat_map(|p| &p.jobs).peekable();
    let pairs = if jobs.peek().is_some() { jobs::run(jobs, "running")? } else { Vec::new() };
    let others = prepared.iter().map(Prepared::others).sum::<usize>() as u64;
    let bar = (others > 0).then(|| bar::progress(others, "simulating"));
    let done = || bar.iter().for_each(|bar| bar.inc(1));
    let mut pairs = pairs.into_iter();
    prepared
        .into_iter()
        .map(|p| {
            let mine = pairs.by_ref().take(p.jobs.len()).collect();
            p.judge(mine, done)
        })
        .collect()
}

fn run_all(options: &Run) -> Result<Outcome, Fail> {
    let (mut prepared, mut left_out) = (Vec::new(), Vec::new());
    for plan in Plan::of_paper(&options.id)? {
        match plan.with_captures_in(options.captures.as_deref()) {
            Ok(plan) => prepared.push(Prepared::new(plan, options.overrides())?),
            Err(missing) => left_out.push(missing.to_string()),
        }
    }
    let names = || prepared.iter().map(|p| page(p.id())).chain([INDEX.to_string()]);
    let folder = options.html.as_deref();
    let folder =
        folder.map(|dir| Folder::new("--html", dir, &options.inputs(&prepared), names())).transpose()?;
    let conditions = options.conditions(&prepared)?;
    left_out.iter().for_each(|missing| out::note(&format!("left out: {missing}")));
    let figures = carry_out(prepared)?;
    let shown = show_all(&figures, options.json);
    shown.and(folder.map_or(Ok(()), |folder| write_all(&folder, &options.id, &figures)))?;
    options.outcome(&conditions, &figures)
}

fn show_all(figures: &[Figure], as_json: bool) -> Result<(), Fail> {
    if as_json {
        return out::json_rows(&figures.iter().map(figure::data).collect::<Vec<_>>());
    }
    figures.iter().try_for_each(|figure| out::print(&(figure::text(figure) + "\n")))?;
    out::print(&figure::overview(figures))
}

/// Every figure's page, then the index that leads to them.
fn write_all(folder: &Folder, paper: &str, figures: &[Figure]) -> Result<(), Fail> {
    for figure in figures {
        folder.write(&page(figure.id()), &figure::report(figure)?.text())?;
    }
    folder.write(INDEX, &index(paper, figures).text())
}

impl Run {
    fn overrides(&self) -> Overrides {
        Overrides { seed: self.seed, placements: self.placements, sampling: self.sampling }
    }

    /// The conditions on fields; that on claims needs no reading.
    fn conditions(&self, prepared: &[Prepared]) -> Result<Vec<Condition>, Fail> {
        let of_fields: Vec<String> = self.fail_if.iter().filter(|c| *c != CLAIMS).cloned().collect();
        let mut owners: Vec<String> = Vec::new();
        for owner in prepared.iter().flat_map(Prepared::owners) {
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        fail_if::read(&of_fields, fields::all_names(), &owners)
    }

    fn outcome(&self, conditions: &[Condition], figures: &[Figure]) -> Result<Outcome, Fail> {
        let failed: Vec<&str> = figures.iter().flat_map(Figure::failed_claims).collect();
        let claims = if self.fail_if.iter().any(|c| c == CLAIMS) && !failed.is_empty() {
            Outcome::Met(format!("claims that do not hold: {}", failed.join(", ")))
        } else {
            Outcome::Done
        };
        let points: Vec<_> = figures.iter().flat_map(Figure::shown).collect();
        Ok(claims.and(fail_if::judge(conditions, &points)?))
    }

    /// Every file that is read: the plan's own, and those of its points.
    fn inputs<'a>(&self, prepared: impl IntoIterator<Item = &'a Prepared>) -> Vec<PathBuf> {
        let points = prepared.into_iter().flat_map(|p| p.inputs.iter().cloned());
        std::iter::once(PathBuf::from(&self.id)).chain(points).collect()
    }
}

/// The condition of `--fail-if` that is met by a claim that does not hold.
const CLAIMS: &str = "claims";
/// The page that leads to all others of a directory.
const INDEX: &str = "index.html";

fn page(id: &str) -> String {
    id.rsplit('/').next().unwrap_or_default().to_string() + ".html"
}

/// What held, and the way to each figure's page.
fn index(paper: &str, figures: &[Figure]) -> Html {
    let mut html = Html::new(&format!("{paper}: all experiments"));
    html.verdict(&figure::held(figures), "");
    html.table(&figure::all_claims(figures));
    html.section("Experiments");
    html.links(figures.iter().map(|f| (page(f.id()), format!("{}: {}", f.id(), f.title()))));
    html
}
