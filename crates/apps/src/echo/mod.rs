//! `tcp-echo`: a TCP server that sends back what it receives, and the client that judges its answers.
//!
//! Both speak through the TCP of smoltcp. The server's segments lie in the buffers of rings: [`Server`] is an
//! application like the others, and an answer is built in the buffer of a frame of the same burst. What no frame asks
//! for, such as a segment that a timer repeats, takes a buffer of the pool ([`App::tick`](crate::App::tick)).
//!
//! The client is smoltcp's as well: segments of crate `tcp` carry a number of zeros one way, so none of its answers
//! could be wrong. What was repeated is counted on the wire, whoever sent it.

mod client;
mod lane;
mod server;
mod wire;

pub use client::{Client, Found, Order};
pub use server::Server;

use memory::Ps;
use smoltcp::iface::{Config, Interface};
use smoltcp::phy::{DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};

use wire::Wire;

/// Bytes of a request, and of its answer (CC-NIC, section 5.7).
pub const MESSAGE: usize = 64;
/// The longest frame that either side sends, without FCS.
pub const LONGEST: usize = packet::ETHERNET + MTU;
/// The most connections of a server: each segment is looked up in their list.
pub const MOST_FLOWS: u32 = 4096;

/// Of an IP packet.
const MTU: usize = 1500;
/// The port of the echo service (RFC 862).
const PORT: u16 = 7;
const SERVER: Ipv4Address = Ipv4Address::new(48, 0, 0, 1);
const CLIENT: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
/// Bytes that a connection keeps in each direction.
const KEPT: usize = 4096;
/// A connection whose other side does not answer for so long is given up, so that its place serves another one.
const TIMEOUT: Duration = Duration::from_secs(30);
const IPV4: [u8; 2] = [8, 0];

/// What both devices can do. Addresses of Ethernet are the device's affair: the wire has two ends.
fn capabilities() -> DeviceCapabilities {
    let mut can = DeviceCapabilities::default();
    can.medium = Medium::Ip;
    can.max_transmission_unit = MTU;
    can
}

/// A stack of TCP and IP at `address`.
fn stack(address: Ipv4Address, seed: u64) -> Interface {
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = seed;
    let mut interface = Interface::new(config, &mut Wire::new(0, seed), Instant::ZERO);
    // There is room for two addresses. All others are on the link.
    interface.update_ip_addrs(|all| _ = all.push(IpCidr::new(IpAddress::Ipv4(address), 0)));
    interface
}

/// An end of a connection that sends at once what it is given.
fn socket() -> Socket<'static> {
    let mut socket = Socket::new(SocketBuffer::new(vec![0; KEPT]), SocketBuffer::new(vec![0; KEPT]));
    socket.set_nagle_enabled(false);
    socket.set_timeout(Some(TIMEOUT));
    socket
}

/// Timers count in microseconds.
fn instant(at: Ps) -> Instant {
    Instant::from_micros((at.ns() / 1000).cast_signed())
}
