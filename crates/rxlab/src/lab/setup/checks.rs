//! What options must not ask for together: traffic that a server cannot take, timing that there is not.

use model::App;
use model::profile::Server;
use traffic::{Rate, Stamps, Workload};

use crate::fail::Fail;
use crate::lab::ports::Ports;

/// Own timing is that of a capture's stamps, of which there must be some.
pub(super) fn has_own_timing(workload: &Workload) -> Result<(), Fail> {
    let what = match workload {
        Workload::Generated(_) => "generated traffic has no timing of its own",
        Workload::Pcap(_, Some(_)) => "--arrivals overrides the capture's own timing",
        Workload::Pcap(trace, None) if trace.stats().timing() == Stamps::None => {
            "all frames of the capture have the same time stamp"
        }
        Workload::Pcap(..) => return Ok(()),
    };
    Err(Fail::new(format!("--rate own: {what}; allowed: a rate in Gbps")))
}

/// The base cycles of a frame in one's own application.
pub(super) fn app_cycles(server: &mut Server, app: App, cycles: Option<u32>) -> Result<(), Fail> {
    let Some(cycles) = cycles else { return Ok(()) };
    check("--app-cycles", cycles, 1, 10_000_000, "cycles of a frame")?;
    let Some(constant) = app.kind().and_then(|kind| server.apps.own_cycles(kind)) else {
        return Err(Fail::new(format!(
            "--app-cycles {cycles}: allowed: with --app l3fwd, lb, nat, nf, udp-echo, udp-ack or vxlan"
        )));
    };
    constant.value = f64::from(cycles);
    constant.origin = "stated: --app-cycles".into();
    Ok(())
}

/// Frames that no buffer of the server holds are not generated; those of a capture are dropped as on a card.
/// Times are 64 bits of ps, which a capture's own must not exceed.
pub(super) fn fits(workload: &Workload, rate: Rate, server: &Server) -> Result<(), Fail> {
    const DAYS: u64 = 100;
    const DAY_NS: u64 = 86_400_000_000_000;
    match workload {
        Workload::Generated(spec)
            if spec.longest().is_some_and(|bytes| u32::from(bytes) > server.buffers.room) =>
        {
            let (room, name, bytes) = (server.buffers.room, &server.name, spec.longest().unwrap_or_default());
            Err(Fail::new(format!(
                "--workload {spec}: frames of {bytes} bytes; allowed on {name}: up to {room} bytes, a buffer's room (--room)"
            )))
        }
        Workload::Pcap(trace, _) if rate == Rate::Own && trace.stats().duration_ns > DAYS * DAY_NS => {
            let days = trace.stats().duration_ns / DAY_NS;
            Err(Fail::new(format!(
                "--rate own: the capture spans {days} days; allowed: up to {DAYS}, or a rate"
            )))
        }
        _ => Ok(()),
    }
}

/// Loads that differ are what was asked for only where each port has some of it.
pub(super) fn with_traffic(ports: &Ports, workload: &Workload) -> Result<(), Fail> {
    let (flows, what) = match workload {
        Workload::Pcap(trace, _) => (trace.stats().flows, "capture"),
        Workload::Generated(spec) => (spec.flows, "workload"),
    };
    if flows >= u64::from(ports.count()) {
        return Ok(());
    }
    let (loads, ports) = (ports.load_text(), ports.count());
    Err(Fail::new(format!(
        "--port-load {loads}: allowed: with a {what} of {ports} flows or more, one for each port"
    )))
}

pub(super) fn check(flag: &str, value: u32, lo: u32, hi: u32, what: &str) -> Result<(), Fail> {
    if (lo..=hi).contains(&value) {
        return Ok(());
    }
    Err(Fail::new(format!("{flag} {value}: allowed: {lo} to {hi} {what}")))
}
