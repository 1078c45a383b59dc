//! `rxlab compare`: which interface wins on this server under this traffic, by how much, and why.

use std::path::PathBuf;

use clap::Args;
use model::Start;
use model::profile::Server;
use serde_json::json;

use crate::diagnosis::{Contender, Machine};
use crate::fail::Fail;
use crate::fail_if::{self, Outcome};
use crate::html::{self, Html};
use crate::interfaces;
use crate::lab::{self, Job, Pair};
use crate::out;
use crate::output::{self, Target};
use crate::palette::Colour;
use crate::plot::{self, Bars, Fill};
use crate::row::{self, COLUMNS, cells};
use crate::setup::{Ready, Setup};
use crate::table::{Table, num, number, words};
use crate::verdict::{self, Verdict};

/// Options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab compare
  rxlab compare --pcap capture.pcap --app nat --html report.html
  rxlab compare --workload imix,flows=100k,zipf=1.1,arrivals=bursty:64 --rate 120 --cores 8
  rxlab compare --interfaces privring --ring 4096 --placements 1 --json
  rxlab compare --rate 150 --fail-if 'rxbisect.drops>0' --fail-if 'p99>200'

Every interface runs from empty and from full rings (one 2 ms stall of all cores, then the run settles
again); where the two end in different states the table shows both. The second decides the verdict.
Loads and rates of results are Gbps of frames, without FCS, preamble and gap; --rate is Gbps on the wire.
Frame sizes are without FCS: the shortest has 60 B, and rfc2544:64 is its name with FCS.")]
pub(crate) struct Compare {
    #[command(flatten)]
    setup: Setup,
    /// Interfaces to compare, separated by commas: privring, shring, rxbisect, dynamic, corec, ddring
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = interfaces::DEFAULT)]
    interfaces: Vec<String>,
    /// Leave out the search for the largest load without a drop
    #[arg(long)]
    no_search: bool,
    // An attribute, because a documentation comment takes the brackets for links.
    #[arg(
        long,
        value_name = "CONDITION",
        help = "End with code 1 if a row of the table meets it: [INTERFACE.]NAME OP NUMBER, NAME drops, p99, sent, \
                no_drop or any field of the JSON rows, OP < <= > >= == !=; may be given several times"
    )]
    fail_if: Vec<String>,
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
/// An option that is not allowed, a file that cannot be used.
pub(crate) fn run(options: Compare) -> Result<Outcome, Fail> {
    let target = Target::asked("--html", options.html.as_deref(), &output::inputs(&options.setup))?;
    let ready = options.setup.ready()?;
    let mut names = options.interfaces;
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|n| seen.insert(n.clone()));
    let conditions = fail_if::read(&options.fail_if, row::names(), &names)?;
    let jobs =
        names.iter().map(|name| job(&ready, name, !options.no_search)).collect::<Result<Vec<_>, _>>()?;
    let pairs = lab::run(&jobs, "comparing")?;
    let verdict = judge(&ready, &pairs)?;
    let shown = if options.json {
        out::json(&data(&ready, &pairs, &verdict))
    } else {
        out::print(&text(&ready, &pairs, &verdict))
    };
    html::deliver(shown, target.as_ref(), || report(&ready, &pairs, &verdict))?;
    fail_if::judge(&conditions, &fail_if::rows(&pairs))
}

/// One interface's runs, with the search for its no-drop rate.
///
/// # Errors
/// Names the size that is not allowed.
pub(crate) fn job(ready: &Ready, name: &str, search: bool) -> Result<Job, Fail> {
    Ok(Job {
        empty: ready.points(name, Start::Empty)?,
        full: ready.points(name, Start::Full)?,
        search: ready.search().filter(|_| search),
        reproduce: ready.command(name),
    })
}

/// Who wins, and every interface explained.
///
/// # Errors
/// There is nothing to judge.
pub(crate) fn judge(ready: &Ready, pairs: &[Pair]) -> Result<Verdict, Fail> {
    let contenders: Vec<Contender> = pairs
        .iter()
        .map(|p| Contender {
            interface: &p.full.interface,
            report: &p.full.report,
            no_drop_gbps: p.full.no_drop_gbps,
        })
        .collect();
    verdict::decide(&machine(&ready.server, ready.tx_ring()), &contenders)
        .ok_or_else(|| Fail::new(format!("--interfaces: none given; allowed: {}", interfaces::ALLOWED)))
}

/// What a verdict must know of a server.
pub(crate) fn machine(server: &Server, tx_ring: u32) -> Machine {
    const MIB: f64 = 1024.0 * 1024.0;
    Machine {
        ddio_mib: server.ddio_bytes() as f64 / MIB,
        llc_mib: server.llc_bytes() as f64 / MIB,
        dram_peak_gbps: server.constants.dram_peak_gbytes.value * 8.0,
        tx_ring: f64::from(tx_ring),
        ghz: server.ghz,
    }
}

fn data(ready: &Ready, pairs: &[Pair], verdict: &Verdict) -> serde_json::Value {
    let results: Vec<_> = pairs.iter().flat_map(|p| [&p.empty, &p.full]).collect();
    let assumed = ready.server.assumed();
    let assumed =
        assumed.iter().map(|(name, value, origin)| json!({"name": name, "value": value, "origin": origin}));
    json!({
        "server": ready.server.name,
        "traffic": ready.traffic_json(),
        "defaults": ready.settings(),
        "seed": ready.seed(),
        "verdict": verdict,
        "hysteresis": pairs.iter().filter(|p| p.hysteresis()).map(|p| &p.full.interface).collect::<Vec<_>>(),
        "results": results,
        "assumed": assumed.collect::<Vec<_>>(),
    })
}

/// The table: a row for each interface, two where the starts differ.
fn table(pairs: &[Pair], verdict: &Verdict) -> Table {
    let mut table = Table::new(&COLUMNS);
    for (row, start) in pairs.iter().flat_map(Pair::shown) {
        if row.interface == verdict.winner {
            table.bold.push(table.rows.len());
        }
        table.rows.push(cells(row, start));
    }
    table
}

/// What each port gets and sends; none where ports are not told apart.
pub(crate) fn ports(pairs: &[Pair]) -> Option<Table> {
    let mut table = Table::new(&[
        words("interface"),
        words("start"),
        number("port", ""),
        number("cores", ""),
        number("offered", "Gbps"),
        number("sent", "Gbps"),
        number("drops", "%"),
        number("busy", "%"),
    ]);
    for (row, start) in pairs.iter().flat_map(Pair::shown) {
        table.rows.extend(row.report.per_port.iter().map(|p| {
            let drops = if p.drops == 0 { "0".into() } else { num(p.drop_pct) };
            vec![
                row.interface.clone(),
                start.into(),
                p.port.to_string(),
                p.cores.to_string(),
                num(p.offered_gbps),
                num(p.throughput_gbps),
                drops,
                num(p.busy_pct),
            ]
        }));
    }
    (!table.rows.is_empty()).then_some(table)
}

fn headline(verdict: &Verdict) -> String {
    let measure = match verdict.decided_by {
        "none" => return "No winner:".into(),
        "no_drop_gbps" => "no-drop rate",
        by => row::describe(by).map_or(by, |f| f.heading),
    };
    format!("{} wins by {}% in {measure}:", verdict.winner, num(verdict.margin_pct))
}

/// Each interface explained.
fn explanations(verdict: &Verdict) -> Vec<String> {
    verdict.diagnoses.iter().map(|d| format!("{}: {}", d.interface, d.text)).collect()
}

/// What the two starts did where they did not do the same.
fn hysteresis(pairs: &[Pair]) -> Vec<String> {
    let differing = pairs.iter().filter(|p| p.hysteresis());
    let line = |p: &Pair| {
        let (e, f) = (&p.empty.report, &p.full.report);
        format!(
            "{}: hysteresis: {} Gbps at {} us from empty rings, {} Gbps at {} us once the rings were full",
            p.full.interface,
            num(e.throughput_gbps),
            num(e.latency_us.mean),
            num(f.throughput_gbps),
            num(f.latency_us.mean)
        )
    };
    differing.map(line).collect()
}

/// How frames leave where cores share a ring without a queue each.
fn reordering(pairs: &[Pair]) -> Vec<String> {
    let rows = pairs.iter().filter(|p| p.full.report.reordering.is_some());
    let line = |p: &Pair| {
        let value = |name: &str| num(p.full.value(name));
        format!(
            "{}: {}% of frames leave behind later ones, by {} places at the most; {}% behind later ones of their flow",
            p.full.interface,
            value("reordered_pct"),
            value("extent_max"),
            value("flow_reordered_pct")
        )
    };
    rows.map(line).collect()
}

/// What the middle run does not show: rates that had not settled, and what depends on placement.
fn reservations(pairs: &[Pair]) -> Vec<String> {
    let rows = || pairs.iter().flat_map(|p| [&p.empty, &p.full]);
    let unsettled: Vec<_> =
        rows().filter(|r| !r.report.settled).map(|r| format!("{} from {}", r.interface, r.start)).collect();
    let mut lines = Vec::new();
    if !unsettled.is_empty() {
        lines.push(format!("rates that never settle, measured as they came: {}", unsettled.join(", ")));
    }
    lines.extend(rows().filter_map(|r| {
        let wide = r.wide_ranges();
        (!wide.is_empty()).then(|| {
            format!("{} from {}, over {} placements: {}", r.interface, r.start, r.placements, wide.join(", "))
        })
    }));
    lines
}

/// Settings and constants in force, a line each.
pub(crate) fn setting_lines(ready: &Ready) -> Vec<String> {
    let settings: Vec<_> = ready
        .settings()
        .iter()
        .filter(|s| !s.1.is_null())
        .map(|(k, v)| format!("{k} {}", v.to_string().replace('"', "")))
        .collect();
    let assumed: Vec<_> = ready
        .server
        .assumed()
        .iter()
        .map(|(name, value, origin)| {
            let origin = origin.split_whitespace().next().unwrap_or_default().trim_end_matches(':');
            format!("{name} {value} ({origin})")
        })
        .collect();
    vec![
        format!("seed {}, {}", ready.seed(), settings.join(", ")),
        format!("constants not published for this server: {}", assumed.join(", ")),
    ]
}

/// What is offered to which server.
pub(crate) fn title(ready: &Ready, pairs: &[Pair]) -> String {
    let offered = pairs.first().map_or(0.0, |p| p.full.report.offered_gbps);
    let nic = if ready.emulated() { ", emulated NIC" } else { "" };
    let ports = ready.ports.told().map_or(String::new(), |told| format!(" ({told})"));
    format!(
        "{} on {}{nic}, {} Gbps of frames offered{ports}",
        ready.traffic(),
        ready.server.name,
        num(offered)
    )
}

fn text(ready: &Ready, pairs: &[Pair], verdict: &Verdict) -> String {
    let mut out = title(ready, pairs) + "\n\n";
    out += &table(pairs, verdict).text(out::colour());
    if let Some(ports) = ports(pairs) {
        out += &("\n".to_string() + &ports.text(out::colour()));
    }
    out += &format!("\n{} {}\n", headline(verdict), verdict.lead);
    let notes = hysteresis(pairs).into_iter().chain(reordering(pairs)).chain(reservations(pairs));
    for line in explanations(verdict).into_iter().chain(notes) {
        out += &format!("- {line}\n");
    }
    for line in setting_lines(ready) {
        out += &format!("\n{line}\n");
    }
    out
}

fn report(ready: &Ready, pairs: &[Pair], verdict: &Verdict) -> Result<Html, Fail> {
    let mut html = Html::new(&title(ready, pairs));
    html.verdict(&headline(verdict), &verdict.lead);
    html.table(&table(pairs, verdict));
    if let Some(ports) = ports(pairs) {
        html.table(&ports);
    }
    let notes = hysteresis(pairs).into_iter().chain(reordering(pairs)).chain(reservations(pairs));
    html.list(explanations(verdict).into_iter().chain(notes));
    html.section("Plots");
    html.plots(&plots(pairs)?);
    html.section("Run it again");
    html.commands(pairs.iter().map(|p| (p.full.interface.clone(), p.full.reproduce.clone())));
    html.section("Settings and constants");
    html.list(setting_lines(ready).into_iter().take(1));
    let all = ready.server.assumed();
    html.list(all.iter().map(|(name, value, origin)| format!("{name} = {value}: {origin}")));
    Ok(html)
}

/// The plots of a comparison: each measure by interface, from both starts, and the drops by cause.
fn plots(pairs: &[Pair]) -> Result<Vec<String>, Fail> {
    let interface = |p: &Pair| (p.full.interface.clone(), Colour::interface(&p.full.interface));
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
        let Some(field) = row::describe(name) else { continue };
        let bars = |label: &str, fill, of: fn(&Pair) -> &row::Row| Bars {
            label: label.into(),
            fill,
            colour: None,
            values: pairs.iter().map(|p| row::field(&of(p).report, name)).collect(),
        };
        let starts = [
            bars("from empty rings", Fill::Light, |p| &p.empty),
            bars("from full rings", Fill::Solid, |p| &p.full),
        ];
        figures.push(plot::bars(field.heading, field.unit, &names, &starts, false)?);
    }
    figures.push(drops(&names, pairs)?);
    Ok(figures)
}

fn drops(names: &[(String, Colour)], pairs: &[Pair]) -> Result<String, Fail> {
    let causes: std::collections::BTreeSet<&str> =
        pairs.iter().flat_map(|p| p.full.report.drops.iter().filter(|d| *d.1 > 0).map(|d| *d.0)).collect();
    let share = |p: &Pair, cause: &str| {
        let r = &p.full.report;
        let all: u64 = r.drops.values().sum();
        r.drops.get(cause).map_or(0.0, |&n| n as f64 / all.max(1) as f64 * r.drop_pct)
    };
    let bars = |cause: &str| Bars {
        label: cause.into(),
        fill: Fill::Solid,
        colour: Some(Colour::cause(cause)),
        values: pairs.iter().map(|p| share(p, cause)).collect(),
    };
    let all: Vec<Bars> = causes.into_iter().map(bars).collect();
    plot::bars("drops by cause, from full rings", "% of offered frames", names, &all, true)
}
