//! Wires of a rate. One bit per second: of the frames that are there the first passes, and no test lasts until the
//! second may.

use std::ffi::c_void;

use super::*;

const SLOW: &str = "0.000000001";

fn turn(core: &Core) {
    // SAFETY: the NIC core lives and has no thread.
    unsafe { rxlab_nic_core_turn(core.0) };
}

fn delivered(port: &Device) -> u64 {
    port.counters.rx[0].outcome[0].load(Relaxed)
}

fn sent(port: &Device) -> u64 {
    port.counters.tx[0].packets.load(Relaxed)
}

/// The clock of a port begins with its start, and so do its wires: none is busy for as long as the port ran before.
#[test]
fn a_restarted_wire_is_idle() {
    for (source, key) in [("gen:fixed:64", "rx_rate"), ("loop", "tx_rate")] {
        let core = Core::idle();
        let mut port = Device::new(&core, &[("source", source), (key, SLOW)]).unwrap();
        let mut lcore = Lcore::new(Pool::new(512));
        for starts in 1..=3 {
            port.start(1, 64, &mut lcore.pool).unwrap();
            if source == "loop" {
                lcore.send(port.txq(0), 1, 3);
            }
            (0..3).for_each(|_| turn(&core));
            let passed = if source == "loop" { sent(&port) } else { delivered(&port) };
            assert_eq!(passed, starts, "{source}, {key}");
            let left = port.stop(1, &mut lcore.pool)[0];
            lcore.free(left as usize);
        }
    }
}

/// What a loop's wire cannot carry yet waits in the Tx ring, and is neither counted nor lost.
#[test]
fn a_loop_receives_at_its_rate() {
    let core = Core::idle();
    let mut port = Device::new(&core, &[("rx_rate", SLOW)]).unwrap();
    let mut lcore = Lcore::new(Pool::new(512));
    port.start(1, 64, &mut lcore.pool).unwrap();
    for _ in 0..3 {
        lcore.send(port.txq(0), 1, 20);
        turn(&core);
    }
    lcore.receive(port.rxq(0));
    assert_eq!((sent(&port), delivered(&port), lcore.received), (1, 1, 1));
    assert_eq!(outcomes(&port, 1).iter().sum::<u64>(), 1);
    let left = port.stop(1, &mut lcore.pool)[0];
    lcore.free(left as usize);
    assert_eq!(lcore.pool.free.len(), 512);
}

/// Each direction of a pair goes by the rate of the end that receives.
#[test]
fn a_pair_receives_at_the_rate_of_its_end() {
    let core = Core::idle();
    let mut a = Device::new(&core, &[("source", "pair:b")]).unwrap();
    let mut b = Device::new(&core, &[("source", "pair:a"), ("rx_rate", SLOW)]).unwrap();
    let (mut la, mut lb) = (Lcore::new(Pool::new(512)), Lcore::new(Pool::new(512)));
    a.start(1, 64, &mut la.pool).unwrap();
    b.start(1, 64, &mut lb.pool).unwrap();
    // SAFETY: both handles live.
    driver::said(|e, n| unsafe { rxlab_port_pair(a.handle, b.handle, e, n) }).unwrap();
    for _ in 0..3 {
        la.send(a.txq(0), 1, 10);
        lb.send(b.txq(0), 1, 10);
        turn(&core);
    }
    assert_eq!((sent(&a), delivered(&b)), (1, 1));
    assert_eq!((sent(&b), delivered(&a)), (30, 30));
    let (left_a, left_b) = (a.stop(1, &mut la.pool)[0], b.stop(1, &mut lb.pool)[0]);
    la.free(left_a as usize);
    lb.free(left_b as usize);
    assert_eq!((la.pool.free.len(), lb.pool.free.len()), (512, 512));
}

static FRAME: [u8; 60] = [2; 60];

/// A port below that always has a frame.
unsafe extern "C" fn one_frame(ctx: *mut c_void, frames: *mut LowerFrame, _: u16) -> u16 {
    // SAFETY: `ctx` is the test's count, and there is room for a frame.
    unsafe {
        *ctx.cast::<u64>() += 1;
        *frames = LowerFrame { data: FRAME.as_ptr(), len: 60, buf: 0 };
    }
    1
}

unsafe extern "C" fn done(_: *mut c_void, _: *const u64) {}
unsafe extern "C" fn no_room(_: *mut c_void, _: *const u32, _: *mut *mut u8, _: u16) -> u16 {
    0
}
unsafe extern "C" fn sends_none(_: *mut c_void, _: u16) -> u16 {
    0
}

/// A port below is asked for frames while the wire is free; the others stay where it keeps them.
#[test]
fn a_port_below_is_asked_at_the_rate() {
    for (rate, asked) in [("0", 5), (SLOW, 1)] {
        let core = Core::idle();
        let mut port = Device::new(&core, &[("source", "port:x"), ("rx_rate", rate)]).unwrap();
        let mut pool = Pool::new(512);
        port.start(1, 64, &mut pool).unwrap();
        let mut calls = 0_u64;
        let lower = Lower {
            ctx: (&raw mut calls).cast(),
            rx: one_frame,
            rx_done: done,
            tx_get: no_room,
            tx_send: sends_none,
            tx_pass: None,
        };
        // SAFETY: the handle lives, and the calls work until the port below is taken away.
        assert_eq!(unsafe { rxlab_port_lower(port.handle, &lower) }, 0);
        (0..5).for_each(|_| turn(&core));
        // SAFETY: the handle lives.
        assert_eq!(unsafe { rxlab_port_lower(port.handle, std::ptr::null()) }, 0);
        assert_eq!((calls, delivered(&port)), (asked, asked), "rx_rate={rate}");
        port.stop(1, &mut pool);
    }
}
