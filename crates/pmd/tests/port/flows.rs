//! Frames that come in one burst fare by flow rules as those that come one by one.

use flow::{Field, Layer};
use rings::Outcome;

use super::*;

const QUEUES: u16 = 3;

/// How many frames come; more than are looked up together, no more than a turn takes.
const FRAMES: u64 = 60;

/// What a port made of its frames.
#[derive(Debug, PartialEq)]
struct Fared {
    /// Mark and bytes of the frames of each queue, in their order.
    queues: Vec<Vec<(u32, Vec<u8>)>>,
    outcomes: Vec<u64>,
    /// Frames and bytes of each rule.
    counts: Vec<(u64, u64)>,
}

fn act(act: FlowAct, a: u32) -> FlowAction {
    FlowAction { act: act as u8, a, b: u32::MAX, c: 0, value: [0; 16] }
}

/// Sets the destination port to 7.
fn set() -> FlowAction {
    FlowAction { value: 7_u128.to_be_bytes(), ..act(FlowAct::Set, Field::UdpDst as u32) }
}

/// Adds a rule for frames from a port; its name.
fn add(port: &Device, group: u32, source: u16, actions: &[FlowAction]) -> u64 {
    let value = u128::from(source).to_be_bytes();
    let mask = Field::UdpSrc.largest().to_be_bytes();
    let (kind, layer) = (FlowTermKind::Field as u8, Layer::Outer as u8);
    let term = FlowTerm { kind, layer, what: Field::UdpSrc as u8, value, mask };
    let rule = FlowRule {
        group,
        priority: 0,
        terms: &raw const term,
        nb_terms: 1,
        actions: actions.as_ptr(),
        nb_actions: actions.len() as u32,
        rss: std::ptr::null(),
        vxlan: std::ptr::null(),
        age_context: 0,
    };
    let (mut name, mut fault) = (0, FlowFault { part: FlowPart::Whole, index: 0, text: [0; FLOW_TEXT] });
    // SAFETY: the handle lives, and all that is pointed to until the call ends.
    assert_eq!(unsafe { rxlab_flow_create(port.handle, &rule, true, &mut name, &mut fault) }, 0);
    name
}

/// Rules of each ending: to queues, marked, dropped, edited behind a jump, to a queue that is not there.
fn rules(port: &Device) -> Vec<u64> {
    let count = act(FlowAct::Count, 0);
    let queue = |queue| act(FlowAct::Queue, queue);
    vec![
        add(port, 0, 0, &[count, queue(1)]),
        add(port, 0, 1, &[count, act(FlowAct::Mark, 5), queue(1)]),
        add(port, 0, 2, &[count, act(FlowAct::Drop, 0)]),
        add(port, 0, 3, &[count, act(FlowAct::Jump, 1)]),
        add(port, 1, 3, &[count, set(), queue(2)]),
        add(port, 0, 4, &[count, queue(u32::from(QUEUES))]),
    ]
}

fn count(port: &Device, name: u64) -> (u64, u64) {
    let mut told = FlowCount { counts: false, frames: 0, bytes: 0 };
    let mut fault = FlowFault { part: FlowPart::Whole, index: 0, text: [0; FLOW_TEXT] };
    // SAFETY: the handle lives, and all that is pointed to until the call ends.
    assert_eq!(unsafe { rxlab_flow_count(port.handle, name, false, &mut told, &mut fault) }, 0);
    (told.frames, told.bytes)
}

/// Sends numbered frames of eight sources, so many before each turn of the NIC core.
fn fare(iface: &str, each: u64) -> Fared {
    let core = Core::idle();
    let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
    let mut lcore = Lcore::new(Pool::new(2048));
    port.start(QUEUES, 64, &mut lcore.pool).unwrap();
    let rules = rules(&port);
    let mut queues = vec![Vec::new(); usize::from(QUEUES)];
    while lcore.next <= FRAMES {
        lcore.send(port.txq(0), 8, each.min(FRAMES + 1 - lcore.next) as usize);
        // SAFETY: the NIC core lives and has no thread.
        unsafe { rxlab_nic_core_turn(core.0) };
        for (q, came) in (0..QUEUES).zip(&mut queues) {
            let mut out = [NONE; FRAMES as usize];
            let n = receive(port.rxq(q), &mut lcore.pool, &mut out);
            for c in &out[..n] {
                came.push((c.mark, bytes(c.buf.0, usize::from(c.len)).to_vec()));
                lcore.pool.free.push(c.buf.0);
            }
        }
    }
    let counts = rules.iter().map(|name| count(&port, *name)).collect();
    let left = port.stop(QUEUES, &mut lcore.pool)[0];
    lcore.free(left as usize);
    assert_eq!(lcore.pool.free.len(), 2048);
    Fared { queues, outcomes: outcomes(&port, QUEUES), counts }
}

#[test]
fn a_burst_fares_by_rules_as_its_frames_one_by_one() {
    for iface in IFACES {
        let alone = fare(iface, 1);
        assert!(alone.queues.iter().all(|frames| !frames.is_empty()), "{iface}");
        assert!(
            alone.outcomes[Outcome::FlowDrop as usize] > 0
                && alone.outcomes[Outcome::QueueStopped as usize] > 0
        );
        for each in [7, FRAMES] {
            assert_eq!(fare(iface, each), alone, "{iface}: {each} at a time");
        }
    }
}
