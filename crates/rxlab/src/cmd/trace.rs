//! `rxlab trace`: what is in a capture, and what RSS would make of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use traffic::stats::{Share, TraceStats};

use crate::fail::Fail;
use crate::lab::capture;
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

/// Cores for which the RSS load is shown unless told otherwise.
const CORES: [u16; 4] = [2, 4, 8, 16];
const MAX_CORES: u16 = 1024;

/// Options of `trace`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  rxlab trace capture.pcap\n  rxlab trace capture.pcapng.zst --cores 12 --json"
)]
pub(crate) struct Options {
    /// pcap or pcapng, plain, gzip or zstd
    file: PathBuf,
    /// Cores to spread the flows over [default: 2, 4, 8 and 16]
    #[arg(long, value_name = "N")]
    cores: Option<u16>,
    /// Write JSON instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// A file that is no capture.
pub(crate) fn run(options: &Options) -> Result<(), Fail> {
    if let Some(cores @ (0 | 1025..)) = options.cores {
        return Err(Fail::new(format!("--cores {cores}: allowed: 1 to {MAX_CORES}")));
    }
    let trace = capture::open(&options.file).map_err(Fail::new)?;
    let bar = bar::working("counting");
    let stats = match options.cores {
        Some(n) => TraceStats::new(&trace, &[n]),
        None => TraceStats::new(&trace, &CORES),
    };
    bar.finish_and_clear();
    if options.json { out::json(&stats) } else { out::print(&text(options, &stats)) }
}

fn text(options: &Options, s: &TraceStats) -> String {
    let mut out = format!("{}\n\n", options.file.display());
    summary(&mut out, s);
    let _ = write!(out, "\n{}\n{}\n{}\n", protocols(s), bursts(s), rss(s));
    out
}

fn summary(out: &mut String, s: &TraceStats) {
    let r = &s.read;
    let rate = match (s.gbps, s.pps) {
        (Some(gbps), Some(pps)) => format!("{} on the wire, {} packets/s", rate(gbps), fixed(pps)),
        _ => "no duration, so no rate".into(),
    };
    let _ = writeln!(
        out,
        "packets   {}, {} bytes without FCS in {:.3} s: {rate}",
        r.packets,
        r.bytes,
        r.duration_ns as f64 / 1e9
    );
    let z = &s.sizes;
    let _ = writeln!(
        out,
        "sizes     {} to {} B, mean {:.0}, p50 {}, p90 {}, p99 {} (without FCS)",
        z.min, z.max, z.mean, z.p50, z.p90, z.p99
    );
    let mut from = 0;
    let classes = z.histogram.iter().map(|c| {
        let class = format!("{from}-{}: {}", c.up_to, c.packets);
        from = u32::from(c.up_to) + 1;
        class
    });
    let _ = writeln!(out, "          {}", classes.collect::<Vec<_>>().join(", "));
    let f = &s.flows;
    let _ = writeln!(
        out,
        "flows     {}, {} of one packet; the heaviest has {:.1}% of the bytes, the ten heaviest {:.1}%",
        f.count, f.single_packet, f.top_pct, f.top10_pct
    );
    let mended = [
        (r.snapped, "snapped (their tail reads as zeros)"),
        (r.made_headers, "given an Ethernet header"),
        (r.padded, "padded to 60 B"),
        (r.out_of_order, "stamped out of order"),
        (r.skipped.malformed, "malformed, left out"),
        (r.skipped.unknown_link, "of an unknown link type, left out"),
        (r.skipped.oversize, "longer than 65535 B, left out"),
    ];
    let mut notes: Vec<String> =
        mended.iter().filter(|m| m.0 > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if r.truncated {
        notes.push("the file ends in the middle of a record".into());
    }
    if !notes.is_empty() {
        let _ = writeln!(out, "mended    {}", notes.join("; "));
    }
}

/// A rate in the largest unit of which it is one or more.
fn rate(gbps: f64) -> String {
    let units = [(1.0, "Gbps"), (1e3, "Mbps"), (1e6, "kbps"), (1e9, "bps")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| gbps * scale >= 1.0).unwrap_or(units[3]);
    format!("{} {unit}", fixed(gbps * scale))
}

/// As [`num`], without exponents: of what that has none for as many digits as it takes to see two.
fn fixed(v: f64) -> String {
    if v == 0.0 || v.abs() >= 1e-4 || !v.is_finite() {
        return num(v);
    }
    let digits = (1.0 - v.abs().log10()).ceil().clamp(2.0, 12.0) as usize;
    format!("{v:.digits$}")
}

fn protocols(s: &TraceStats) -> String {
    let mut table =
        Table::new(&[words("protocol"), number("packets", ""), number("packets", "%"), number("bytes", "%")]);
    let mut row = |name: String, share: &Share| {
        table.rows.push(vec![
            name,
            share.packets.to_string(),
            format!("{:.2}", share.packets_pct),
            format!("{:.2}", share.bytes_pct),
        ]);
    };
    for (name, share) in &s.network {
        row((*name).to_string(), share);
    }
    for (name, share) in &s.transport {
        row(format!("  {name}"), share);
    }
    for (name, share) in [("vlan tag", &s.vlan), ("tunnel", &s.tunnel), ("bad headers", &s.bad_headers)] {
        if share.packets > 0 {
            row(name.into(), share);
        }
    }
    table.text(out::colour())
}

fn bursts(s: &TraceStats) -> String {
    let b = &s.bursts;
    let mut table = Table::new(&[
        number("window", "us"),
        number("mean", "packets"),
        number("dispersion", "var/mean"),
        number("peak", "/mean"),
    ]);
    for w in &b.windows {
        table.rows.push(vec![num(w.us), num(w.mean), num(w.dispersion), num(w.peak_to_mean)]);
    }
    let windows = if table.rows.is_empty() { String::new() } else { table.text(out::colour()) };
    format!(
        "{windows}longest row without a gap at 100 Gbps: {} packets; {} with the time stamp of the one before\n",
        b.longest, b.equal_stamps
    )
}

fn rss(s: &TraceStats) -> String {
    let mut table = Table::new(&[
        number("RSS over", "cores"),
        number("max/min", ""),
        number("max/mean", ""),
        words("packets of each core, %"),
    ]);
    for load in &s.rss {
        let all: u64 = load.packets.iter().sum();
        let share = |n: &u64| format!("{:.1}", *n as f64 / all.max(1) as f64 * 100.0);
        table.rows.push(vec![
            load.cores.to_string(),
            load.max_min.map_or("idle core".into(), |v| format!("{v:.2}")),
            format!("{:.2}", load.max_mean),
            load.packets.iter().map(share).collect::<Vec<_>>().join(" "),
        ]);
    }
    table.text(out::colour())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_readable_however_small() {
        let shown: Vec<String> =
            [123.4, 1.0, 0.9996, 8e-4, 8.31e-7, 4.2e-10, 0.0].into_iter().map(rate).collect();
        assert_eq!(
            shown,
            ["123 Gbps", "1.00 Gbps", "1000 Mbps", "800 kbps", "831 bps", "0.420 bps", "0 bps"]
        );
        assert_eq!([0.5, 0.0083, 1e-5].map(fixed), ["0.500", "0.00830", "0.000010"]);
    }
}
