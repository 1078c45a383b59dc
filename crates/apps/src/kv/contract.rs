//! What a store of one core keeps to, and what it says.

use memory::{Buf, Memory};
use packet::kv::Status;

/// Why an item is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No store of this size could take it.
    TooLarge,
    /// There is no room for it.
    Full,
}

impl Refused {
    pub(super) fn status(self) -> Status {
        match self {
            Refused::TooLarge => Status::TooLarge,
            Refused::Full => Status::Full,
        }
    }
}

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// In the store's own memory.
    Bytes {
        /// Its bytes as far as they are stored; zeros follow.
        bytes: &'a [u8],
        /// How long it is.
        len: u16,
    },
    /// In a buffer of the frames' pool.
    Lying {
        /// The buffer.
        buf: Buf,
        /// Where in it.
        off: u16,
        /// How long it is.
        len: u16,
        /// What it adds to a checksum.
        sum: u16,
    },
}

/// Items by key, of one core. The hash ([`packet::kv::hash`]) is passed beside the key.
pub trait Store<M: Memory> {
    /// Starts fetching the buckets of a hash.
    fn ahead_bucket(&self, m: &mut M, hash: u64);
    /// Starts fetching the item of a hash, where its bucket tells of one.
    fn ahead_item(&self, m: &mut M, hash: u64);
    /// The value of `key`.
    fn get(&mut self, m: &mut M, hash: u64, key: &[u8]) -> Option<Value<'_>>;
    /// Gives `key` a value of `len` bytes, whose first bytes `fill` writes where it is told.
    ///
    /// # Errors
    /// [`Refused`]; nothing changed.
    fn put(
        &mut self,
        m: &mut M,
        hash: u64,
        key: &[u8],
        len: u16,
        fill: impl FnOnce(&mut M, &mut [u8]),
    ) -> Result<(), Refused>;
    /// Forgets `key`; whether there was one.
    fn delete(&mut self, m: &mut M, hash: u64, key: &[u8]) -> bool;

    /// Buffers from this number on are the store's.
    fn own_buffers(&self) -> u64 {
        u64::MAX
    }
    /// A value in `buf` is going to be sent from there.
    fn keep(&mut self, _m: &mut M, _buf: Buf) {}
    /// A value in `buf` has been sent, or will not be.
    fn returned(&mut self, _m: &mut M, _buf: Buf) {}
    /// Values that are being sent from where they lie.
    fn sending(&self) -> u64 {
        0
    }
}
