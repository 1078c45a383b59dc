//! What the model says of live throughput on a calibrated machine: a software NIC on one core, a
//! receiver that reads every byte on the other.

use memory::Ps;
use model::profile::Server;
use model::{App, Scenario, Setting};
use rings::{Interface, privring, rxbisect, shring};
use serde::Serialize;
use traffic::{Line, Rate, Workload};

use crate::fail::Fail;
use crate::show::bar;
use crate::show::table::{Table, num, number, words};

/// Bytes of a frame without FCS: 64 and 1500 on the wire's count, as `bench live` takes them.
const FRAMES: [u16; 2] = [64, 1500];
/// Different flows.
const FLOWS: u32 = 8192;
/// Ring entries, as everywhere else.
const RING: u32 = 1024;
/// Simulated time of a run at the most.
const LIMIT: Ps = Ps::from_us(20_000);

/// One interface at one size.
#[derive(Serialize)]
pub(super) struct Prediction {
    interface: &'static str,
    frame_len: u16,
    mpps: f64,
    gbps: f64,
    /// How busy the two cores are, percent.
    nic_busy_pct: f64,
    receiver_busy_pct: f64,
}

/// All interfaces at all sizes.
///
/// # Errors
/// The profile has a card, or the model cannot run it.
pub(super) fn all(server: &Server) -> Result<Vec<Prediction>, Fail> {
    if server.nic_core().is_none() {
        let what = "its NIC is a card; allowed: a profile of `rxlab calibrate`, with nic.kind = \"core\"";
        return Err(Fail::new(format!("{}: {what}", server.name)));
    }
    let interfaces = [
        Interface::PrivRing(privring::Sizes { ring: RING }),
        Interface::ShRing(shring::Sizes { ring: RING, shared_by: 1, ..Default::default() }),
        // As the driver's only queue has it.
        Interface::RxBisect(rxbisect::Sizes {
            ax: rxbisect::Sizes::least_ax(RING, 1),
            bx: RING,
            ..Default::default()
        }),
    ];
    let points = FRAMES.iter().flat_map(|len| interfaces.iter().map(move |i| (i, *len)));
    let bar = bar::progress((FRAMES.len() * interfaces.len()) as u64, "predicting");
    points.map(|(interface, len)| one(server, interface, len).inspect(|_| bar.inc(1))).collect()
}

fn one(server: &Server, interface: &Interface, len: u16) -> Result<Prediction, Fail> {
    let workload = format!("fixed:{len},flows={FLOWS}").parse().map_err(Fail::new)?;
    let line = Line { port: 0, loads: &[1], gbps: server.nic.port_gbps };
    let source = Workload::Generated(workload).source_on(line, Rate::Own, 1);
    let mut scenario = Scenario {
        window: server.window(),
        setting: Setting {
            sampling: 1,
            limit: LIMIT,
            ..Setting::new(server.clone(), interface.clone(), App::Sink)
        },
        port_cores: vec![1],
        sources: vec![source],
        peers: Vec::new(),
    };
    let report = model::run(&mut scenario).map_err(|e| Fail::new(format!("{}: {e}", interface.name())))?;
    Ok(Prediction {
        interface: interface.name(),
        frame_len: len,
        mpps: report.mpps,
        gbps: report.throughput_gbps,
        nic_busy_pct: report.nic_busy_pct.unwrap_or_default(),
        receiver_busy_pct: report.per_core.first().map_or(0.0, |c| c.busy_pct),
    })
}

/// For people.
pub(super) fn table(predictions: &[Prediction]) -> Table {
    let mut table = Table::new(&[
        words("interface"),
        number("frame", "B, no FCS"),
        number("predicted", "Mpps"),
        number("", "Gbps"),
        number("NIC core", "busy %"),
        number("receiver", "busy %"),
    ]);
    for p in predictions {
        table.rows.push(vec![
            p.interface.into(),
            p.frame_len.to_string(),
            num(p.mpps),
            num(p.gbps),
            num(p.nic_busy_pct),
            num(p.receiver_busy_pct),
        ]);
    }
    table
}
