//! Buffers in the memory of a card, and frames on their way from there to the host.
//!
//! A card writes that memory, reads it and writes to the host by engines of their own, beside the pipeline that receives
//! (CEIO, sections 4.2 and 5). Each has a bandwidth, and what it moves a latency; none holds the others up. So the agent's
//! clock, which is the pipeline's, stands still here.

use memory::Buf;

use super::View;
use crate::machine::frames::Origin;
use crate::machine::layout::PoolId;
use crate::machine::nic_memory::NicMemory;
use crate::machine::pcie::Beside;

/// What the engines of a card are at.
#[derive(Default)]
pub(super) struct Engines {
    /// When the frame that was kept last has left the pipeline: until then it lies in the receive buffer.
    pub written: u64,
    /// Where it was put, and when it can be read there.
    pub put: Option<(Buf, u64)>,
    /// The frame that was read from there, until it is written elsewhere: when it arrived at the port, from where, and when
    /// it has been read.
    pub carried: Option<(u64, Origin, u64)>,
    /// When the frame that was moved to the host last has left the card: its completion shows behind it.
    pub moved: Option<u64>,
    /// When that completion shows. A release is behind all stores of its agent, so it shows no sooner.
    pub shown: u64,
}

impl View {
    /// The memory that a pool is in.
    fn nic_memory(&self, b: PoolId) -> Option<&mut NicMemory> {
        self.machine().nic_memories.get_mut(usize::from(b.card?))
    }

    /// A frame, or a part of it, is written into a buffer on the card: by the card itself past the host, beside what it
    /// receives, by a core with posted stores, a TLP for each line.
    #[cold]
    pub(super) fn put_on_card(&mut self, b: PoolId, buf: Buf, lines: u32, len: u32) {
        let mut at = self.clock;
        if self.me.core.is_some() {
            let machine = self.machine();
            let issued = at + machine.costs.op * u64::from(lines);
            let link = &mut machine.links[usize::from(b.card.unwrap_or(0))];
            at = link.post(at, len.into(), lines.into()).max(issued);
            self.clock = at;
            if let Some(memory) = self.nic_memory(b) {
                memory.write(at, len.into());
            }
            return;
        }
        let (stamp, origin, _) = self.engines.carried.take().unwrap_or((self.stamp, self.origin, 0));
        self.machine().buffers.arrived(b, buf, stamp, &origin);
        if let Some(memory) = self.nic_memory(b) {
            let [left, there] = memory.write(at, len.into());
            self.engines.written = left;
            self.engines.put = Some((buf, there));
        }
    }

    /// A frame, or a part of it, is read from a buffer on the card. The card has many reads under way, and where the frame
    /// goes it shows behind them. A core waits for every line by itself: such loads are not cached.
    #[cold]
    pub(super) fn get_on_card(&mut self, b: PoolId, buf: Buf, lines: u32, len: u32) {
        let mut at = self.clock;
        if self.me.core.is_some() {
            for _ in 0..lines {
                let machine = self.machine();
                machine.links[usize::from(b.card.unwrap_or(0))].answer(64);
                at += machine.costs.mmio_read + self.nic_memory(b).map_or(0, |memory| memory.load(at));
            }
            self.poll.busy = true;
            self.clock = at;
            return;
        }
        // A frame that is drained as soon as it is kept is still on its way through the switch.
        let put = self.engines.put.filter(|put| put.0 == buf);
        let at = put.map_or(at, |put| at.max(put.1));
        let mut came = at;
        if let Some(memory) = self.nic_memory(b) {
            came = memory.read(at, len.into());
        }
        if let Some((_, _, before)) = self.engines.carried {
            came = came.max(before);
        }
        let frames = self.machine().buffers.of(b);
        let origin = frames.origins.get(buf.0 as usize).copied().unwrap_or_default();
        self.engines.carried = Some((frames.kept[buf.0 as usize].stamp, origin, came));
    }

    /// The frame that the card has read from its own memory goes to a buffer of the host: `len` bytes of it at `off`, in
    /// `lines` from `first` on.
    #[cold]
    pub(super) fn put_carried(
        &mut self,
        b: PoolId,
        buf: Buf,
        (off, len): (u32, u32),
        (first, lines): (u32, u32),
    ) {
        let Some((stamp, origin, came)) = self.engines.carried.take() else { return };
        let (at, port) = (self.clock, self.me.port as usize);
        let machine = self.machine();
        machine.buffers.arrived(b, buf, stamp, &origin);
        machine.dma_write(first, lines, !(off + len).is_multiple_of(64), at);
        let left = machine.links[port].write_beside(Beside::Drain, at, len.into());
        self.engines.moved = Some(left.max(came));
    }

    /// The card writes words behind a frame that it has moved; when they show.
    #[cold]
    pub(super) fn write_behind_moved(&mut self, line: u32, bytes: u64, behind: u64) -> u64 {
        let moved = self.engines.moved.take().unwrap_or(0);
        self.write_line(line, bytes, true);
        let shown = (moved.max(self.clock) + self.machine().costs.write).max(behind);
        self.engines.shown = shown;
        shown
    }
}
