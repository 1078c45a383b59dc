//! What the card adds to a packet's type: the bits of `Class::kind` beside those of [`packet::kind`].

/// The IPv4 header's checksum is right.
pub const IP_GOOD: u32 = 1 << 16;
/// The IPv4 header's checksum is wrong.
pub const IP_BAD: u32 = 1 << 17;
/// The checksum of TCP or UDP is right, or the UDP sender made none.
pub const L4_GOOD: u32 = 1 << 18;
/// The checksum of TCP or UDP is wrong.
pub const L4_BAD: u32 = 1 << 19;
/// What is found of checksums.
pub const CHECKSUMS: u32 = IP_GOOD | IP_BAD | L4_GOOD | L4_BAD;
/// The frame has an RSS hash, or another number to steer by.
pub const HASHED: u32 = 1 << 20;
/// The mark is metadata of flow rules.
pub const META: u32 = 1 << 21;
/// No frame of its own, but a piece that follows what came before it: the frame lies in several buffers.
pub const FOLLOWS: u32 = 1 << 22;
/// A piece of the frame follows, in the next buffer.
pub const MORE: u32 = 1 << 23;
