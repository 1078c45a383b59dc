//! Which frames a port takes: link, destination address.

use rings::Outcome;

/// Addresses that a port listens to.
pub const MACS: usize = 16;
/// Multicast groups that a port listens to.
pub const GROUPS: usize = 64;

/// What a port takes from its wire.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Filter {
    /// Every frame.
    pub promiscuous: bool,
    /// Every multicast frame.
    pub all_multicast: bool,
    /// Whether the link is up: without it there is no frame to take or to send.
    pub link_up: bool,
    /// Entries of `mac` in use.
    pub macs: u32,
    /// The port's own addresses.
    pub mac: [[u8; 6]; MACS],
    /// Entries of `group` in use.
    pub groups: u32,
    /// Multicast groups.
    pub group: [[u8; 6]; GROUPS],
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            promiscuous: true,
            all_multicast: false,
            link_up: true,
            macs: 0,
            mac: [[0; 6]; MACS],
            groups: 0,
            group: [[0; 6]; GROUPS],
        }
    }
}

impl Filter {
    /// What keeps a frame that begins with `head` from the port. One too short for an address passes here, and is found
    /// to be no frame later.
    #[inline(always)]
    pub(super) fn bars(&self, head: &[u8]) -> Option<Outcome> {
        // One branch for what is usual: both are looked at.
        if self.link_up & self.promiscuous { None } else { self.bars_some(head) }
    }

    #[inline(never)]
    fn bars_some(&self, head: &[u8]) -> Option<Outcome> {
        match (self.link_up, self.promiscuous || self.listens(head)) {
            (false, _) => Some(Outcome::LinkDown),
            (true, false) => Some(Outcome::Filtered),
            (true, true) => None,
        }
    }

    fn listens(&self, head: &[u8]) -> bool {
        let Some(to) = head.first_chunk::<6>() else { return true };
        let among = |list: &[[u8; 6]], used: u32| list.iter().take(used as usize).any(|a| a == to);
        match to[0] & 1 {
            0 => among(&self.mac, self.macs),
            _ => self.all_multicast || *to == [0xff; 6] || among(&self.group, self.groups),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTERED: Option<Outcome> = Some(Outcome::Filtered);

    #[test]
    fn own_addresses_broadcast_and_joined_groups_pass() {
        let mut f = Filter { promiscuous: false, macs: 1, groups: 1, ..Filter::default() };
        f.mac[0] = [2, 0, 0, 0, 0, 1];
        f.mac[1] = [2, 0, 0, 0, 0, 9];
        f.group[0] = [1, 0, 0x5e, 0, 0, 1];
        assert_eq!(f.bars(&[2, 0, 0, 0, 0, 1, 7]), None);
        assert_eq!(f.bars(&[2, 0, 0, 0, 0, 9]), FILTERED, "an entry that is not in use");
        assert_eq!(f.bars(&[0xff; 14]), None);
        assert_eq!(f.bars(&[1, 0, 0x5e, 0, 0, 1]), None);
        assert_eq!(f.bars(&[1, 0, 0x5e, 0, 0, 2]), FILTERED);
        f.all_multicast = true;
        assert_eq!(f.bars(&[1, 0, 0x5e, 0, 0, 2]), None);
        assert_eq!(f.bars(&[4; 6]), FILTERED);
        f.promiscuous = true;
        assert_eq!(f.bars(&[4; 6]), None);
        f.link_up = false;
        assert_eq!(f.bars(&[4; 6]), Some(Outcome::LinkDown));
    }
}
