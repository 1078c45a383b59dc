//! Starts, and what is left of a port.

use std::alloc::{Layout, alloc_zeroed};
use std::thread;

use memory::LINE;

use super::*;

fn port(args: &[(&str, &str)]) -> Port {
    port_on(Arc::default(), args)
}

fn port_on(nic_core: Arc<NicCore>, args: &[(&str, &str)]) -> Port {
    let mut parsed = Args::default();
    args.iter().for_each(|(key, value)| parsed.set(key, value).expect("an argument"));
    // SAFETY: zeros are counters, which nobody frees.
    let counters = unsafe { &*alloc_zeroed(Layout::new::<Counters>()).cast::<Counters>() };
    Port::new(nic_core, parsed, "p".into(), counters).expect("a port")
}

/// A NIC core has a port's engine until the first turn after the port has left; a peer has it no longer than that.
#[test]
fn a_port_that_has_left_is_forgotten() {
    let nic_core = Arc::<NicCore>::default();
    let [a, b] = ["b", "a"].map(|peer| port_on(nic_core.clone(), &[("source", &format!("pair:{peer}"))]));
    Port::pair(&a, &b).expect("two ends");
    let engines = [&a, &b].map(|port| Arc::downgrade(&port.engine));
    nic_core.turn();
    for port in [a, b] {
        port.leave().expect("nobody else has it");
    }
    assert_eq!(Arc::strong_count(&nic_core), 1);
    assert!(engines.iter().all(|engine| engine.strong_count() == 1));
    nic_core.turn();
    assert!(engines.iter().all(|engine| engine.strong_count() == 0));
}

/// Nothing that a port and its NIC core share keeps the other in memory.
#[test]
fn a_port_and_its_nic_core_can_be_dropped_in_any_order() {
    for port_first in [true, false] {
        let nic_core = Arc::<NicCore>::default();
        let port = port_on(nic_core.clone(), &[]);
        let (engine, core) = (Arc::downgrade(&port.engine), Arc::downgrade(&nic_core));
        match port_first {
            true => drop((port, nic_core)),
            false => drop((nic_core, port)),
        }
        assert_eq!((engine.strong_count(), core.strong_count()), (0, 0));
    }
}

/// A start that another thread makes.
struct Given(Start);

// SAFETY: its memory is nobody else's.
unsafe impl Send for Given {}

fn sizes(rx_queues: u16) -> Start {
    Start {
        rx_queues,
        tx_queues: 1,
        rx_desc: 64,
        tx_desc: 64,
        data_offset: 256,
        room: 2048,
        max_frame: 1518,
        scatter: false,
        checksums: false,
        events: core::ptr::null(),
        memory: core::ptr::null_mut(),
        bytes: 0,
    }
}

/// Memory for a start; the test leaks it.
fn with_memory(port: &Port, start: Start) -> Start {
    let bytes = port.memory(&start).expect("sizes that are allowed");
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc_zeroed(Layout::from_size_align(bytes, LINE).expect("a layout")) };
    Start { memory, bytes, ..start }
}

/// The NIC core keeps a starting port waiting for longer than it waits, at whichever hand-shake that is. The start
/// fails and can be tried again.
#[test]
fn a_start_that_found_the_nic_core_busy_leaves_nothing() {
    // The many halves keep the start busy behind its first hand-shake.
    let port = port(&[("iface", "corec"), ("threads", "64")]);
    let start = with_memory(&port, sizes(64));
    for hand_shake in 1..=2 {
        let mut engine = Some(port.engine.held());
        let wanted = |n: u32| while port.engine.wanted() != n {};
        thread::scope(|s| {
            let (port, given) = (&port, Given(start));
            let started = s.spawn(move || {
                let given = &given;
                // SAFETY: nobody else has the memory.
                unsafe { port.start(&given.0) }
            });
            wanted(1);
            if hand_shake == 2 {
                drop(engine.take());
                wanted(0);
                engine = Some(port.engine.held());
            }
            let started = started.join().expect("no panic");
            assert!(matches!(started, Ok(()) | Err(Error::Busy)), "{started:?}");
            assert_eq!(port.queues().are_made(), started.is_ok());
            drop(engine.take());
            if started.is_err() {
                // SAFETY: as above.
                unsafe { port.start(&start) }.expect("it starts now");
            }
        });
        // SAFETY: nobody uses a queue of it.
        unsafe { port.reset() }.expect("the NIC core is idle");
    }
}

#[test]
fn more_host_halves_than_a_port_has_are_refused_with_what_is_allowed() {
    let port = port(&[("iface", "corec"), ("threads", "128")]);
    assert!(port.memory(&sizes(32)).is_ok());
    let said = port.memory(&sizes(33)).expect_err("4224 halves").to_string();
    for what in ["33 Rx queues", "threads=128", "4224", "allowed: 4096", "32 Rx queues"] {
        assert!(said.contains(what), "{said}");
    }
}
