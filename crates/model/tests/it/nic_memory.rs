//! What a card's own memory costs, to the picosecond, and what a profile may say of it.

use crate::world;
use crate::world::{Out, World};
use memory::{Buf, Class, Geometry, Memory, Ps, Side, Space};
use model::profile::{Constant, Server};

/// The server of the other cost tests; its card has memory of 20 GB/s behind a switch of 10 GB/s and 150 ns a way, 100 ns
/// for a read. The size is in MiB.
fn server(mib: f64) -> Server {
    let mut s = world::server();
    let m = &mut s.constants.nic_memory;
    for (constant, value) in [
        (&mut m.gib, mib / 1024.0),
        (&mut m.peak_gbytes, 40.0),
        (&mut m.usable, 0.5),
        (&mut m.idle_ns, 100.0),
        (&mut m.switch_ns, 150.0),
        (&mut m.switch_gbytes, 10.0),
        (&mut m.control_ns, 0.0),
    ] {
        *constant = Constant { value, origin: "assumed: a test".into() };
    }
    s.validate().unwrap();
    s
}

fn on_card(count: u32) -> Geometry {
    Geometry::dpdk(count).homed(Side::Nic)
}

/// A frame of 1500 B crosses the switch as 1500 + 6 x 26 B at 100 ps, and fills 24 lines at 50 ps a byte meanwhile.
const FRAME_SWITCH: u64 = (1500 + 6 * 26) * 100;
/// What an access of the engine beside the memory takes, and one way through the switch.
const READ: u64 = 100_000;
const SWITCH: u64 = 150_000;

#[test]
fn cost_120_a_frame_that_stays_on_the_card_meets_neither_slot_nor_caches() {
    let mut w = World::new(server(64.0));
    let (far, near) = (w.space.buffers(&on_card(8)).unwrap(), w.buffers(8));
    w.nic(move |m| {
        for n in 1..=8 {
            m.put(far, Buf(n - 1), 0, &[7; 42], 1500);
            assert_eq!(m.gone(), Ps(n * FRAME_SWITCH), "the slower of switch and memory is the switch");
            assert_eq!(m.now(), Ps::ZERO, "an engine of its own writes it");
        }
        // The slot is idle until here.
        m.put(near, Buf(0), 0, &[7; 42], 1500);
        assert_eq!(m.now(), Ps(FRAME_SWITCH), "which is as fast in this server");
    });
    let mut engine = w.run();
    let counts = engine.sim().counts();
    assert_eq!(counts.dma_write_hits + counts.dma_write_misses, 24, "lines of the frame in host memory");
}

#[test]
fn cost_121_short_frames_are_bound_by_the_lines_that_they_fill() {
    let mut s = server(64.0);
    s.constants.nic_memory.switch_gbytes.value = 100.0;
    let mut w = World::new(s);
    let far = w.space.buffers(&on_card(8)).unwrap();
    w.nic(move |m| {
        for n in 1..=8 {
            m.put(far, Buf(n - 1), 0, &[7; 42], 65);
            assert_eq!(m.gone(), Ps(n * 128 * 50), "two lines at 20 GB/s");
        }
        m.get(far, Buf(0), 0, &mut [], 65);
        m.set_stamp(Ps(1)); // what was read goes nowhere
        m.put(far, Buf(0), 0, &[7; 42], 65);
        assert_eq!(m.gone(), Ps(10 * 128 * 50), "reads and writes share the memory");
    });
    w.run();
}

#[test]
fn cost_122_a_frame_that_moves_to_the_host_shows_once_it_has_come_and_keeps_its_arrival() {
    // So that the drained frame comes behind the one that is received meanwhile.
    const SLOW: u64 = 4 * READ;
    let mut s = server(64.0);
    s.constants.nic_memory.idle_ns.value *= 4.0;
    let mut w = World::new(s);
    let (far, near) = (w.space.buffers(&on_card(2)).unwrap(), w.buffers(3));
    let [done, told] = [16, 1].map(|len| w.words::<1>(Class::Signal, Side::Nic, len));
    let out = Out::default();
    let seen = out.clone();
    w.nic(move |m| {
        m.set_stamp(Ps(5));
        m.put(far, Buf(1), 0, &[9; 42], 1500);
        m.set_stamp(Ps(6)); // another frame has come since
        m.pause(Ps(1_000_000), false); // until a core asks for it
        let mut head = [0; 42];
        m.get(far, Buf(1), 0, &mut head, 1500);
        m.put(near, Buf(0), 0, &head, 1500);
        m.publish(done, 0, [1]);
        assert_eq!((m.now(), head), (Ps(1_000_000), [9; 42]), "the pipeline goes on");
        assert_eq!(m.stamp(near, Buf(0)), Ps(5));
        m.put(near, Buf(1), 0, &head, 1500);
        assert_eq!(m.stamp(near, Buf(1)), Ps(6), "the next one is from the wire again");
        // Both frames and the completion go over one slot.
        assert_eq!(m.now(), Ps(1_000_000 + 2 * FRAME_SWITCH + (8 + 26) * 100));
        m.publish(done, 8, [1]);
        m.release(told, 0, 1);
    });
    w.core(0, move |m| {
        m.wait(done, 8, 0);
        seen.push(m.now());
        m.wait(told, 0, 0);
        assert_eq!(m.acquire(done, 0), 1, "a release is behind the completions of all engines");
        seen.push(m.now());
    });
    w.run();
    let [received, drained] = out.all()[..] else { panic!("each is seen once") };
    // Written, and 300 ns to the cache. What is drained is read before that.
    let show = |after: u64| 1_000_000 + after + 300_000..1_000_000 + after + 400_000;
    assert!(
        show(2 * FRAME_SWITCH + 3_400).contains(&received.0),
        "{received:?}: nothing of the drain holds it up"
    );
    assert!(show(FRAME_SWITCH + SLOW).contains(&drained.0), "{drained:?}: it shows behind its data");
}

#[test]
fn cost_125_a_frame_that_is_drained_as_soon_as_it_is_kept_waits_for_its_own_way_through_the_switch() {
    let mut w = World::new(server(64.0));
    let (far, near) = (w.space.buffers(&on_card(2)).unwrap(), w.buffers(1));
    let done = w.words::<1>(Class::Signal, Side::Nic, 16);
    let out = Out::default();
    let seen = out.clone();
    w.nic(move |m| {
        m.put(far, Buf(1), 0, &[9; 42], 1500);
        let mut head = [0; 42];
        m.get(far, Buf(1), 0, &mut head, 1500);
        m.put(near, Buf(0), 0, &head, 1500);
        m.publish(done, 0, [1]);
        assert_eq!((m.now(), head), (Ps::ZERO, [9; 42]), "the pipeline goes on");
    });
    w.core(0, move |m| {
        m.wait(done, 0, 0);
        seen.push(m.now());
    });
    w.run();
    // Into the memory, out of it, and 300 ns to the cache.
    let there = 2 * FRAME_SWITCH + SWITCH + READ + 300_000;
    let [drained] = out.all()[..] else { panic!("it is seen once") };
    assert!((there..there + 100_000).contains(&drained.0), "{drained:?} of {there}");
}

#[test]
fn cost_124_what_is_kept_and_what_is_drained_has_the_bandwidth_of_its_engine_alone() {
    let mut w = World::new(server(64.0));
    let (far, near) = (w.space.buffers(&on_card(16)).unwrap(), w.buffers(16));
    w.nic(move |m| {
        // Every other frame is kept: the slot has half of them to carry, the switch the other half meanwhile.
        for n in 0..8 {
            m.put(far, Buf(n), 0, &[7; 42], 1500);
            m.put(near, Buf(n), 0, &[7; 42], 1500);
        }
        assert_eq!([m.now(), m.gone()], [Ps(8 * FRAME_SWITCH); 2]);
        // One frame is drained for each that is received: the slot carries both, whatever the reads take.
        for n in 0..8 {
            m.get(far, Buf(n), 0, &mut [], 1500);
            m.put(near, Buf(n + 8), 0, &[7; 42], 1500);
            m.put(near, Buf(n), 0, &[7; 42], 1500);
        }
        assert_eq!(m.now(), Ps((8 + 16) * FRAME_SWITCH));
    });
    w.run();
}

#[test]
fn cost_123_a_core_waits_for_each_line_on_the_card_and_keeps_none() {
    let mut w = World::new(server(64.0));
    let far = w.space.buffers(&on_card(2)).unwrap();
    w.core(0, move |m| {
        // A load of a register is two doorbells; then the memory: a line through the switch there and back, and its latency.
        let line = 1_600_000 + (64 + 26) * 100 + READ + 2 * SWITCH;
        for turn in 1..=2 {
            m.get(far, Buf(0), 0, &mut [], 128);
            assert_eq!(m.now(), Ps(turn * 2 * line), "no line is cached");
        }
        let before = m.now();
        m.put(far, Buf(0), 0, &[1; 42], 128);
        let requests = 4 * 26; // of the loads went the same way
        assert_eq!(m.now() - before, Ps((128 + 2 * 26 + requests) * 100), "posted, a TLP a line");
    });
    w.run();
}

#[test]
fn what_does_not_fit_on_the_card_is_refused() {
    let stride = u64::from(Geometry::dpdk(1).stride);
    let fits = (2_u64 << 20) / stride;
    let mut w = World::new(server(2.0));
    w.space.buffers(&on_card(fits as u32 - 1)).unwrap();
    let error = w.space.buffers(&on_card(2)).unwrap_err().to_string();
    assert!(error.ends_with("exceed the card's memory; allowed: up to 1"), "{error}");
    w.space.of_port(1).buffers(&on_card(fits as u32)).unwrap(); // the other card's
    let error = World::new(world::server()).space.buffers(&on_card(1)).unwrap_err().to_string();
    assert!(error.contains("a card that has no memory for frames; allowed: the host"), "{error}");
}

#[test]
fn a_part_of_a_memory_is_none() {
    let mut s = server(64.0);
    s.constants.nic_memory.usable = Constant::default();
    let error = s.validate().unwrap_err().to_string();
    assert!(error.ends_with("usable is missing; allowed: all of [constants.nic_memory], or none"), "{error}");
    assert!(world::server().nic_memory().is_none());
}

#[test]
fn the_server_of_ceio_has_what_its_text_says() {
    let s = Server::by_name("ceio-testbed").unwrap();
    assert_eq!((s.llc_bytes(), s.ddio_bytes()), (12 << 20, 6 << 20));
    assert_eq!((s.cores, s.nic.port_gbps, s.nic_memory().unwrap().gib.value), (8, 200.0, 16.0));
}
