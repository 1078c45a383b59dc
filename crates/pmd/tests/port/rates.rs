//! Wires of a rate. One bit per second: of the frames that are there the first passes, and no test lasts until the
//! second may.

use super::*;

const SLOW: &str = "0.000000001";

fn turn(core: &Core) {
    // SAFETY: the card lives and has no thread.
    unsafe { rxlab_card_turn(core.0) };
}

fn delivered(port: &Port) -> u64 {
    port.counters.rx[0].outcome[0].load(Relaxed)
}

fn sent(port: &Port) -> u64 {
    port.counters.tx[0].packets.load(Relaxed)
}

/// The clock of a port begins with its start, and so do its wires: none is busy for as long as the port ran before.
#[test]
fn a_restarted_wire_is_idle() {
    for (source, key) in [("gen:fixed:64", "rx_rate"), ("loop", "tx_rate")] {
        let core = Core::idle();
        let mut port = Port::new(&core, &[("source", source), (key, SLOW)]).unwrap();
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
