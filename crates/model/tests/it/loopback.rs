//! Loopbacks over a coherent NIC (CC-NIC §5): what each frame moves between the nodes, to the line, and what switches
//! change.

use memory::{Geometry, Ps, Stores};
use model::bench::loopback::{Accesses, Card, Found, Load, Pool, Setup, accesses, loopback};
use model::profile::Server;
use rings::ccnic::{Back, Homing, Layout, Signal, Sizes};
use rings::pool::sides::{Exchange, Fill};

/// Several passes of a ring.
const FRAMES: u64 = 4096;

fn server(name: &str) -> Server {
    Server::by_name(name).unwrap()
}

/// Bursts of so many frames, of which some are under way.
fn bursts(base: Setup, burst: usize, deep: u32) -> Setup {
    Setup { tx_burst: burst, rx_burst: burst, load: Load::InFlight(deep * burst as u32), ..base }
}

fn with_signal(signal: Signal) -> Setup {
    let base = Setup::new(64);
    Setup { lanes: Sizes { signal, ..base.lanes }, ..base }
}

fn run(s: &Server, setup: &Setup) -> Found {
    let found = loopback(s, setup, Ps::from_us(40), Ps::from_us(60)).unwrap();
    assert_eq!((found.lost, found.wrong), (0, 0), "{setup:?}");
    found
}

/// ccn-f17-read, ccn-f17-rfo. Each side reads the line of each frame, and a line of descriptors for each four. The line
/// that it writes them to it has to get back first, which is an RFO: the ring asks for it ahead.
#[test]
fn fig_17_a_batch_moves_a_line_for_each_frame_and_two_for_each_group() {
    for name in ["icx", "spr"] {
        let sides = accesses(&server(name), &bursts(Setup::new(64), 8, 12), FRAMES, 2 * FRAMES).unwrap();
        assert_eq!(sides, [Accesses { reads: 1.25, words: 0.25, rfos: 0.25 }; 2], "{name}");
    }
}

/// ccn-f17-unopt. A side reads the register that the other one writes for each batch, and takes two registers back to
/// write them: TX head, and RX tail. Once in a pass of the ring the NIC looks how far the host has read.
#[test]
fn fig_17_registers_move_a_line_and_take_two_for_each_batch() {
    for name in ["icx", "spr"] {
        for burst in [4, 8] {
            let setup = Setup { completions: true, ..bursts(with_signal(Signal::Register), burst, 1) };
            let [_, nic] = accesses(&server(name), &setup, FRAMES, 2 * FRAMES).unwrap();
            let (looks, batch) = (1.0 / f64::from(setup.lanes.ring), 1.0 / burst as f64);
            let words = 0.25 + batch + looks;
            let want = Accesses { reads: 1.0 + words, words, rfos: 0.25 + 2.0 * batch };
            assert_eq!(nic, want, "{name}, bursts of {burst}");
        }
    }
}

/// One frame at a time: its own line, a line of descriptors each way, and those that were polled too early.
#[test]
fn fig_17_a_frame_alone_moves_whole_lines() {
    let sides = accesses(&server("icx"), &bursts(Setup::new(64), 1, 1), FRAMES, 2 * FRAMES).unwrap();
    assert_eq!(sides, [Accesses { reads: 4.0, words: 3.0, rfos: 1.0 }; 2]);
}

/// Frames come back whole and in order, whatever is switched.
#[test]
fn each_switch_runs_by_itself() {
    let s = server("icx");
    let base = Setup { load: Load::InFlight(64), ..Setup::new(64) };
    let lanes = |lanes: Sizes| Setup { lanes, ..base.clone() };
    let sizes = base.lanes;
    let mut setups = vec![base.clone(), lanes(Sizes { back: Back::Credit, ..sizes })];
    setups.extend([Signal::Register, Signal::Inline].map(|signal| lanes(Sizes { signal, ..sizes })));
    setups.extend(
        [Layout::Group, Layout::Pad, Layout::Pack, Layout::Dense]
            .map(|layout| lanes(Sizes { layout, ..sizes })),
    );
    setups.extend(
        [Homing::Writer, Homing::Reader, Homing::Host, Homing::Nic]
            .map(|homing| lanes(Sizes { homing, ..sizes })),
    );
    for exchange in [Exchange::Lanes, Exchange::Queue] {
        setups.push(Setup { cache: 0, exchange, ..base.clone() });
    }
    setups.push(Setup { fill: Fill::Sequential, ..base.clone() });
    let count = base.buffers.count;
    setups.push(Setup { buffers: Geometry::plain(count, 4096), ..base.clone() });
    setups.push(Setup { buffers: base.buffers.stored(Stores::Streaming), ..base.clone() });
    setups.push(Setup { pool: Pool::Host, ..base.clone() });
    setups.push(Setup { pool: Pool::Host, cache: 0, ..base.clone() });
    setups.push(Setup { load: Load::InFlight(64), ..Setup::e810(64) });
    setups.push(Setup { load: Load::InFlight(64), ..Setup::e810(1500) });
    setups.push(Setup { pairs: 16, ..base.clone() });
    setups.push(Setup { load: Load::InFlight(64), ..Setup::new(1500) });
    for setup in setups {
        let found = run(&s, &setup);
        assert!(found.frames > 32 && found.median.0 > 200_000, "{setup:?}: {found:?}");
    }
}

/// Both frames cross the link for 114 ns each, and a signal goes at least one way before each of them, half of that.
#[test]
fn no_layout_is_faster_than_the_link() {
    let s = server("icx");
    let base = Setup { tx_burst: 1, rx_burst: 1, ..Setup::new(64) };
    for layout in [Layout::Group, Layout::Pad, Layout::Pack, Layout::Dense] {
        for back in [Back::Clear, Back::Credit] {
            let lanes = Sizes { layout, back, ..base.lanes };
            let found = run(&s, &Setup { lanes, ..base.clone() });
            assert!(found.median >= Ps::from_ns(3 * 114), "{lanes:?}: {found:?}");
        }
    }
}

/// At a rate below the highest that many frames come back, sooner than with a full window.
#[test]
fn an_open_loop_keeps_its_rate() {
    let s = server("icx");
    let full = run(&s, &Setup { load: Load::InFlight(256), ..Setup::new(64) });
    let rate = full.mpps * 0.5e6;
    let half = run(&s, &Setup { load: Load::Rate(rate), ..Setup::new(64) });
    assert!((half.mpps * 1e6 / rate - 1.0).abs() < 0.02, "{half:?}");
    assert!(half.median < full.median && half.median <= half.p99, "{half:?}");
    let alone = run(&s, &Setup::new(64));
    assert!(alone.median <= half.median, "{alone:?}");
}

/// No more lines cross than the link carries.
#[test]
fn a_link_is_full_at_most() {
    let s = server("spr");
    let full = Setup { pairs: s.cores, load: Load::InFlight(256), ..Setup::new(64) };
    let found = loopback(&s, &full, Ps::from_us(300), Ps::from_us(60)).unwrap();
    assert!(found.link.iter().all(|share| (0.9..1.03).contains(share)), "{found:?}");
}

#[test]
fn what_does_not_add_up_is_refused() {
    let s = server("icx");
    let base = Setup::new(64);
    for setup in [
        Setup { pairs: 0, ..base.clone() },
        Setup { pairs: 17, ..base.clone() },
        Setup { pairs: 9, one_node: true, ..base.clone() },
        Setup { bytes: 15, ..base.clone() },
        Setup { bytes: 129, ..base.clone() },
        Setup { tx_burst: 0, ..base.clone() },
        Setup { rx_burst: 65, ..base.clone() },
        Setup { load: Load::InFlight(0), ..base.clone() },
        Setup { load: Load::InFlight(257), ..base.clone() },
        Setup { load: Load::Rate(0.0), ..base.clone() },
        Setup { load: Load::Rate(f64::NAN), ..base.clone() },
        Setup { cache: 4096, ..base.clone() },
        Setup { sampling: 0, ..base.clone() },
        Setup { lanes: Sizes { ring: 3, ..base.lanes }, ..base.clone() },
    ] {
        let refused = loopback(&s, &setup, Ps::from_us(1), Ps::from_us(1)).unwrap_err().to_string();
        assert!(refused.contains("allowed: "), "{refused}");
    }
}

/// Round trips of a card are in series: the doorbell, descriptors, the frame, and the way back.
#[test]
fn a_card_takes_its_round_trips() {
    let s = server("icx");
    let pcie = &s.constants.pcie;
    let ways = pcie.doorbell_ns.value + pcie.read_ns.value + pcie.write_ns.value;
    for (card, more) in [(Card::E810, pcie.read_ns.value), (Card::Cx6, 0.0)] {
        let alone = run(&s, &Setup::card(card, 64));
        let ns = alone.median.0 as f64 / 1e3;
        assert!((0.0..200.0).contains(&(ns - ways - more)), "{card:?}: {alone:?}");
        // Of as many as there are, the link carries no more than its bytes: a frame each way, and its completion.
        let full = Setup { pairs: 16, load: Load::InFlight(256), ..Setup::card(card, 64) };
        let full = loopback(&s, &full, Ps::from_us(500), Ps::from_us(100)).unwrap();
        assert_eq!((full.lost, full.wrong), (0, 0));
        let most = pcie.gbytes.value * 1e3 / (64.0 + 16.0 + 2.0 * pcie.overhead_bytes.value);
        assert!((most * 0.6..most).contains(&full.mpps) && full.median > alone.median, "{card:?}: {full:?}");
    }
}

/// Without a link nothing crosses it, and frames come back sooner (§5.6, Fig. 18).
#[test]
fn one_node_has_no_link() {
    for name in ["icx", "spr"] {
        let s = server(name);
        let of = |one_node, load| run(&s, &Setup { one_node, load, ..Setup::new(64) });
        for load in [Load::InFlight(1), Load::InFlight(256)] {
            let [one, two] = [true, false].map(|one_node| of(one_node, load));
            assert_eq!(one.accesses, [Accesses { reads: 0.0, words: 0.0, rfos: 0.0 }; 2], "{name} {load:?}");
            assert!(one.median < two.median && one.mpps > two.mpps, "{name} {load:?}: {one:?} {two:?}");
        }
    }
}
