//! What a live frame carries beside its headers: its flow, its number in that flow, and a check of both.

/// Where the stamp begins: behind Ethernet, IPv4 and UDP.
pub(crate) const AT: usize = 42;
/// Its bytes.
pub(crate) const BYTES: usize = 16;

/// A frame's place in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) flow: u32,
    pub(crate) number: u32,
}

impl Stamp {
    pub(crate) fn bytes(self) -> [u8; BYTES] {
        let named = self.name();
        let mut out = [0; BYTES];
        out[..8].copy_from_slice(&named.to_be_bytes());
        out[8..].copy_from_slice(&check(named).to_be_bytes());
        out
    }

    /// The stamp of a frame; `None` if its check does not fit.
    pub(crate) fn read(frame: &[u8]) -> Option<Stamp> {
        let (words, _) = frame.get(AT..AT + BYTES)?.as_chunks::<8>();
        let [named, sum] = words else { return None };
        let named = u64::from_be_bytes(*named);
        let stamp = Stamp { flow: (named >> 32) as u32, number: named as u32 };
        (check(named) == u64::from_be_bytes(*sum)).then_some(stamp)
    }

    fn name(self) -> u64 {
        u64::from(self.flow) << 32 | u64::from(self.number)
    }
}

/// Mixes every bit of `named` into every bit of the result.
fn check(named: u64) -> u64 {
    let wide = u128::from(named ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
    (wide ^ (wide >> 64)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_bit_is_seen() {
        let mut frame = [0; AT + BYTES];
        let stamp = Stamp { flow: 7, number: 123_456 };
        frame[AT..].copy_from_slice(&stamp.bytes());
        assert_eq!(Stamp::read(&frame), Some(stamp));
        assert_eq!(Stamp::read(&frame[..AT + 15]), None);
        for bit in 0..BYTES * 8 {
            let mut torn = frame;
            torn[AT + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Stamp::read(&torn), None, "bit {bit}");
        }
    }
}
