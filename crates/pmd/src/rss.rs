//! An RSS configuration as the driver writes it down: a port's, or that of a rule.

/// Entries of the largest indirection table.
pub const RETA: usize = 512;
/// Bytes of the longest RSS key.
pub const KEY: usize = 52;

/// Key, fields and indirection table.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RssConf {
    /// The key.
    pub key: [u8; KEY],
    /// Bytes of it in use, from 40.
    pub key_len: u32,
    /// What is hashed: 1 IPv4, 2 IPv4 with ports, 4 IPv6, 8 IPv6 with ports.
    pub hash: u32,
    /// Entries of `reta` in use, a power of two.
    pub reta_len: u32,
    /// Queues.
    pub reta: [u16; RETA],
}

impl RssConf {
    /// The bytes of the key in use.
    pub(crate) fn key(&self) -> &[u8] {
        &self.key[..KEY.min(self.key_len as usize)]
    }

    /// The entries of the table in use.
    pub(crate) fn table(&self) -> &[u16] {
        &self.reta[..RETA.min(self.reta_len as usize)]
    }
}
