//! The microbenchmarks of a server with a coherent NIC: what its profile says comes out, and what does not add up is
//! refused.

use memory::{Ps, Side};
use model::bench::{Holder, Layout, Path, Target, latency, mmio_read, ping_pong, stores, stream, writes};
use model::profile::Server;

const HOMES: [Side; 2] = [Side::Host, Side::Nic];

fn server(name: &str) -> Server {
    Server::by_name(name).unwrap()
}

#[test]
fn a_line_takes_what_the_profile_says_of_where_it_is() {
    for (name, dram, far_dram, llc, l2, [reader, writer]) in
        [("icx", 75, 141, 22, 48, [125, 114]), ("spr", 95, 190, 33, 76, [188, 171])]
    {
        let s = server(name);
        let of = |holder, remote, home| latency(&s, holder, remote, home).unwrap();
        assert_eq!(of(Holder::Dram, false, Side::Host), Ps::from_ns(dram), "{name}");
        assert_eq!(of(Holder::Dram, true, Side::Nic), Ps::from_ns(far_dram), "{name}");
        assert_eq!(of(Holder::Llc, false, Side::Host), Ps::from_ns(llc), "{name}");
        assert_eq!(of(Holder::L2, false, Side::Host), Ps::from_ns(l2), "{name}");
        for holder in [Holder::L2, Holder::Llc] {
            assert_eq!(of(holder, true, Side::Host), Ps::from_ns(reader), "{name} {holder:?}");
            assert_eq!(of(holder, true, Side::Nic), Ps::from_ns(writer), "{name} {holder:?}");
        }
        assert!(latency(&s, Holder::Dram, true, Side::Host).is_err());
    }
}

#[test]
fn words_in_one_line_are_half_the_requests() {
    for name in ["icx", "spr"] {
        let s = server(name);
        let of = |layout| ping_pong(&s, layout).unwrap();
        let apart = [Layout::Separate(Side::Host), Layout::Separate(Side::Nic), Layout::Reader];
        let writer = of(Layout::Writer);
        for layout in apart {
            let found = of(layout);
            assert_eq!((found.reads, found.rfos), (2.0, 2.0), "{name} {layout:?}");
            assert!(found.trip > writer.trip, "{name} {layout:?}: the writer's memory is the best place");
        }
        for home in HOMES {
            let found = of(Layout::Together(home));
            assert_eq!((found.reads, found.rfos), (2.0, 0.0), "{name} {home:?}");
            assert!(found.trip.0 * 2 > writer.trip.0 && found.trip.0 * 3 < writer.trip.0 * 2, "{name}");
        }
    }
}

#[test]
fn streams_cross_once_a_line_and_no_faster_than_the_link() {
    let s = server("icx");
    let link = s.constants.interconnect.link_gbytes.value;
    for path in [Path::Cached, Path::Streaming, Path::Read] {
        let one = stream(&s, path, 1, 4).unwrap();
        let all = stream(&s, path, s.cores, 4).unwrap();
        assert!(one.gbytes < link / 8.0, "{path:?}: one core does not fill it: {one:?}");
        assert!((link * 0.8..link * 1.06).contains(&all.gbytes), "{path:?}: {all:?} of {link}");
        let loads = if path == Path::Streaming { 0.0 } else { 1.0 };
        assert!((one.reads - loads).abs() < 0.01, "{path:?}: {one:?}");
        // The first of two rounds finds nobody who has the lines.
        let stores = if path == Path::Cached { 0.5 } else { 0.0 };
        assert!((one.rfos - stores).abs() < 0.01, "{path:?}: {one:?}");
        assert!(one.dram_lines >= 2.0, "{path:?}: {one:?}");
    }
    for (pairs, mib) in [(0, 4), (17, 4), (1, 3), (1, 65)] {
        assert!(stream(&s, Path::Cached, pairs, mib).unwrap_err().to_string().contains("allowed: "));
    }
}

#[test]
fn barriers_cost_what_combines_and_nothing_else() {
    let s = server("icx");
    let of = |target, bytes| writes(&s, target, bytes).unwrap();
    // The last lines before a barrier leave fill buffers empty: an eleventh of 128 lines in twelve.
    for (target, near) in [(Target::Mmio, 0.95), (Target::Combining, 0.9)] {
        assert!(of(target, 64) * 2.0 < of(target, 256) && of(target, 256) < of(target, 4096), "{target:?}");
        assert!(of(target, 4096) > near * of(target, 8192), "{target:?}");
    }
    assert_eq!(of(Target::Cached, 64), of(Target::Cached, 8192));
    assert!(of(Target::Mmio, 8192) < s.constants.pcie.gbytes.value);
    for bytes in [0, 63, 96, 8256] {
        assert!(writes(&s, Target::Mmio, bytes).is_err(), "{bytes}");
    }
}

#[test]
fn stores_are_free_while_there_are_buffers() {
    let s = server("icx");
    let op = (3.0 * 1e3 / 3.1) as u64;
    assert_eq!([1, 12, 24].map(|n| stores(&s, n).unwrap().0), [op, 12 * op, 24 * op]);
    let each = |n| stores(&s, n + 1).unwrap().0 - stores(&s, n).unwrap().0;
    for n in [24, 40, 63] {
        assert!(each(n) >= 15 * op, "store {n}: {} ps", each(n));
    }
    assert_eq!(mmio_read(&s).unwrap().0, 982_000 + op);
    assert!(stores(&s, 65).is_err() && stores(&s, 0).is_err());
}

#[test]
fn a_core_that_plays_the_card_leaves_no_second_node() {
    let mut s = server("icx");
    s.nic.remote = true;
    let refused = mmio_read(&s).unwrap_err().to_string();
    assert!(refused.contains("icx") && refused.contains("allowed: "), "{refused}");
}
