//! What comparisons and advice both show: what is offered, a result's columns, what each port gets, what is in force.

use model::Report;

use crate::lab::fields;
use crate::lab::jobs::Pair;
use crate::lab::row::Row;
use crate::lab::setup::Ready;
use crate::show::table::{Column, Table, num, number, words};

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

/// Mean frame, bytes without FCS, below which rates of frames say more than those of bits.
pub(crate) const SMALL_FRAME: f64 = 300.0;

/// What a table of results shows beside the first columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    /// Rates in Gbps.
    Large,
    /// Rates in Gbps and in Mpps.
    Small,
}

impl Columns {
    /// What suits these results.
    pub(crate) fn of(r: &Report) -> Columns {
        let mean = r.counted.offered_bytes as f64 / r.counted.offered.max(1) as f64;
        if mean < SMALL_FRAME { Columns::Small } else { Columns::Large }
    }

    /// Headings.
    pub(crate) fn headings(self) -> Vec<Column> {
        let mut columns = vec![
            words("interface"),
            words("today"),
            number("sizes", "entries"),
            words("start"),
            number("sent", "Gbps"),
            number("no-drop", "Gbps"),
        ];
        if self == Columns::Small {
            columns.extend([number("sent", "Mpps"), number("no-drop", "Mpps")]);
        }
        columns.push(number("drops", "%"));
        // With both rates there is no room for it in a terminal's width.
        if self == Columns::Large {
            columns.push(number("mean", "us"));
        }
        columns.extend([number("p99", "us"), number("DDIO", "hit %"), number("DRAM", "Gbps")]);
        if self == Columns::Large {
            columns.push(number("buffers", "in use"));
        }
        columns.push(number("frame", "cycles"));
        columns
    }

    /// A row as text; `start` is told apart only where it matters.
    pub(crate) fn cells(self, row: &Row, start: &str) -> Vec<String> {
        let r = &row.report;
        let mut cells = vec![
            row.name(),
            row.today.word().into(),
            row.sizes(),
            start.into(),
            num(r.throughput_gbps),
            row.no_drop_gbps.map_or("-".into(), num),
        ];
        if self == Columns::Small {
            let frames = r.counted.offered as f64 / r.counted.offered_bytes.max(1) as f64;
            let no_drop = row.no_drop_gbps.map_or("-".into(), |gbps| num(gbps / 8e-3 * frames));
            cells.extend([num(r.mpps), no_drop]);
        }
        cells.push(if r.drops.values().all(|&n| n == 0) { "0".into() } else { num(r.drop_pct) });
        if self == Columns::Large {
            cells.push(num(r.latency_us.mean));
        }
        cells.extend([num(r.latency_us.p99), num(r.ddio_hit_pct), hundredths(fields::value(r, "dram_gbps"))]);
        if self == Columns::Large {
            cells.push(num(r.circulating_buffers));
        }
        cells.push(num(r.cycles_per_packet));
        cells
    }
}

/// Nobody minds less than a hundredth, and it takes as much room as a hundred.
fn hundredths(v: f64) -> String {
    num((v * 100.0).round() / 100.0)
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
                row.label.clone(),
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
