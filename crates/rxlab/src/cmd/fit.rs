//! `rxlab fit`: the assumed and fitted constants of servers, fitted to published claims; claims predicted that were left out.

use clap::Args;
use serde_json::json;

use crate::fail::Fail;
use crate::paper::fit::{Constant, Fit, Fold, Outcome, Summary, fit};
use crate::paper::plan::Plan;
use crate::paper::short::Short;
use crate::show::out;
use crate::show::table::{Table, num, number, words};
use crate::show::text::wrapped;

/// Options of `fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab fit rxbisect/fig2 rxbisect/table2
  rxlab fit ddio-bench corec --members 48
  rxlab fit --leave-out figure             # all of three papers, an hour or more
  rxlab fit --leave-out paper --json

The prior of each constant is its spread in profiles/spreads.toml. What two servers assume alike, by the
same entry of docs/assumptions.md, is one constant. Each member of an ensemble (a Latin hypercube) runs the
experiments in short forms: one placement, from full rings, windows that nobody waits to settle, and half of
long sweeps. A square-root Kalman filter then takes one value of a claim after the other; claims that are
answers or bounds are judged, and not fitted. The seed decides all. A run that was made before is not made
again, so that what was interrupted goes on.

--leave-out fits on all other figures, or papers, and predicts those that are left out: then `fitted` are
predictions. An interval holds four fifths of what is expected: the ensemble's spread, and what the claims
that were fitted still miss. A distance is the farthest of a claim's values, in percent of the published one.")]
pub(crate) struct Options {
    /// Papers, experiments or plan files
    #[arg(value_name = "ID", default_values = ["rxbisect", "corec", "ddio-bench"])]
    ids: Vec<String>,
    /// Predict each figure (or table), or each paper, from a fit on all others
    #[arg(long, value_name = "figure|paper")]
    leave_out: Option<String>,
    /// Members of the ensemble: each runs all experiments
    #[arg(long, value_name = "N", default_value_t = 32)]
    members: u32,
    /// Seed of the design, of traffic and placement
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, plans without claims that a constant moves.
pub(crate) fn run(options: &Options) -> Result<(), Fail> {
    let left_out = match options.leave_out.as_deref() {
        None => None,
        Some("figure") => Some(Fold::Figure),
        Some("paper") => Some(Fold::Paper),
        Some(other) => {
            return Err(Fail::new(format!("--leave-out: unknown `{other}`; allowed: figure, paper")));
        }
    };
    if !(8..=1024).contains(&options.members) {
        return Err(Fail::new(format!("--members {}: allowed: 8 to 1024", options.members)));
    }
    let mut plans: Vec<Short> = Vec::new();
    for id in &options.ids {
        let found = if id.contains('/') || id.ends_with(".toml") {
            vec![Plan::find(id)?]
        } else {
            Plan::of_paper(id)?
        };
        for plan in found {
            let known = plans.iter().any(|p| p.id() == plan.id);
            plans.extend(Short::new(plan, options.seed)?.filter(|_| !known));
        }
    }
    if plans.is_empty() {
        let ids = options.ids.join(", ");
        return Err(Fail::new(format!(
            "{ids}: no claim that a server's constants move; allowed: rxbisect, corec, ddio-bench, or plans of kind compare with claims"
        )));
    }
    let found = fit(&plans, options.members, options.seed, left_out)?;
    if options.json {
        return out::json(&json!({
            "seed": options.seed,
            "members": options.members,
            "left_out": found.left_out,
            "summary": found.summary(),
            "claims": found.claims,
            "constants": found.constants,
        }));
    }
    out::print(&text(&found, options.members))
}

fn text(found: &Fit, members: u32) -> String {
    let colour = out::colour();
    let mut out = wrapped("", &headline(found, members));
    out += &format!("\n{}", claims(&found.claims).text(colour));
    out += &format!("\n{}", constants(&found.constants).text(colour));
    out
}

/// The numbers that count, in a sentence or two.
fn headline(found: &Fit, members: u32) -> String {
    let Summary { claims, held, hold, median_before_pct, median_pct, covered, values } = found.summary();
    let how = match found.left_out {
        None => "fitted on".to_string(),
        Some(Fold::Figure) => "each figure predicted from a fit on all others,".to_string(),
        Some(Fold::Paper) => "each paper predicted from a fit on all others,".to_string(),
    };
    let share = |n: u32, of: u32| num(100.0 * f64::from(n) / f64::from(of.max(1)));
    format!(
        "{how} {claims} claims by {members} members: {hold} hold ({}%), {held} with the profiles' own constants; median distance {}%, {}% with those; {covered} of {values} values ({}%) are within intervals of 80%",
        share(hold as u32, claims as u32),
        num(median_pct),
        num(median_before_pct),
        share(covered, values)
    )
}

fn claims(all: &[Outcome]) -> Table {
    let mut table = Table::new(&[
        words("claim"),
        words("in"),
        number("published", ""),
        words("unit"),
        number("own constants", ""),
        words("holds"),
        number("fitted", ""),
        words("holds"),
        number("off", "%"),
        number("in 80%", "values"),
    ]);
    let values = |all: &[f64]| all.iter().map(|v| num(*v)).collect::<Vec<_>>().join(" ");
    let holds = |yes: bool| if yes { "yes" } else { "NO" }.to_string();
    for c in all {
        table.rows.push(vec![
            c.id.clone(),
            c.plan.clone(),
            c.published.clone(),
            c.unit.clone(),
            values(&c.before),
            holds(c.held),
            values(&c.after),
            holds(c.holds),
            c.off.map_or("-".into(), |off| num(100.0 * off)),
            if c.covered[1] == 0 { "-".into() } else { format!("{} of {}", c.covered[0], c.covered[1]) },
        ]);
    }
    table
}

fn constants(all: &[Constant]) -> Table {
    let mut table = Table::new(&[
        words("constant"),
        number("own", ""),
        number("before", ""),
        number("fitted", ""),
        number("80%", ""),
        words("unit"),
        words("from"),
        words("pulled by, in spreads"),
    ]);
    let range = |ends: [f64; 2]| format!("{}..{}", num(ends[0]), num(ends[1]));
    for c in all {
        let pulls: Vec<String> = c
            .pulls
            .iter()
            .filter(|p| p.by.abs() >= 0.05)
            .map(|p| format!("{} {:+.2}", p.claim, p.by))
            .collect();
        table.rows.push(vec![
            c.name.into(),
            num(c.value),
            range(c.prior),
            num(c.fitted),
            range(c.spread),
            c.unit.into(),
            c.origin.chars().take(30).collect(),
            pulls.join(", "),
        ]);
    }
    table
}
