//! `rxlab experiment`: published figures and tables, run again and judged.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::figure::{self, Figure};
use crate::html;
use crate::out;
use crate::plan::Plan;
use crate::table::{Table, number, words};

/// Options of `experiment`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab experiment list
  rxlab experiment run rxbisect/fig2 --html fig2.html
  rxlab experiment run rxbisect/fig10 --json")]
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
    /// Run one and judge its claims
    Run(Run),
}

/// Options of `experiment run`.
#[derive(Args, Debug)]
struct Run {
    /// An experiment's id, or a plan file
    #[arg(value_name = "ID")]
    id: String,
    /// Seed of the first placement
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Page placements per point [default: the plan's]
    #[arg(long, value_name = "N")]
    placements: Option<u32>,
    /// Simulate one cache set in N [default: as compare]
    #[arg(long, value_name = "N")]
    sampling: Option<u32>,
    /// Write a report with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, a plan that cannot be used.
pub(crate) fn run(options: Experiment) -> Result<(), Fail> {
    match options.what {
        What::List { json } => list(json),
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
        return out::json(&rows);
    }
    let mut table = Table::new(&[words("experiment"), number("claims", ""), words("what")]);
    table.rows =
        plans.iter().map(|p| vec![p.id.clone(), p.claims.len().to_string(), p.title.clone()]).collect();
    out::print(&table.text(false))
}

fn run_one(options: &Run) -> Result<(), Fail> {
    if let Some(path) = &options.html {
        html::check_target(path)?;
    }
    let plan = Plan::find(&options.id)?;
    let figure = Figure::run(plan, options.seed, options.placements, options.sampling)?;
    if let Some(path) = &options.html {
        figure::report(&figure)?.save(path)?;
    }
    if options.json { out::json(&figure::data(&figure)) } else { out::print(&figure::text(&figure)) }
}
