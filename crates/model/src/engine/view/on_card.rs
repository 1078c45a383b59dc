//! Buffers in the memory of a card, and frames on their way from there to the host.

use memory::Buf;

use super::View;
use crate::machine::frames::Origin;
use crate::machine::layout::PoolId;
use crate::machine::nic_memory::NicMemory;

impl View {
    /// The memory that a pool is in.
    fn nic_memory(&self, b: PoolId) -> Option<&mut NicMemory> {
        self.machine().nic_memories.get_mut(usize::from(b.card?))
    }

    /// A frame, or a part of it, is written into a buffer on the card: by the card itself past the host, by a core with
    /// posted stores, a TLP for each line.
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
        let (stamp, origin) = self.frame_in_hand();
        self.machine().buffers.arrived(b, buf, stamp, origin);
        if let Some(memory) = self.nic_memory(b) {
            self.clock = memory.write(at, len.into());
        }
    }

    /// A frame, or a part of it, is read from a buffer on the card. The card goes on with its next read at once, and
    /// what it writes shows behind these data. A core waits for every line by itself: such loads are not cached.
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
        if let Some(memory) = self.nic_memory(b) {
            let (next, come) = memory.read(at, len.into());
            self.clock = next;
            self.fetched = self.fetched.max(come);
        }
        let frames = self.machine().buffers.of(b);
        let origin = frames.origins.get(buf.0 as usize).copied().unwrap_or_default();
        self.carried = Some((frames.kept[buf.0 as usize].stamp, origin));
    }

    /// When the frame came that the card writes next, and from where: the one that it has read from its own memory, or
    /// the one on the wire.
    #[inline(always)]
    pub(super) fn frame_in_hand(&mut self) -> (u64, Origin) {
        self.carried.take().unwrap_or((self.stamp, self.origin))
    }
}
