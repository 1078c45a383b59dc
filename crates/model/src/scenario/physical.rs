//! The physical rings of a card below an emulated NIC: how many, and of which size.

use rings::Interface;

/// Physical rings of a port of `queues`, and the buffers that each holds: as many as the virtual ones,
/// apart from each other where those are (rxbisect §5).
pub(crate) fn rings(interface: &Interface, queues: u32) -> (u32, u32) {
    match interface.own_buffers() {
        Some(each) => (queues, each),
        None => (1, interface.posted_buffers(queues) as u32),
    }
}

/// Entries of a physical ring that holds `buffers`.
pub(crate) fn entries(buffers: u32) -> u32 {
    buffers.next_power_of_two()
}
