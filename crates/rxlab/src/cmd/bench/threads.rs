//! `rxlab bench threads`: the rings between real threads, interfaces side by side.

use clap::Args;
use serde::Serialize;

use crate::cmd::bench::check_repeats;
use crate::cmd::live;
use crate::cpus::median;
use crate::fail::Fail;
use crate::lab::interfaces;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Options of `bench threads`.
#[derive(Args, Debug)]
pub(crate) struct ThreadsBench {
    #[command(flatten)]
    what: live::What,
    /// Rounds, each of all interfaces in turn; the median of each counts
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: u32,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What `bench threads` found of one interface.
#[derive(Serialize)]
struct ThreadsSpeed {
    interface: &'static str,
    workers: u16,
    packets: u64,
    mpps: f64,
    range: [f64; 2],
    /// Against privring in the same rounds: the median of the ratios.
    against_privring: f64,
}

/// Rounds of all interfaces in turn, so that what disturbs one disturbs its neighbours too.
///
/// # Errors
/// An option that is not allowed, or a rule that does not hold.
pub(crate) fn run(options: &ThreadsBench) -> Result<(), Fail> {
    check_repeats(options.repeats)?;
    let configs = interfaces::DEFAULT
        .iter()
        .map(|i| options.what.config(&interfaces::one(i)?))
        .collect::<Result<Vec<_>, _>>()?;
    let bar = bar::live(u64::from(options.repeats) * configs.len() as u64, "running live");
    let mut rates: Vec<Vec<f64>> = configs.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.repeats {
        for (rates, config) in rates.iter_mut().zip(&configs) {
            rates.push(live::one(config)?.mpps);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let first = rates.first().cloned().unwrap_or_default();
    let speeds: Vec<ThreadsSpeed> = configs
        .iter()
        .zip(&rates)
        .map(|(config, rates)| ThreadsSpeed {
            interface: config.interface.name(),
            workers: config.workers,
            packets: config.packets,
            mpps: median(rates.clone()),
            range: rates.iter().fold([f64::INFINITY, 0.0], |[lo, hi], &r| [lo.min(r), hi.max(r)]),
            against_privring: median(rates.iter().zip(&first).map(|(r, p)| r / p).collect()),
        })
        .collect();
    if options.json {
        return out::json_rows(&speeds);
    }
    let mut table = Table::new(&[
        words("interface"),
        number("workers", ""),
        number("rate", "Mpps"),
        number("lowest..highest", "Mpps"),
        number("against privring", ""),
    ]);
    for s in &speeds {
        let range = format!("{}..{}", num(s.range[0]), num(s.range[1]));
        table.rows.push(vec![
            s.interface.into(),
            s.workers.to_string(),
            num(s.mpps),
            range,
            num(s.against_privring),
        ]);
    }
    out::print(&table.text(out::colour()))
}
