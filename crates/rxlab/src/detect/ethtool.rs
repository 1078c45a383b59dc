//! Ring sizes of an interface, which only its driver tells.

use rustix::ioctl::{Updater, ioctl};
use rustix::net::{AddressFamily, SocketType, socket};
use serde::Serialize;

/// Ring sizes, entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Rings {
    pub rx: u32,
    pub rx_most: u32,
    pub tx: u32,
    pub tx_most: u32,
}

/// `SIOCETHTOOL` and `ETHTOOL_GRINGPARAM` of Linux's `sockios.h` and `ethtool.h`.
const SIOCETHTOOL: rustix::ioctl::Opcode = 0x8946;
const GET_RINGS: u32 = 0x10;

/// `struct ethtool_ringparam`.
#[repr(C)]
#[derive(Default)]
struct Param {
    command: u32,
    rx_most: u32,
    rx_mini_most: u32,
    rx_jumbo_most: u32,
    tx_most: u32,
    rx: u32,
    rx_mini: u32,
    rx_jumbo: u32,
    tx: u32,
}

/// `struct ifreq` with its pointer, as long as the longest of its forms.
#[repr(C)]
struct Request {
    name: [u8; 16],
    data: *mut Param,
    rest: [u8; 16],
}

/// What the driver of an interface says, if it does.
pub(crate) fn rings(interface: &str) -> Option<Rings> {
    let mut name = [0; 16];
    // The last byte ends the name.
    name[..15].get_mut(..interface.len())?.copy_from_slice(interface.as_bytes());
    let asks = socket(AddressFamily::INET, SocketType::DGRAM, None).ok()?;
    let mut param = Param { command: GET_RINGS, ..Param::default() };
    let mut request = Request { name, data: &raw mut param, rest: [0; 16] };
    // SAFETY: SIOCETHTOOL takes an ifreq whose data points to the struct of its command, here an ethtool_ringparam that
    // outlives the call; the kernel writes no more than that.
    unsafe { ioctl(&asks, Updater::<SIOCETHTOOL, Request>::new(&mut request)) }.ok()?;
    let told = Rings { rx: param.rx, rx_most: param.rx_most, tx: param.tx, tx_most: param.tx_most };
    (told.rx_most > 0).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_interface_has_no_rings() {
        assert_eq!(rings("no-such-name"), None);
        assert_eq!(rings("a name that is longer than the kernel has"), None);
        assert_eq!(rings("lo"), None);
    }
}
