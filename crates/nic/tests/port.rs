//! The receive pipeline: what it admits, when it stores, what it tells.

mod clock;

use clock::{Clock, Ring};
use memory::Ps;
use nic::{Arrival, Config, Counters, HASHED, Incoming, Port};
use packet::{ByPort, PARTITION_PORT, Rss, Steering, kind};
use proptest::prelude::*;
use rings::Outcome;

/// An Ethernet/IPv4/UDP frame's first 42 bytes; `port` tells flows apart.
fn head(port: u16) -> Vec<u8> {
    let mut h = vec![0u8; 42];
    h[12..14].copy_from_slice(&[8, 0]);
    h[14] = 0x45;
    h[16..18].copy_from_slice(&[0, 46]);
    h[22] = 64;
    h[23] = 17;
    h[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    h[34..36].copy_from_slice(&port.to_be_bytes());
    h[36..38].copy_from_slice(&80u16.to_be_bytes());
    h
}

fn port(ring: Ring, config: Config) -> Port<Ring> {
    Port::new(ring, Rss::spread(4), config)
}

const OPEN: Config = Config { rate_bps: 0, pipeline_pps: 0, buffer_bytes: 3000, max_frame: 2048 };

#[test]
fn waits_for_each_frame_and_stores_it_at_its_time() {
    let (mut m, mut p) = (Clock::default(), port(Ring::new(10, 9), OPEN));
    for at in [1_000, 5_000] {
        let (_, outcome) = p.receive(&mut m, &Arrival { at: Ps(at), head: &head(1), len: 60, flow: 0 });
        assert_eq!(outcome, Outcome::Delivered);
    }
    let times: Vec<_> = p.nic().stored.iter().map(|s| s.2).collect();
    assert_eq!(times, [Ps(1_000), Ps(5_000)]);
}

#[test]
fn the_card_fills_and_drops_when_stores_fall_behind_the_wire() {
    // A frame a nanosecond of 1000 B, a store takes 10 ns: three fit in the card's 3000 B.
    let (mut m, mut p) = (Clock::default(), port(Ring::new(10_000, 1000), OPEN));
    let outcomes: Vec<_> = (0..23)
        .map(|i| p.receive(&mut m, &Arrival { at: Ps(1_000 * i), head: &head(1), len: 1000, flow: 0 }).1)
        .collect();
    // Stores finish at 10, 20, 30 ns ...; each makes room for the frame that comes then.
    let taken: Vec<_> = (0..23).filter(|i| outcomes[*i] == Outcome::Delivered).collect();
    assert_eq!(taken, [0, 1, 2, 10, 20]);
    assert!(outcomes.iter().all(|o| matches!(o, Outcome::Delivered | Outcome::NicBufferFull)));
}

#[test]
fn the_wire_carries_no_more_than_its_rate() {
    let config = Config { rate_bps: 100_000_000_000, ..OPEN };
    let (mut m, mut p) = (Clock::default(), port(Ring::new(0, 9), config));
    for _ in 0..3 {
        p.receive(&mut m, &Arrival { at: Ps(10_000), head: &head(1), len: 60, flow: 0 });
    }
    let times: Vec<_> = p.nic().stored.iter().map(|s| s.2.0).collect();
    assert_eq!(times, [10_000, 16_720, 23_440]);
}

#[test]
fn the_pipeline_has_its_own_rate() {
    let config = Config { pipeline_pps: 1_000_000, ..OPEN };
    let (mut m, mut p) = (Clock::default(), port(Ring::new(0, 9), config));
    for _ in 0..3 {
        p.receive(&mut m, &Arrival { at: Ps(0), head: &head(1), len: 60, flow: 0 });
    }
    let times: Vec<_> = p.nic().stored.iter().map(|s| s.2.0).collect();
    assert_eq!(times, [0, 1_000_000, 2_000_000]);
    // A store that takes long delays the next one, not the pipeline behind it.
    let (mut m, mut p) = (Clock::default(), port(Ring::new(1_500_000, 9), config));
    for at in [0, 0, 4_000_000, 4_000_000] {
        p.receive(&mut m, &Arrival { at: Ps(at), head: &head(1), len: 60, flow: 0 });
    }
    let times: Vec<_> = p.nic().stored.iter().map(|s| s.2.0).collect();
    assert_eq!(times, [0, 1_500_000, 4_000_000, 5_500_000]);
}

#[test]
fn notices_leave_on_time_between_two_frames() {
    let mut ring = Ring::new(0, 9);
    ring.due = vec![Ps(300), Ps(700), Ps(5_000)];
    let (mut m, mut p) = (Clock::default(), port(ring, OPEN));
    p.receive(&mut m, &Arrival { at: Ps(1_000), head: &head(1), len: 60, flow: 0 });
    assert_eq!(p.nic().polled, [Ps(300), Ps(700)]);
    assert_eq!(m.pauses, [Ps(300), Ps(700), Ps(1_000)]);
}

#[test]
fn what_is_no_frame_is_named() {
    let (mut m, mut p) = (Clock::default(), port(Ring::new(0, 99), OPEN));
    let mut got = |head: &[u8], len| p.receive(&mut m, &Arrival { at: Ps(0), head, len, flow: 0 });
    assert_eq!(got(&[], 0).1, Outcome::BadFrame, "no byte");
    assert_eq!(got(&[0; 13], 13).1, Outcome::BadFrame, "no Ethernet header");
    assert_eq!(got(&head(1), 2049).1, Outcome::BadFrame, "longer than a buffer");
    assert_eq!(got(&head(1)[..30], 60).1, Outcome::Delivered, "only the capture ends inside the header");
    assert_eq!(got(&[0x88; 14], 60), (0, Outcome::Delivered), "an unknown ethertype");
}

/// As cards do: what is wrong with the packet in a frame is for the host to find.
#[test]
fn malformed_packets_are_delivered_as_far_as_they_were_parsed() {
    let p = port(Ring::new(0, 99), OPEN);
    let with = |at: usize, byte: u8| {
        let mut bytes = head(1);
        bytes[at] = byte;
        bytes
    };
    let cut = |len: usize| head(1)[..len].to_vec();
    let ip = kind::ETHER | kind::IPV4;
    for (bytes, kind, hashed) in [
        (with(14, 0x55), kind::ETHER, false),
        (with(14, 0x44), kind::ETHER, false),
        (with(14, 0x4f), kind::ETHER, false),
        (with(17, 19), kind::ETHER, false),
        (with(12, 0x86), kind::ETHER, false),
        (cut(14), kind::ETHER, false),
        (cut(33), kind::ETHER, false),
        (cut(34), ip, true),
        (cut(37), ip, true),
        ([0x81, 0, 0, 0].repeat(4), kind::VLAN, false),
    ] {
        let class = p.pipeline().admit(&Incoming::whole(&bytes, bytes.len() as u32)).unwrap();
        assert_eq!((class.kind & !HASHED, class.kind & HASHED != 0), (kind, hashed), "{bytes:02x?}");
        assert!(hashed || (class.queue, class.rss) == (0, 0));
    }
}

#[test]
fn refused_frames_take_their_time() {
    let (mut m, mut p) = (Clock::default(), port(Ring::new(0, 99), Config { buffer_bytes: 100, ..OPEN }));
    let mut got = |at, len| {
        let outcome = p.receive(&mut m, &Arrival { at: Ps(at), head: &head(1), len, flow: 0 }).1;
        (outcome, m.now)
    };
    assert_eq!(got(1_000, 2049), (Outcome::BadFrame, Ps(1_000)), "longer than a buffer");
    assert_eq!(got(5_000, 101), (Outcome::NicBufferFull, Ps(5_000)), "longer than the card's buffer");
    assert_eq!(got(4_000, 2049), (Outcome::BadFrame, Ps(5_000)), "late already");
}

#[test]
fn rss_chooses_the_queue_and_the_counters_follow() {
    let mut counted = Counters::new(4);
    let (mut m, mut p) = (Clock::default(), port(Ring::new(0, 999), OPEN));
    let rss = Rss::spread(4);
    for flow in 0..64u16 {
        let bytes = head(flow);
        let (queue, outcome) = p.receive(&mut m, &Arrival { at: Ps(0), head: &bytes, len: 60, flow: 0 });
        counted.count(usize::from(queue), outcome);
        assert_eq!(queue, rss.queue(rss.hash(&packet::parse(&bytes), &bytes)));
    }
    for queue in 0..4 {
        let stored = p.nic().stored.iter().filter(|s| s.0 == queue).count() as u64;
        assert!(stored > 0);
        assert_eq!(counted.of(usize::from(queue), Outcome::Delivered), stored);
        assert_eq!(counted.decided_of(usize::from(queue)), stored);
    }
    assert_eq!((counted.decided(), counted.delivered(), counted.dropped()), (64, 64, 0));
    assert_eq!((counted.queues(), counted.of(4, Outcome::Delivered), counted.decided_of(4)), (4, 0, 0));
}

#[test]
fn the_udp_port_chooses_the_queue_where_it_steers() {
    let (mut m, mut p) = (Clock::default(), Port::new(Ring::new(0, 999), ByPort::spread(6), OPEN));
    let mut to = |dport: u16| {
        let mut bytes = head(7);
        bytes[36..38].copy_from_slice(&dport.to_be_bytes());
        let (queue, _) = p.receive(&mut m, &Arrival { at: Ps(0), head: &bytes, len: 60, flow: 0 });
        let class = p.pipeline().admit(&Incoming::whole(&bytes, 60)).unwrap();
        // Who distributes by the number alone, as a completion reports it, finds the same queue.
        assert_eq!(
            (class.queue, ByPort::spread(6).queue(class.rss), class.kind & HASHED != 0),
            (queue, queue, true)
        );
        queue
    };
    let queues: Vec<_> = (0..12).map(|partition| to(PARTITION_PORT + partition)).collect();
    assert_eq!(queues, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
    for other in [0, 80, PARTITION_PORT - 1, u16::MAX] {
        assert!(to(other) < 6);
    }
    let mut tcp = head(7);
    tcp[23] = 6;
    tcp[36..38].copy_from_slice(&(PARTITION_PORT + 3).to_be_bytes());
    let class = p.pipeline().admit(&Incoming::whole(&tcp, 60)).unwrap();
    assert_eq!((class.queue, class.rss, class.kind & HASHED), (0, 0, 0), "no UDP port");
}

proptest! {
    /// Any bytes: who has an Ethernet header is delivered, to a queue that there is.
    #[test]
    fn every_frame_is_delivered(bytes in prop::collection::vec(any::<u8>(), 0..120), ip in any::<bool>()) {
        let (mut bytes, mut m) = (bytes, Clock::default());
        let mut p = port(Ring::new(0, 99), OPEN);
        if let Some(ethertype) = bytes.get_mut(12..14).filter(|_| ip) {
            ethertype.copy_from_slice(&[8, 0]);
        }
        let len = bytes.len() as u32;
        let (queue, outcome) = p.receive(&mut m, &Arrival { at: Ps(0), head: &bytes, len, flow: 0 });
        let want = if len < 14 { Outcome::BadFrame } else { Outcome::Delivered };
        prop_assert_eq!((queue < 4, outcome), (true, want));
        prop_assert_eq!(p.nic().stored.len(), usize::from(len >= 14));
    }

    /// Whatever arrives whenever: no frame vanishes, and the card never holds more than it has room for.
    #[test]
    fn frames_are_conserved(
        frames in prop::collection::vec((0u64..20_000, 0u32..2500, any::<u16>(), 0usize..60), 1..200),
        cost in 0u64..20_000, room in 0usize..200, rate in prop::sample::select(vec![0u64, 10_000_000_000]),
    ) {
        let config = Config { rate_bps: rate, ..OPEN };
        let (mut m, mut p) = (Clock::default(), port(Ring::new(cost, room), config));
        let (mut at, mut counted) = (0, Counters::new(4));
        for (gap, len, flow, cut) in &frames {
            at += gap;
            let bytes = head(*flow);
            let bytes = &bytes[..bytes.len().saturating_sub(*cut).min(*len as usize)];
            let (queue, outcome) = p.receive(&mut m, &Arrival { at: Ps(at), head: bytes, len: *len, flow: 0 });
            counted.count(usize::from(queue), outcome);
            prop_assert!(p.held_bytes() <= 3000);
        }
        let stored = p.nic().stored.len() as u64;
        prop_assert_eq!((counted.decided(), counted.delivered()), (frames.len() as u64, stored));
        prop_assert_eq!(counted.dropped(), frames.len() as u64 - stored);
    }
}
