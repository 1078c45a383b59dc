//! A core plays the card: what its accesses and those of its partner cost, to the picosecond, and whole
//! runs of it. `world::soft_server` and `world::price` have the sums' terms.

use crate::world::price::{
    ATOMIC, COPY, DRAM, L2, LLC, LOADS, NS, OP, READ, RUN, SNOOP, STORES, cost, get, until,
};
use crate::world::{World, server, soft_server};
use memory::{Buf, Class, Geometry, Memory, Ps, Side, Space, Stores, Touch};
use model::profile::{Constant, Constants, Server};
use model::{App, Report, Scenario, Setting, View, run};
use rings::{Interface, privring, rxbisect, shring};
use traffic::{Line, Rate, Workload};

#[test]
fn cost_27_a_store_shows_when_its_line_has_come() {
    let shows = 500 * NS + OP + SNOOP;
    for (early, seen, wait) in [(1, 0, 0), (0, 1, SNOOP / LOADS)] {
        let mut w = World::new(soft_server());
        let f = w.words::<1>(Class::Signal, Side::Nic, 1);
        w.core(0, move |m| {
            assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 0), 0)), OP + DRAM / LOADS);
            until(m, shows - early - OP);
            let took = cost(m, |m| assert_eq!(m.acquire(f, 0), seen, "{early} ps early"));
            assert_eq!(took, OP + wait, "until then its own copy is good");
        });
        w.nic_core(move |m| {
            until(m, 500 * NS);
            assert_eq!(cost(m, |m| m.release(f, 0, 1)), OP + SNOOP / STORES, "it does not wait for the line");
        });
        w.run();
    }
}

#[test]
fn cost_28_stores_show_in_order() {
    // The payload's line comes from the other core; the signal's is here, but must not overtake it.
    let shows = 1_000 * NS + COPY + SNOOP;
    for (early, seen) in [(1, 0), (0, 1)] {
        let mut w = World::new(soft_server());
        let b = w.buffers(1);
        let f = w.words::<4>(Class::Signal, Side::Nic, 2);
        w.nic_core(move |m| {
            m.publish(f, 0, [0; 4]);
            until(m, 1_000 * NS);
            assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 64)), COPY + SNOOP / STORES);
            assert_eq!(cost(m, |m| m.publish(f, 1, [0, 0, 0, 1])), OP);
        });
        w.core(0, move |m| {
            m.put(b, Buf(0), 0, &[2; 64], 64);
            until(m, shows - early - OP - SNOOP / LOADS);
            m.work(0); // busy: it has other lines on their way
            assert_eq!(m.acquire(f, 1), seen, "{early} ps early");
        });
        w.run();
    }
}

#[test]
fn cost_29_a_frame_between_cores() {
    let mut w = World::new(soft_server());
    let b = w.buffers(1);
    w.nic_core(move |m| {
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 256)), 4 * COPY + 4 * (DRAM / STORES));
        assert_eq!(
            cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 256)),
            4 * COPY + 4 * (L2 / STORES),
            "its own L2"
        );
    });
    w.core(0, move |m| {
        until(m, 1_000 * NS);
        let get = |m: &mut _| cost(m, |m| m.get(b, Buf(0), 0, &mut [0; 64], 256));
        assert_eq!(get(m), 4 * READ + SNOOP / LOADS + 3 * (SNOOP / RUN), "from the other L2, no LLC between");
        assert_eq!(get(m), 4 * READ + L2 / LOADS + 3 * (L2 / RUN));
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.dma_write_hits, counts.dma_write_misses, counts.snoops), (0, 0, 4), "no DDIO");
}

#[test]
fn cost_63_a_streamed_frame_comes_from_memory() {
    let mut w = World::new(soft_server());
    let b = w.space.buffers(&Geometry::dpdk(1).stored(Stores::Streaming)).unwrap();
    w.nic_core(move |m| {
        let put = |m: &mut View| cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 256));
        assert_eq!(put(m), 4 * COPY + 4 * (LLC / STORES), "no line has to come");
        assert_eq!(put(m), 4 * COPY + 4 * (LLC / STORES), "and none stays");
    });
    w.core(0, move |m| {
        until(m, 1_000 * NS);
        let get = |m: &mut _| cost(m, |m| m.get(b, Buf(0), 0, &mut [0; 64], 256));
        assert_eq!(get(m), 4 * READ + DRAM / LOADS + 3 * (DRAM / RUN));
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.dram_reads, counts.dram_writes, counts.snoops), (4, 8, 0));
}

#[test]
fn cost_30_a_doorbell_is_a_word() {
    let mut w = World::new(soft_server());
    let bell = w.bell();
    w.nic_core(move |m| {
        m.idle();
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(bell, 0), 0)), OP + DRAM, "no register of its own");
        m.idle();
        while m.acquire(bell, 0) == 0 {
            m.idle();
        }
        let shows = 2_000 * NS + OP + SNOOP;
        // It polls once in an operation's time; the poll that finds it fetches the line.
        assert!((shows..shows + OP + SNOOP + OP).contains(&m.now().0), "{}", m.now().0);
    });
    w.core(0, move |m| {
        until(m, 2_000 * NS);
        assert_eq!(cost(m, |m| m.ring(bell, 9)), OP + SNOOP / STORES);
    });
    w.run();
}

#[test]
fn cost_31_the_first_line_is_waited_for_the_next_ones_come_meanwhile() {
    let mut w = World::new(soft_server());
    let f = w.words::<4>(Class::Signal, Side::Nic, 8);
    let t = w.table(2);
    w.nic_core(move |m| {
        for i in 0..8 {
            m.publish(f, i, [i; 4]);
        }
    });
    w.core(0, move |m| {
        until(m, 1_000 * NS);
        m.idle();
        assert_eq!(cost(m, |m| _ = m.acquire(f, 0)), OP + SNOOP, "an idle core finds its first frame");
        assert_eq!(cost(m, |m| _ = m.acquire(f, 2)), OP + SNOOP / LOADS, "the next line of the burst");
        assert_eq!(cost(m, |m| _ = m.acquire(f, 3)), OP, "the same line");
        assert_eq!(cost(m, |m| m.touch(t, 0, Touch::Read)), DRAM, "a look-up depends on what was found");
        assert_eq!(cost(m, |m| _ = m.acquire(f, 4)), OP + SNOOP / LOADS);
    });
    w.run();
}

#[test]
fn cost_32_an_atomic_waits_for_the_stores_before_it() {
    let mut w = World::new(soft_server());
    let c = w.contended();
    let f = w.words::<1>(Class::Body, Side::Host, 8);
    w.core(0, move |m| {
        assert_eq!(cost(m, |m| _ = m.add(c, 0, 1)), SNOOP + ATOMIC);
        let at = m.now().0;
        m.write(f, 0, [1]);
        m.add(c, 0, 1);
        assert_eq!(m.now(), Ps(at + OP + DRAM + ATOMIC), "the line of the store first");
    });
    w.run();
}

#[test]
fn cost_37_lines_that_a_core_stores_into_come_one_after_the_other() {
    for (taken, polls) in [(200.0, true), (200.0, false), (0.0, true)] {
        let mut server = soft_server();
        if taken > 0.0 {
            server.constants.interconnect.taken_ns =
                Constant { value: taken, origin: "measured: a test".into() };
        }
        let mut w = World::new(server);
        let f = w.words::<1>(Class::Signal, Side::Nic, 1);
        w.core(0, move |m| {
            m.acquire(f, 0);
            if polls {
                m.idle();
                while m.acquire(f, 0) < 2 {
                    m.idle();
                }
            }
        });
        w.nic_core(move |m| {
            until(m, 1_000 * NS);
            let first = cost(m, |m| m.release(f, 0, 1));
            assert_eq!(first, OP + SNOOP / STORES, "what came before is long done: {taken} {polls}");
            let done = m.now().0;
            until(m, 1_150 * NS);
            let second = cost(m, |m| m.release(f, 0, 2));
            match (taken > 0.0, polls) {
                (true, true) => assert_eq!(m.now().0, done + 200 * NS, "beside the work in between"),
                (false, true) => assert_eq!(second, OP + SNOOP / STORES),
                _ => assert_eq!(second, OP, "nobody has taken the line"),
            }
        });
        w.run();
    }
}

#[test]
fn cost_44_so_do_those_that_it_asks_for() {
    let mut server = soft_server();
    server.constants.interconnect.taken_ns = Constant { value: 200.0, origin: "measured: a test".into() };
    let mut w = World::new(server);
    let b = w.buffers(1);
    let empty = w.words::<1>(Class::Body, Side::Host, 1);
    let f = w.words::<8>(Class::Signal, Side::Nic, 4);
    w.core(0, move |m| {
        m.put(b, Buf(0), 0, &[2; 64], 64);
        (0..4).for_each(|i| _ = m.acquire(f, i));
    });
    w.nic_core(move |m| {
        until(m, 1_000 * NS);
        assert_eq!(cost(m, |m| m.entry_ahead(f, 0)), OP, "the first");
        let from = m.now().0 - OP;
        m.entry_ahead(f, 0);
        assert_eq!(m.now().0, from + 2 * OP, "it is on its way");
        m.entry_ahead(f, 1);
        assert_eq!(m.now().0, from + 200 * NS + OP);
        m.put_ahead(b, empty, 0);
        assert_eq!(m.now().0, from + 400 * NS + OP, "a frame's line is like any other");
        m.release(f, 2, 1);
        assert_eq!(m.now().0, from + 600 * NS, "and one that was not asked for");
        m.work(1_000);
        assert_eq!(cost(m, |m| m.entry_ahead(f, 3)), OP, "long enough");
    });
    w.run();
}

#[test]
fn cost_41_a_line_asked_for_ahead_is_there_when_it_is_written() {
    let mut w = World::new(soft_server());
    let b = w.buffers(1);
    let empty = w.words::<1>(Class::Body, Side::Host, 1);
    let f = w.words::<4>(Class::Signal, Side::Nic, 2);
    w.core(0, move |m| {
        m.put(b, Buf(0), 0, &[2; 64], 64);
        m.acquire(f, 0);
        until(m, 2_000 * NS);
        m.work(0); // busy: it has other lines on their way
        assert_eq!(cost(m, |m| assert_eq!(m.acquire(f, 0), 0)), OP + SNOOP / LOADS, "its copy was taken");
    });
    w.nic_core(move |m| {
        until(m, 1_000 * NS);
        assert_eq!(cost(m, |m| m.entry_ahead(f, 1)), OP);
        assert_eq!(cost(m, |m| m.put_ahead(b, empty, 0)), OP, "buffer 0 is what zeros name");
        until(m, 1_500 * NS);
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 64)), COPY + L2 / STORES);
        assert_eq!(cost(m, |m| m.entry_ahead(f, 1)), OP, "nothing to ask for");
        assert_eq!(cost(m, |m| m.publish(f, 1, [0; 4])), OP);
    });
    w.run();
}

/// Lines of the other core's L1 come two at a time, three in a row, those of the LLC five and ten; an L1 has 64 lines.
fn told_apart() -> Server {
    let mut s = soft_server();
    s.caches.l1_kib = 4;
    let c = &mut s.constants;
    for (constant, value) in [
        (&mut c.fetch_l1.load_lines, 2.0),
        (&mut c.fetch_l1.run_lines, 3.0),
        (&mut c.fetch_l1.store_lines, 4.0),
        (&mut c.fetch_llc.load_lines, 5.0),
        (&mut c.fetch_llc.run_lines, 10.0),
    ] {
        *constant = Constant { value, origin: "measured: a test".into() };
    }
    s.validate().unwrap();
    s
}

#[test]
fn cost_42_lines_of_another_l1_come_fewer_at_a_time() {
    let mut w = World::new(told_apart());
    let b = w.buffers(2);
    w.nic_core(move |m| {
        m.put(b, Buf(0), 0, &[1; 64], 256);
        until(m, 2_000 * NS);
        m.put(b, Buf(0), 0, &[1; 64], 256);
        // 32 lines, of which four take the places of those: either begins 37 lines behind the other.
        m.put(b, Buf(1), 0, &[1; 64], 2048);
        until(m, 4_000 * NS);
        assert_eq!(cost(m, |m| m.put(b, Buf(0), 0, &[1; 64], 64)), COPY + SNOOP / 4, "of the core's L1");
    });
    w.core(0, move |m| {
        let get = |m: &mut _| cost(m, |m| m.get(b, Buf(0), 0, &mut [0; 64], 256));
        until(m, 1_000 * NS);
        assert_eq!(get(m), 4 * READ + SNOOP / 2 + 3 * (SNOOP / 3), "of the NIC core's L1");
        assert_eq!(get(m), 4 * READ + L2 / LOADS + 3 * (L2 / RUN), "its own");
        until(m, 3_000 * NS);
        assert_eq!(get(m), 4 * READ + SNOOP / LOADS + 3 * (SNOOP / RUN), "of the NIC core's L2");
    });
    w.run();
}

#[test]
fn cost_43_lines_of_the_llc_come_as_many_at_a_time_as_the_profile_says() {
    for (server, loads) in [(told_apart(), 5), (soft_server(), LOADS)] {
        let l2_ways = u64::from(server.caches.l2_ways);
        let mut w = World::new(server);
        // Their first lines differ by multiples of an L2's 1024 sets: the last one puts the first one out.
        let b = w.buffers(1024 * (l2_ways as u32 + 1));
        w.core(0, move |m| {
            for i in 0..=l2_ways {
                get(m, b, 1024 * i, 64);
            }
            assert_eq!(get(m, b, 0, 64), READ + LLC / loads);
        });
        w.run();
    }
}

#[test]
fn a_card_asks_for_no_line_ahead() {
    let mut w = World::new(server());
    let b = w.buffers(1);
    let f = w.words::<4>(Class::Signal, Side::Nic, 2);
    w.nic(move |m| {
        assert_eq!(cost(m, |m| m.entry_ahead(f, 0)), 0);
        assert_eq!(cost(m, |m| m.put_ahead(b, f, 0)), 0);
    });
    let counts = w.run().sim().counts();
    assert_eq!((counts.dma_write_misses, counts.snoops), (0, 0));
}

#[test]
fn a_profile_has_the_constants_of_its_kind_of_nic() {
    let mut s = soft_server();
    s.constants.pcie.doorbell_ns = server().constants.pcie.doorbell_ns;
    let refused = s.validate().unwrap_err().to_string();
    assert!(refused.ends_with("constants.pcie.doorbell_ns says nothing about this kind of NIC"), "{refused}");
    let mut s = server();
    s.constants.pcie.read_ns = Default::default();
    assert!(s.validate().unwrap_err().to_string().ends_with("constants.pcie.read_ns is missing"));
    let mut s = soft_server();
    s.constants.fetch.load_lines.value = 0.5;
    assert!(
        s.validate()
            .unwrap_err()
            .to_string()
            .ends_with("load_lines is 0.5 lines; allowed: 1 to 100000 lines")
    );
    let mut s = server();
    s.caches.l1_kib = 32;
    assert!(s.validate().unwrap_err().to_string().ends_with("l1_kib says nothing about this kind of NIC"));
    let mut s = told_apart();
    s.caches.l1_kib = 0;
    assert!(s.validate().unwrap_err().to_string().contains("go together"));
    let mut s = soft_server();
    s.caches.l1_kib = 30;
    assert!(
        s.validate().unwrap_err().to_string().contains("l1_kib is 30 KiB; allowed: 0, or a multiple of 4")
    );
}

fn interfaces() -> [Interface; 3] {
    [
        Interface::PrivRing(privring::Sizes::default()),
        Interface::ShRing(shring::Sizes { ring: 1024, shared_by: 2, ..Default::default() }),
        Interface::RxBisect(rxbisect::Sizes::default()),
    ]
}

fn soft_run(interface: Interface, app: App, classify_cycles: f64, gbps: f64) -> Report {
    soft_run_with(interface, app, gbps, |c| c.nic.classify_cycles.value = classify_cycles)
}

fn soft_run_with(interface: Interface, app: App, gbps: f64, with: impl Fn(&mut Constants)) -> Report {
    let mut server = soft_server();
    with(&mut server.constants);
    let workload = Workload::Generated("fixed:64,flows=4096".parse().unwrap());
    let line = Line { port: 0, loads: &[1], gbps };
    let window = server.window();
    run(&mut Scenario {
        window,
        setting: Setting { sampling: 1, limit: Ps::from_us(40_000), ..Setting::new(server, interface, app) },
        port_cores: vec![2],
        sources: vec![workload.source_on(line, Rate::Own, 1)],
        peers: Vec::new(),
    })
    .unwrap()
}

#[test]
fn frames_are_counted_and_every_buffer_comes_back() {
    for interface in interfaces() {
        for app in [App::Sink, App::L3fwd] {
            let name = interface.name();
            let r = soft_run(interface.clone(), app, 40.0, 1000.0);
            assert_eq!(r.conservation.buffers, r.conservation.buffers_free, "{name} {app:?}");
            let c = r.conservation;
            assert_eq!(c.offered, c.delivered + c.dropped + c.in_nic, "{name} {app:?}");
            assert!(r.mpps > 1.0 && r.settled, "{name} {app:?}: {} Mpps", r.mpps);
            assert!(r.per_core.iter().all(|c| c.mpps > 0.1), "{name}: both queues move");
            assert_eq!(r.ddio_hit_pct, 0.0);
        }
    }
}

#[test]
fn the_busier_core_sets_the_rate() {
    for interface in interfaces() {
        // 2000 cycles of 0.5 ns for each frame: less than one frame in a microsecond.
        let r = soft_run(interface.clone(), App::Sink, 2_000.0, 1000.0);
        assert!((0.9..1.0).contains(&r.mpps), "{}: {} Mpps", interface.name(), r.mpps);
        assert!(r.nic_busy_pct.unwrap() > 99.0, "{:?}", r.nic_busy_pct);
        assert!(r.per_core.iter().all(|c| c.busy_pct < 50.0));
        // The same of the receiver.
        let r = soft_run_with(interface.clone(), App::Sink, 1000.0, |c| {
            c.core.frame_cycles = Constant { value: 4_000.0, origin: "measured: a test".into() };
        });
        assert!((0.9..1.0).contains(&r.mpps), "{}: {} Mpps", interface.name(), r.mpps);
        assert!(r.per_core.iter().all(|c| c.busy_pct > 99.0));
        assert!(r.nic_busy_pct.unwrap() > 99.0 && r.drop_pct > 50.0, "the source goes on: {}", r.drop_pct);
        // A source of 1 Mpps: neither is.
        let r = soft_run(interface, App::Sink, 40.0, 88.0 * 8e-3);
        assert!((r.mpps - 1.0).abs() < 0.01, "{} Mpps", r.mpps);
        assert!(r.nic_busy_pct.unwrap() < 50.0, "{:?}", r.nic_busy_pct);
    }
}
