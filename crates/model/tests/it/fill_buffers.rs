//! Stores past the caches that hold a fill buffer until their memory answers (A91), to the picosecond; and prefetchers
//! that are on at one side. `world::price` has the sums' terms.

use crate::world;
use crate::world::price::{DRAM, L2, OP, REMOTE, STORES, cost, get};
use crate::world::{World, server};
use memory::{Buf, Class, Field, Geometry, Memory, Side, Space, Stores};
use model::profile::{AdjacentPrefetch, Constant, NicKind, Server};
use model::{PoolId, View};

/// More than the store buffer has places.
const BUFFERS: u64 = STORES + 4;

/// A server whose cores have fill buffers.
fn filling() -> Server {
    let mut s = server();
    s.constants.core.fill_buffers = Constant { value: BUFFERS as f64, origin: "assumed: a test".into() };
    s
}

/// A world whose NIC is a core of the other node.
fn apart(server: Server) -> World {
    let mut w = World::new(server);
    w.space = w.space.served_by(NicKind::Core);
    w
}

fn streamed(w: &mut World, home: Side) -> PoolId {
    w.space.buffers(&Geometry::dpdk(4).homed(home).stored(Stores::Streaming)).unwrap()
}

/// What a store past the caches into a whole line costs its core.
fn put(m: &mut View, b: PoolId, line: u64) -> u64 {
    cost(m, |m| m.put(b, Buf(0), 64 * line as u32, &[], 64))
}

#[test]
fn cost_64_a_streamed_line_holds_a_fill_buffer_until_its_memory_answers() {
    for (home, trip) in [(Side::Host, DRAM), (Side::Nic, REMOTE + DRAM)] {
        let mut w = apart(filling());
        let b = streamed(&mut w, home);
        w.core(0, move |m| {
            assert!((0..BUFFERS).all(|line| put(m, b, line) == 0), "into fill buffers");
            assert_eq!(put(m, b, BUFFERS), trip, "{home:?}: one has to be free");
            assert_eq!(put(m, b, BUFFERS + 1), 0, "all others are at the same time");
        });
        w.far_core(|_| ());
        let counts = w.run().sim().counts();
        let [near, far] = [counts.dram_writes, counts.far_dram_writes];
        assert_eq!(if home == Side::Host { near } else { far }, BUFFERS + 2, "{home:?}");
    }
}

/// Stores past the caches keep no order among them; what tells of them comes behind all.
#[test]
fn cost_65_the_buffer_that_is_free_first_is_taken_and_a_release_waits_for_all() {
    let mut w = apart(filling());
    let [far, near] = [Side::Nic, Side::Host].map(|home| streamed(&mut w, home));
    let field = Field {
        name: "test",
        len: 1,
        width: 1,
        class: Class::Signal,
        writer: Side::Host,
        reader: Side::Both,
        home: Side::Host,
    };
    let told = w.space.words::<1>(&field, 0).unwrap();
    w.core(0, move |m| {
        put(m, far, 0);
        (1..BUFFERS).for_each(|line| _ = put(m, near, line));
        assert_eq!(put(m, near, BUFFERS), DRAM, "the line of the own memory is there first");
        m.release(told, 0, 1);
    });
    w.core(1, move |m| {
        while m.acquire(told, 0) == 0 {
            m.idle();
        }
        assert!((2 * DRAM..3 * DRAM).contains(&m.now().0), "behind the last line: {:?}", m.now());
        assert_eq!(get(m, near, 0, 64), DRAM, "it is in no cache");
    });
    w.far_core(|_| ());
    w.run();
}

/// What a core waits for the other half of a pair that it has fetched from memory.
fn other_half(adjacent_prefetch: AdjacentPrefetch) -> [u64; 2] {
    let mut w = apart(server());
    w.server.caches.adjacent_prefetch = adjacent_prefetch;
    let found = world::Out::default();
    let pools = [(); 2].map(|()| w.space.buffers(&Geometry::plain(4, 256)).unwrap());
    for (side, b) in pools.into_iter().enumerate() {
        let found = found.clone();
        let look = move |m: &mut View| {
            for off in [0, 64] {
                let waited = cost(m, |m| m.get(b, Buf(0), off, &mut [], 64));
                found.push((side as u64, waited));
            }
        };
        if side == 0 { w.core(0, look) } else { w.far_core(look) }
    }
    w.run();
    let all = found.all();
    [0, 1].map(|side| all.iter().filter(|f| f.0 == side).nth(1).unwrap().1)
}

#[test]
fn each_side_has_a_switch_of_its_prefetcher() {
    let memory = [DRAM, DRAM + REMOTE].map(|all| all.max(OP));
    for (switch, on) in [
        (AdjacentPrefetch::None, [false, false]),
        (AdjacentPrefetch::Host, [true, false]),
        (AdjacentPrefetch::Nic, [false, true]),
        (AdjacentPrefetch::Both, [true, true]),
    ] {
        let waited = other_half(switch);
        for side in [0, 1] {
            let came = waited[side] == L2;
            assert_eq!(came, on[side], "{switch:?}, side {side}: {waited:?}");
            assert!(came || waited[side] <= memory[side], "{switch:?}, side {side}: {waited:?}");
        }
    }
}

#[test]
fn the_switch_is_written_as_it_is_read() {
    let profile = toml::Table::try_from(Server::by_name("icx").unwrap()).unwrap();
    let with = |written: toml::Value| {
        let mut profile = profile.clone();
        profile["caches"].as_table_mut().unwrap().insert("adjacent_prefetch".into(), written);
        Server::parse(&profile.to_string())
    };
    for written in [true.into(), false.into(), "host".into(), toml::Value::from("nic")] {
        let server = with(written.clone()).unwrap();
        let again = toml::Table::try_from(server).unwrap();
        assert_eq!(again["caches"]["adjacent_prefetch"], written);
    }
    for wrong in [toml::Value::from("both"), "on".into(), 1.into()] {
        let told = with(wrong).unwrap_err().to_string();
        assert!(told.contains("true, false, \"host\" or \"nic\""), "{told}");
    }
}
