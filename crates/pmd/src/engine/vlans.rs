//! The VLAN filter.

use nic::Incoming;

/// Words of a bit for each VLAN.
pub const VLAN_WORDS: usize = 64;

/// The VLANs whose frames pass, a bit for each.
pub(crate) struct Vlans(Box<[u64; VLAN_WORDS]>);

impl Vlans {
    pub(crate) fn new(bits: &[u64; VLAN_WORDS]) -> Vlans {
        Vlans(Box::new(*bits))
    }

    /// Whether the frame is of a VLAN that does not pass. One without a tag is of none, and so is one whose tag has a
    /// priority alone.
    pub(super) fn bar(&self, f: &Incoming<'_>) -> bool {
        let mut head = [0; 16];
        let bytes = core::iter::once(&f.head).chain(f.more()).flat_map(|piece| piece.iter());
        head.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let [high, low] = [head[14] & 0x0f, head[15]];
        let vlan = usize::from(u16::from_be_bytes([high, low]));
        head[12..14] == [0x81, 0] && f.len >= 16 && vlan != 0 && self.0[vlan / 64] >> (vlan % 64) & 1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_vlans_that_are_not_set_are_barred_and_others_pass() {
        let mut bits = [0; VLAN_WORDS];
        bits[4095 / 64] |= 1 << (4095 % 64);
        bits[1] |= 1;
        let vlans = Vlans::new(&bits);
        let frame = |kind: [u8; 2], tag: u16| {
            let mut frame = [0; 60];
            frame[12..14].copy_from_slice(&kind);
            frame[14..16].copy_from_slice(&tag.to_be_bytes());
            frame
        };
        let tagged = |tag| vlans.bar(&Incoming::whole(&frame([0x81, 0], tag), 60));
        // The upper four bits are no part of the number.
        assert_eq!(
            [64, 0xe040, 4095, 65, 0xe041, 0, 0xe000].map(tagged),
            [false, false, false, true, true, false, false]
        );
        assert!(!vlans.bar(&Incoming::whole(&frame([8, 0], 65), 60)), "it has no tag");
        let whole = frame([0x81, 0], 65);
        let pieces = [&whole[..13], &whole[13..15], &whole[15..]];
        assert!(vlans.bar(&Incoming::gathered(&pieces, 60)), "the tag lies in three pieces");
    }
}
