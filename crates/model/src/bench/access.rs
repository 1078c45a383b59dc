//! One load of a line, by where it is.

use memory::{Buf, Geometry, Memory, Ps, Side, Space};

use super::{Bench, Error, Notes, cost, median};
use crate::engine::view::View;
use crate::machine::layout::PoolId;
use crate::profile::Server;

/// Lines that are loaded, one after the other.
const LINES: u32 = 33;
/// From when on they are: whoever had to touch them has.
const READY: Ps = Ps::from_us(10_000);

/// What has the line, in the same state on either node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Memory alone, of the line's home.
    Dram,
    /// The LLC of a node, after a core there has stored into the line.
    Llc,
    /// The L2 of another core, which has stored into the line.
    L2,
}

/// What a core of the host waits for a line that a node has, the median of several: `remote` tells whether it is the
/// NIC's node, `home` whose memory the line belongs to.
///
/// # Errors
/// A server without a second node, or a line that memory of another node than its home would have.
pub fn latency(server: &Server, holder: Holder, remote: bool, home: Side) -> Result<Ps, Error> {
    if holder == Holder::Dram && remote != (home == Side::Nic) {
        return Err(Error::Asked("a line in DRAM is in its home's; allowed: that node".into()));
    }
    let mut bench = Bench::new(server)?;
    let lines = bench.space.buffers(&Geometry::dpdk(LINES).homed(home))?;
    let room = server.caches.l2_kib * 2;
    let others = bench.space.buffers(&Geometry::plain(room, 1024).homed(side(remote)))?;
    let writes = move |m: &mut View| {
        if holder != Holder::Dram {
            (0..LINES).for_each(|i| store(m, lines, i));
        }
        if holder == Holder::Llc {
            (0..room).for_each(|i| m.get(others, Buf(i.into()), 0, &mut [], 1024));
        }
    };
    if remote {
        bench.far(writes)
    } else {
        bench.near(1, writes)
    }
    let notes = Notes::new();
    let found = notes.clone();
    bench.near(0, move |m| {
        m.pause(READY, false);
        for i in 0..LINES {
            found.push(cost(m, |m| m.get(lines, Buf(i.into()), 0, &mut [], 64)));
        }
    });
    bench.run(server, Ps::ZERO)?;
    Ok(median(notes.take()))
}

fn store(m: &mut View, lines: PoolId, i: u32) {
    m.put(lines, Buf(i.into()), 0, &[], 64);
}

fn side(far: bool) -> Side {
    if far { Side::Nic } else { Side::Host }
}
