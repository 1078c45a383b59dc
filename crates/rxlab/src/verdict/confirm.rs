//! The verdict of a comparison: its runs ranked, and a lead in what is carried without loss tried under other arrivals.

use rings::Interface;

use crate::fail::Fail;
use crate::lab::jobs::{Job, Pair};
use crate::lab::search;
use crate::lab::setup::Ready;
use crate::verdict::decide::{Order, Verdict, decide};
use crate::verdict::diagnosis::Machine;

/// Who is to be taken, and every interface explained; `pairs` are what `jobs` found.
///
/// # Errors
/// There is nothing to judge.
pub(crate) fn verdict(ready: &Ready, pairs: &[Pair], jobs: &[Job], order: Order) -> Result<Verdict, Fail> {
    let machine = Machine::of(&ready.server, ready.tx_ring());
    let confirm = |first: &Pair, second: &Pair| confirmed(pairs, jobs, first, second);
    let found = decide(&machine, pairs, order, ready.resolution_pct(), confirm)?;
    found.ok_or_else(|| Fail::new(format!("--interfaces: none given; allowed: {}", Interface::names())))
}

/// Whether, under every other arrivals, `first` carries without loss the rate amid both no-drop rates, and `second`
/// does not.
fn confirmed(pairs: &[Pair], jobs: &[Job], first: &Pair, second: &Pair) -> Result<bool, Fail> {
    let job = |p: &Pair| pairs.iter().position(|other| std::ptr::eq(other, p)).and_then(|i| jobs.get(i));
    let wire = |p: &Pair| p.edge.as_ref().map_or(0.0, |e| e.wire_gbps);
    let (Some(a), Some(b)) = (job(first), job(second)) else { return Ok(false) };
    let rate = (wire(first) + wire(second)) / 2.0;
    let Some(search) = a.search else { return Ok(false) };
    for (a, b) in a.others.iter().zip(&b.others) {
        if !search::clean(&search::trial(a, rate, &search)?)
            || search::clean(&search::trial(b, rate, &search)?)
        {
            return Ok(false);
        }
    }
    Ok(true)
}
