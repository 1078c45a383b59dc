//! What holds each line beside the LLC.

/// What holds a line of the shared range beside the LLC.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// The L2 of this core.
    L2(usize),
    /// The LLC of the far node.
    FarLlc { dirty: bool },
}

/// [`Holder`] in a byte: nothing, a core's number plus one, or these.
const FAR_CLEAN: u8 = u8::MAX - 1;
const FAR_DIRTY: u8 = u8::MAX;

/// The holder of each line of the shared range, by its rank in the sample.
pub(super) struct Holders(Vec<u8>);

impl Holders {
    /// Nothing holds any of so many lines.
    pub(super) fn new(lines: u32) -> Holders {
        Holders(vec![0; lines as usize])
    }

    /// What holds a line; nothing holds those of no shared range.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> Option<Holder> {
        match self.0.get(rank as usize) {
            None | Some(0) => None,
            Some(&FAR_CLEAN) => Some(Holder::FarLlc { dirty: false }),
            Some(&FAR_DIRTY) => Some(Holder::FarLlc { dirty: true }),
            Some(&o) => Some(Holder::L2(usize::from(o) - 1)),
        }
    }

    /// What holds a line from now on; whether it is of the shared range.
    #[inline]
    pub(super) fn set(&mut self, rank: u32, holder: Option<Holder>) -> bool {
        let Some(byte) = self.0.get_mut(rank as usize) else { return false };
        *byte = match holder {
            None => 0,
            Some(Holder::L2(core)) => core as u8 + 1,
            Some(Holder::FarLlc { dirty: false }) => FAR_CLEAN,
            Some(Holder::FarLlc { dirty: true }) => FAR_DIRTY,
        };
        true
    }
}
