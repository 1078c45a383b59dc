//! The free buffers of an end: the last freed are taken first, the oldest are given away.

/// Free buffers by their numbers. There is room for all of a pair, each at most once: its caller sees to that.
pub(super) struct Stack {
    slots: Box<[u32]>,
    /// The oldest one's place, and that behind the newest; both only grow, and wrap.
    oldest: u32,
    end: u32,
}

impl Stack {
    pub(super) fn new(count: u32) -> Stack {
        Stack { slots: vec![0; count.next_power_of_two() as usize].into(), oldest: 0, end: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.end.wrapping_sub(self.oldest) as usize
    }

    /// Pushes one.
    #[inline(always)]
    pub(super) fn push(&mut self, i: u32) {
        let mask = self.slots.len() - 1;
        self.slots[self.end as usize & mask] = i;
        self.end = self.end.wrapping_add(1);
    }

    /// Pushes all of them; how many.
    #[inline(always)]
    pub(super) fn push_all(&mut self, all: impl Iterator<Item = u32>) -> u64 {
        let (mask, start) = (self.slots.len() - 1, self.end);
        let (slots, mut end) = (&mut *self.slots, start);
        for i in all {
            slots[end as usize & mask] = i;
            end = end.wrapping_add(1);
        }
        self.end = end;
        end.wrapping_sub(start).into()
    }

    /// Takes as many as `out` has room for, those that were pushed last: there are so many.
    #[inline(always)]
    pub(super) fn take_newest<T>(&mut self, out: &mut [T], mut taken: impl FnMut(u32) -> T) {
        let mask = self.slots.len() - 1;
        let mut end = self.end;
        for to in out {
            end = end.wrapping_sub(1);
            *to = taken(self.slots[end as usize & mask]);
        }
        self.end = end;
    }

    /// What is under the `k` that were pushed last.
    #[inline(always)]
    pub(super) fn below(&self, k: usize) -> Option<u32> {
        let at = self.end.wrapping_sub(k as u32).wrapping_sub(1);
        (k < self.len()).then(|| self.slots[at as usize & (self.slots.len() - 1)])
    }

    /// Takes those that were pushed first, until `keep` are left.
    #[inline(always)]
    pub(super) fn drain_oldest(&mut self, keep: usize) -> impl Iterator<Item = u32> {
        let (slots, mask) = (&*self.slots, self.slots.len() - 1);
        let (first, count) = (self.oldest, self.len().saturating_sub(keep));
        self.oldest = first.wrapping_add(count as u32);
        (0..count as u32).map(move |k| slots[first.wrapping_add(k) as usize & mask])
    }
}
