//! The advice as text, as data, as a page.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::guideline::Sizes;
use super::refine::Score;
use super::{Advice, OTHERS};
use crate::fail::Fail;
use crate::lab::jobs::Pair;
use crate::lab::shown::{Columns, ports, setting_lines, title};
use crate::show::html::Html;
use crate::show::out;
use crate::show::palette::Colour;
use crate::show::plot::{self, Bars, Fill};
use crate::show::table::{Table, num, number, words};
use crate::verdict::robust;

/// Below this a difference of two rates is not told, Gbps.
const LEVEL_GBPS: f64 = 0.05;

impl Advice {
    fn pool(&self) -> u64 {
        self.pairs[0].full.report.conservation.buffers
    }

    fn margin_pct(&self) -> f64 {
        self.guideline.margin_pct(self.sizes.ax)
    }

    /// What to set, beside what the guideline alone says.
    fn settings(&self) -> Table {
        let mut table =
            Table::new(&[words("setting"), number("advice", ""), number("guideline", ""), words("unit")]);
        let (now, guideline) = (self.sizes, self.guideline.sizes);
        let mut row = |what: &str, advice: String, guideline: String, unit: &str| {
            table.rows.push(vec![what.into(), advice, guideline, unit.into()]);
        };
        row("|Ax| of each core", now.ax.to_string(), guideline.ax.to_string(), "entries");
        row("|Bx| of each core", now.bx.to_string(), guideline.bx.to_string(), "entries");
        let per_port = self.guideline.each_port();
        row(
            "cores of each port",
            per_port.clone(),
            per_port,
            "cores, each Bx served by the Ax of all of them",
        );
        row("pool", self.pool().to_string(), "-".into(), "buffers: full Ax, Bx and Tx rings, caches");
        table
    }

    /// The conditions, what the model adds, and the state that the advice ends in.
    fn reasons(&self) -> Vec<String> {
        let mut lines = self.guideline.reasons(self.sizes);
        if self.ready.ports.stated {
            lines.insert(0, self.ready.ports.why());
        }
        lines.push(self.moved());
        let full = &self.pairs[0].full.report;
        let ddio = self.ready.server.ddio_bytes() as f64 / f64::from(1 << 20);
        lines.push(format!(
            "posted buffers alone take {}% of the DDIO capacity; with frames that wait and leave {} buffers circulate under the offered load, {} MiB or {}% of it",
            num(100.0 - self.margin_pct()),
            num(full.circulating_buffers),
            num(full.io_working_set_mib),
            num(full.io_working_set_mib / ddio * 100.0)
        ));
        lines.push(if self.pairs[0].hysteresis() {
            "metastable: from empty and from full rings the advice ends in different states".into()
        } else {
            "not metastable: from empty and from full rings the advice ends in the same state".into()
        });
        lines
    }

    fn moved(&self) -> String {
        let at = |s: Sizes| {
            let score = self.tried.get(&s).copied().unwrap_or(Score { no_drop: f64::NAN, sent: f64::NAN });
            format!(
                "{}/{} sends {} Gbps and {} without a drop",
                s.ax,
                s.bx,
                num(score.sent),
                num(score.no_drop)
            )
        };
        let guideline = self.guideline.sizes;
        let tried = format!("of {} sizes tried in the model", self.tried.len());
        if self.sizes == guideline {
            return format!("{tried} none is better by more than 1%: {}", at(guideline));
        }
        let left = if self.margin_pct() < 0.0 && self.guideline.margin_pct(guideline.ax) >= 0.0 {
            ": condition (1) is left for that, at the price of DRAM traffic"
        } else {
            ""
        };
        format!("{tried} {}{left}; the guideline's {}", at(self.sizes), at(guideline))
    }

    fn results(&self) -> Table {
        let columns = Columns::of(&self.pairs[0].full.report);
        let mut table = Table::new(&columns.headings());
        for (i, pair) in self.pairs.iter().enumerate() {
            for (row, start) in pair.shown() {
                if i == 0 {
                    table.bold.push(table.rows.len());
                }
                table.rows.push(columns.cells(row, start));
            }
        }
        table
    }

    /// What the best ring of each other interface loses against the advice.
    fn lost(&self) -> Vec<String> {
        let advice = &self.pairs[0];
        self.pairs.iter().skip(1).map(|p| lost(p, advice)).collect()
    }

    fn explained(&self) -> Vec<String> {
        self.verdict.diagnoses.iter().map(|d| format!("{}: {}", d.interface, d.text)).collect()
    }

    /// How robust it is, in sentences.
    fn uncertain(&self) -> Vec<String> {
        self.robust.as_ref().map_or_else(Vec::new, |r| robust::lines(r, self.verdict.winner.as_deref()))
    }

    fn breaks(&self) -> String {
        let Some(limit) = &self.limit else {
            return "What would break first: not searched, the capture has its own timing".into();
        };
        match limit.breaks_gbps {
            Some(gbps) => {
                format!("First to break, at {} Gbps of frames: {}", num(gbps), limit.diagnosis.text)
            }
            None => format!("Nothing breaks up to line rate: {}", limit.diagnosis.text),
        }
    }

    fn used(&self) -> Option<Table> {
        let limit = self.limit.as_ref()?;
        let mut table = Table::new(&[
            words("at that load"),
            number("used", ""),
            number("of", ""),
            words("unit"),
            number("share", "%"),
        ]);
        table.rows = limit
            .used
            .iter()
            .map(|r| {
                let share = num(r.used / r.whole * 100.0);
                vec![r.name.into(), num(r.used), num(r.whole), r.unit.into(), share]
            })
            .collect();
        Some(table)
    }

    fn commands(&self) -> Vec<(String, String)> {
        self.pairs.iter().map(|p| (p.full.interface.clone(), p.full.reproduce.clone())).collect()
    }
}

fn lost(other: &Pair, advice: &Pair) -> String {
    let (o, a) = (&other.full, &advice.full);
    let than = |what: &str, other: f64, advice: f64| {
        let less = advice - other;
        if less.abs() < LEVEL_GBPS {
            return format!("as much {what}");
        }
        format!("{} Gbps {} {what}", num(less.abs()), if less > 0.0 { "less" } else { "more" })
    };
    let no_drop = o.no_drop_gbps.zip(a.no_drop_gbps);
    let no_drop = no_drop.map_or(String::new(), |(o, a)| than("without a drop", o, a) + ", ");
    format!(
        "{} with its best ring, {}: {no_drop}{}, mean latency {} us against {} us",
        o.interface,
        o.params.get("ring").copied().unwrap_or_default(),
        than("under the offered load", o.report.throughput_gbps, a.report.throughput_gbps),
        num(o.report.latency_us.mean),
        num(a.report.latency_us.mean)
    )
}

/// For a terminal.
pub(super) fn text(advice: &Advice) -> String {
    let colour = out::colour();
    let list = |lines: Vec<String>| lines.iter().map(|l| format!("- {l}\n")).collect::<String>();
    let mut out = title(&advice.ready, &advice.pairs) + "\n\n";
    out += &(advice.settings().text(colour) + "\n" + &list(advice.reasons()));
    out += &format!("\n{}\n", advice.results().text(colour).trim_end());
    if let Some(ports) = ports(&advice.pairs) {
        out += &format!("\n{}\n", ports.text(colour).trim_end());
    }
    out += &("\n".to_string() + &list(advice.lost()) + &list(advice.explained()));
    if let Some(robust) = &advice.robust {
        out += &format!("\n{}\n", robust::table(robust).text(colour));
        out += &list(advice.uncertain());
    }
    out += &format!("\n{}\n", advice.breaks());
    if let Some(used) = advice.used() {
        out += &format!("\n{}", used.text(colour));
    }
    out += "\nRun it again:\n";
    for (_, command) in advice.commands() {
        out += &format!("  {command}\n");
    }
    for line in setting_lines(&advice.ready) {
        out += &format!("\n{line}\n");
    }
    out
}

/// For programs.
pub(super) fn data(advice: &Advice) -> Value {
    let sizes = |s: Sizes| json!({"ax": s.ax, "bx": s.bx});
    let scores = |name: &str, tried: &BTreeMap<u32, Score>| {
        let rings: Vec<_> = tried.iter().map(|(ring, s)| scored(json!({"ring": ring}), s)).collect();
        json!({"interface": name, "tried": rings})
    };
    let limit = advice.limit.as_ref().map(|l| {
        let used =
            l.used.iter().map(|r| json!({"name": r.name, "used": r.used, "of": r.whole, "unit": r.unit}));
        json!({"gbps": l.breaks_gbps, "diagnosis": l.diagnosis, "used": used.collect::<Vec<_>>()})
    });
    let mut data = json!({
        "server": advice.ready.server.name,
        "traffic": advice.ready.traffic_json(),
        "defaults": advice.ready.settings(),
        "seed": advice.ready.seed(),
        "advice": {
            "ax": advice.sizes.ax,
            "bx": advice.sizes.bx,
            "association": "all-to-all",
            "cores_per_nic": advice.guideline.per_port,
            "pool": advice.pool(),
        },
        "guideline": sizes(advice.guideline.sizes),
        "reasons": advice.reasons(),
        "ddio_margin_pct": advice.margin_pct(),
        "circulating_buffers": advice.pairs[0].full.report.circulating_buffers,
        "metastable": advice.pairs[0].hysteresis(),
        "tried": advice.tried.iter().map(|(s, score)| scored(sizes(*s), score)).collect::<Vec<_>>(),
        "others": OTHERS.iter().zip(&advice.swept).map(|(n, t)| scores(n, t)).collect::<Vec<_>>(),
        "lost": advice.lost(),
        "breaks": limit,
        "uncertainty": advice.robust,
        "results": advice.pairs.iter().flat_map(|p| [&p.empty, &p.full]).collect::<Vec<_>>(),
    });
    if advice.ready.ports.stated {
        data["advice"]["port_cores"] = json!(advice.guideline.ports);
        data["advice"]["port_load"] = json!(advice.ready.ports.loads);
    }
    data
}

/// A setting with what it reached.
fn scored(mut setting: Value, score: &Score) -> Value {
    setting["no_drop_gbps"] = score.no_drop.into();
    setting["throughput_gbps"] = score.sent.into();
    setting
}

/// As a page.
pub(super) fn report(advice: &Advice) -> Result<Html, Fail> {
    let mut html = Html::new(&title(&advice.ready, &advice.pairs));
    let Sizes { ax, bx } = advice.sizes;
    let per_port = advice.guideline.each_port();
    html.verdict(
        &format!("|Ax| {ax}, |Bx| {bx}, all-to-all among {per_port} cores, {} buffers.", advice.pool()),
        &advice.breaks(),
    );
    html.table(&advice.settings());
    html.list(advice.reasons());
    html.table(&advice.results());
    if let Some(ports) = ports(&advice.pairs) {
        html.table(&ports);
    }
    html.list(advice.lost().into_iter().chain(advice.explained()));
    if let Some(used) = advice.used() {
        html.table(&used);
    }
    if let Some(robust) = &advice.robust {
        html.section("How sure");
        html.table(&robust::table(robust));
        html.list(advice.uncertain());
    }
    html.section("Sizes tried");
    html.plots(&plots(advice)?);
    html.section("Run it again");
    html.commands(advice.commands());
    html.section("Settings and constants");
    html.list(setting_lines(&advice.ready));
    Ok(html)
}

/// A plot for each interface: what every size reached.
fn plots(advice: &Advice) -> Result<Vec<String>, Fail> {
    let mut svgs = vec![bars("rxbisect", &advice.tried, |s| format!("{}/{}", s.ax, s.bx))?];
    for (name, tried) in OTHERS.iter().zip(&advice.swept) {
        svgs.push(bars(name, tried, u32::to_string)?);
    }
    Ok(svgs)
}

fn bars<K>(name: &str, tried: &BTreeMap<K, Score>, label: impl Fn(&K) -> String) -> Result<String, Fail> {
    let colour = Colour::interface(name);
    let names: Vec<_> = tried.keys().map(|size| (label(size), colour)).collect();
    let bars = |label: &str, fill, of: fn(&Score) -> f64| Bars {
        label: label.into(),
        fill,
        colour: Some(colour),
        values: tried.values().map(of).collect(),
    };
    let all = [
        bars("no-drop rate", Fill::Hollow, |s| s.no_drop),
        bars("sent from full rings", Fill::Solid, |s| s.sent),
    ];
    plot::bars(&format!("{name} by entries"), "Gbps", &names, &all, false)
}
