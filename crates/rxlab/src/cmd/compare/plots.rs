//! The plots of a comparison.

use std::collections::BTreeSet;

use apps::Fate;

use super::Comparison;
use crate::fail::Fail;
use crate::lab::fields;
use crate::lab::jobs::Pair;
use crate::lab::row::Row;
use crate::show::palette::Colour;
use crate::show::plot::{self, Bars, Fill};

/// Each measure by interface, from both starts, and the drops by cause.
///
/// # Errors
/// A plot cannot be drawn.
pub(super) fn plots(c: &Comparison) -> Result<Vec<String>, Fail> {
    let pairs = &c.pairs;
    let interface = |p: &Pair| (p.full.label.clone(), Colour::interface(&p.full.interface));
    let names: Vec<_> = pairs.iter().map(interface).collect();
    let mut figures = Vec::new();
    for name in [
        "throughput_gbps",
        "latency_mean_us",
        "latency_p99_us",
        "ddio_hit_pct",
        "dram_gbps",
        "circulating_buffers",
    ] {
        let Some(field) = fields::describe(name) else { continue };
        let bars = |label: &str, fill, of: fn(&Pair) -> &Row| Bars {
            label: label.into(),
            fill,
            colour: None,
            values: pairs.iter().map(|p| of(p).value(name)).collect(),
        };
        let starts = [
            bars("from empty rings", Fill::Light, |p| &p.empty),
            bars("from full rings", Fill::Solid, |p| &p.full),
        ];
        figures.push(plot::bars(field.heading, field.unit, &names, &starts, false)?);
    }
    if pairs.iter().all(|p| p.full.no_drop_gbps.is_some()) {
        let values = pairs.iter().map(|p| p.full.no_drop_gbps.unwrap_or(0.0)).collect();
        let bars = Bars { label: "without a drop".into(), fill: Fill::Solid, colour: None, values };
        figures.insert(1, plot::bars("no-drop rate", "Gbps", &names, &[bars], false)?);
    }
    figures.push(drops(&names, pairs)?);
    Ok(figures)
}

fn drops(names: &[(String, Colour)], pairs: &[Pair]) -> Result<String, Fail> {
    let causes: BTreeSet<Fate> =
        pairs.iter().flat_map(|p| p.full.report.drops.iter().filter(|d| *d.1 > 0).map(|d| *d.0)).collect();
    let share = |p: &Pair, cause: Fate| {
        let r = &p.full.report;
        let all: u64 = r.drops.values().sum();
        r.drops.get(&cause).map_or(0.0, |&n| n as f64 / all.max(1) as f64 * r.drop_pct)
    };
    let bars = |cause: Fate| Bars {
        label: cause.name().into(),
        fill: Fill::Solid,
        colour: Some(Colour::cause(cause)),
        values: pairs.iter().map(|p| share(p, cause)).collect(),
    };
    let all: Vec<Bars> = causes.into_iter().map(bars).collect();
    plot::bars("drops by cause, from full rings", "% of offered frames", names, &all, true)
}
