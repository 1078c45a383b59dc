//! Packet-type bits of [`Parsed::kind`](crate::Parsed::kind): four bits for each of link, network,
//! transport and tunnel.
//!
//! The values are those of DPDK's `RTE_PTYPE_*`, so that a driver hands them on as they are.

/// Mask of the link layer.
pub const L2: u32 = 0xf;
/// Ethernet without a tag.
pub const ETHER: u32 = 0x1;
/// ARP.
pub const ARP: u32 = 0x3;
/// One VLAN tag.
pub const VLAN: u32 = 0x6;
/// Two or more VLAN tags.
pub const QINQ: u32 = 0x7;
/// MPLS labels; what they carry is not looked at.
pub const MPLS: u32 = 0xa;

/// Mask of the network layer.
pub const L3: u32 = 0xf0;
/// IPv4 without options.
pub const IPV4: u32 = 0x10;
/// IPv4 with options.
pub const IPV4_EXT: u32 = 0x30;
/// IPv6 without extension headers.
pub const IPV6: u32 = 0x40;
/// IPv6 with extension headers.
pub const IPV6_EXT: u32 = 0xc0;

/// Mask of the transport layer.
pub const L4: u32 = 0xf00;
/// TCP.
pub const TCP: u32 = 0x100;
/// UDP.
pub const UDP: u32 = 0x200;
/// A fragment, the first one included: its ports are not part of its flow.
pub const FRAG: u32 = 0x300;
/// SCTP.
pub const SCTP: u32 = 0x400;
/// ICMP or ICMPv6.
pub const ICMP: u32 = 0x500;
/// A whole packet of another protocol.
pub const NONFRAG: u32 = 0x600;
/// IGMP.
pub const IGMP: u32 = 0x700;

/// Mask of the tunnel. The other layers are those of the outer headers.
pub const TUNNEL: u32 = 0xf000;
/// IP in IP (4 or 6 in 4 or 6).
pub const IP_IN_IP: u32 = 0x1000;
/// GRE.
pub const GRE: u32 = 0x2000;
/// VXLAN (UDP port 4789).
pub const VXLAN: u32 = 0x3000;
/// GRE that carries Ethernet.
pub const NVGRE: u32 = 0x4000;
/// Geneve (UDP port 6081).
pub const GENEVE: u32 = 0x5000;
/// GTP control (UDP port 2123).
pub const GTPC: u32 = 0x7000;
/// GTP user plane (UDP port 2152).
pub const GTPU: u32 = 0x8000;
/// IPsec ESP.
pub const ESP: u32 = 0x9000;
