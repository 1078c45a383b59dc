//! ESP in tunnel mode over IPv4 (RFC 4303): lengths, sealing, opening.
//!
//! The ciphers are those of the RustCrypto project, which use the processor's AES instructions where it
//! has them.

use core::ops::Range;

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use aes_gcm::Aes128Gcm;
use aes_gcm::aead::AeadInOut;
use hmac::{Hmac, Mac};
use packet::{ETHERNET, checksum};
use sha2::Sha256;

/// IPv4 header of the tunnel.
const OUTER: usize = 20;
/// SPI and sequence number.
const HEADER: usize = 8;
/// Pad length and next header.
const TRAILER: usize = 2;
const BLOCK: usize = 16;
/// Where the ESP header begins in a frame, and where its initialisation vector does.
const ESP: usize = ETHERNET + OUTER;
const IV: usize = ESP + HEADER;
/// IP protocol numbers: ESP, and what a tunnel carries.
const PROTOCOL: u8 = 50;
const IPV4: u8 = 4;
const IPV6: u8 = 41;
/// Hops of a sealed packet.
const LIFE: u8 = 64;

/// What seals a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suite {
    /// AES-128 in Galois/counter mode (RFC 4106).
    #[default]
    Gcm,
    /// AES-128 in cipher block chaining (RFC 3602) with HMAC-SHA-256-128 (RFC 4868).
    CbcHmac,
}

impl Suite {
    /// Both.
    pub const ALL: [Suite; 2] = [Suite::Gcm, Suite::CbcHmac];

    /// Bytes of the initialisation vector that a packet carries.
    const fn iv(self) -> usize {
        match self {
            Suite::Gcm => 8,
            Suite::CbcHmac => BLOCK,
        }
    }

    /// What the sealed part's length is a multiple of (RFC 4303 §2.4).
    const fn align(self) -> usize {
        match self {
            Suite::Gcm => 4,
            Suite::CbcHmac => BLOCK,
        }
    }

    /// Bytes of the integrity check value.
    const fn icv(self) -> usize {
        16
    }

    /// Where an inner packet begins in a sealed frame.
    pub const fn inner(self) -> usize {
        IV + self.iv()
    }

    /// Bytes of padding behind an inner packet of `len` bytes.
    const fn padding(self, len: usize) -> usize {
        (len + TRAILER).next_multiple_of(self.align()) - len - TRAILER
    }

    /// Bytes of a frame, without FCS, that carries an inner packet of `len` bytes.
    pub const fn frame(self, len: usize) -> usize {
        self.inner() + len + self.padding(len) + TRAILER + self.icv()
    }
}

/// A security association's secret.
#[derive(Clone)]
pub struct Keys(Cipher);

#[derive(Clone)]
enum Cipher {
    Gcm { cipher: Box<Aes128Gcm>, salt: [u8; 4] },
    Cbc { cipher: Box<Aes128>, mac: Box<Hmac<Sha256>> },
}

impl Keys {
    /// AES-GCM: key and salt, in the order of RFC 4106 §8.1.
    pub fn gcm(key: [u8; 16], salt: [u8; 4]) -> Keys {
        Keys(Cipher::Gcm { cipher: Box::new(Aes128Gcm::new(&key.into())), salt })
    }

    /// AES-CBC's key and that of HMAC-SHA-256 (RFC 4868 §2.1.1: as long as the hash).
    pub fn cbc_hmac(key: [u8; 16], mac: [u8; 32]) -> Keys {
        // HMAC fills a key up to a block with zeros (RFC 2104 §2).
        let mut block = [0; 64];
        block[..32].copy_from_slice(&mac);
        let mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        Keys(Cipher::Cbc { cipher: Box::new(Aes128::new(&key.into())), mac: Box::new(mac) })
    }

    /// The suite that they are for.
    pub fn suite(&self) -> Suite {
        match self.0 {
            Cipher::Gcm { .. } => Suite::Gcm,
            Cipher::Cbc { .. } => Suite::CbcHmac,
        }
    }

    /// Seals `frame` from its ESP header on: the inner packet and its trailer are in place.
    fn seal(&self, frame: &mut [u8], number: u32) -> Option<()> {
        match &self.0 {
            Cipher::Gcm { cipher, salt } => {
                // A counter never repeats under one key, which is all that GCM wants of it (RFC 4106 §3.1).
                frame.get_mut(IV..IV + 8)?.copy_from_slice(&u64::from(number).to_be_bytes());
                let (head, sealed, icv) = parts(frame, Suite::Gcm)?;
                let nonce = nonce(*salt, head)?;
                let tag =
                    cipher.encrypt_inout_detached(&nonce.into(), &head[..HEADER], sealed.into()).ok()?;
                icv.copy_from_slice(&tag);
            }
            Cipher::Cbc { cipher, mac } => {
                // A counter's encryption cannot be foretold without the key (NIST SP 800-38A, appendix C).
                let mut iv = aes::Block::default();
                iv.first_chunk_mut::<4>()?.copy_from_slice(&number.to_be_bytes());
                cipher.encrypt_block(&mut iv);
                frame.get_mut(IV..IV + BLOCK)?.copy_from_slice(&iv);
                let (_, sealed, _) = parts(frame, Suite::CbcHmac)?;
                let (blocks, _) = aes::Block::slice_as_chunks_mut(sealed);
                cbc::Encryptor::<&Aes128>::inner_iv_init(cipher, &iv).encrypt_blocks(blocks);
                let signed = signed(frame.len(), Suite::CbcHmac)?;
                let (signed, icv) = frame[ESP..].split_at_mut_checked(signed)?;
                let mut mac = mac.as_ref().clone();
                mac.update(signed);
                icv.copy_from_slice(&mac.finalize().into_bytes()[..Suite::CbcHmac.icv()]);
            }
        }
        Some(())
    }

    /// Checks and opens a sealed frame in place, and returns where its inner packet lies. `None` if these
    /// keys did not seal it, or if it was changed on its way.
    pub fn open(&self, frame: &mut [u8]) -> Option<Range<usize>> {
        let suite = self.suite();
        match &self.0 {
            Cipher::Gcm { cipher, salt } => {
                let (head, sealed, icv) = parts(frame, suite)?;
                let nonce = nonce(*salt, head)?;
                let tag = <[u8; 16]>::try_from(&*icv).ok()?;
                let (nonce, tag) = (nonce.into(), tag.into());
                cipher.decrypt_inout_detached(&nonce, &head[..HEADER], sealed.into(), &tag).ok()?;
            }
            Cipher::Cbc { cipher, mac } => {
                let (signed, icv) = frame.get(ESP..)?.split_at_checked(signed(frame.len(), suite)?)?;
                let mut mac = mac.as_ref().clone();
                mac.update(signed);
                mac.verify_truncated_left(icv).ok()?;
                let iv: [u8; BLOCK] = *frame.get(IV..)?.first_chunk()?;
                let (_, sealed, _) = parts(frame, suite)?;
                let (blocks, rest) = aes::Block::slice_as_chunks_mut(sealed);
                if !rest.is_empty() {
                    return None;
                }
                cbc::Decryptor::<&Aes128>::inner_iv_init(cipher, &iv.into()).decrypt_blocks(blocks);
            }
        }
        let end = frame.len() - suite.icv() - TRAILER;
        let [padding, _] = *frame.get(end..)?.first_chunk::<2>()?;
        let end = end.checked_sub(usize::from(padding))?;
        (end >= suite.inner()).then_some(suite.inner()..end)
    }
}

/// Bytes from the ESP header on that the check value covers.
fn signed(frame: usize, suite: Suite) -> Option<usize> {
    frame.checked_sub(ESP + suite.icv())
}

/// ESP header with its vector, the sealed part, the check value.
fn parts(frame: &mut [u8], suite: Suite) -> Option<(&mut [u8], &mut [u8], &mut [u8])> {
    let signed = signed(frame.len(), suite)?;
    let (signed, icv) = frame.get_mut(ESP..)?.split_at_mut_checked(signed)?;
    let (head, sealed) = signed.split_at_mut_checked(HEADER + suite.iv())?;
    Some((head, sealed, icv))
}

/// Salt and vector (RFC 4106 §4).
fn nonce(salt: [u8; 4], head: &[u8]) -> Option<[u8; 12]> {
    let mut nonce = [0; 12];
    nonce[..4].copy_from_slice(&salt);
    nonce[4..].copy_from_slice(head.get(HEADER..)?);
    Some(nonce)
}

/// One direction of a tunnel. It belongs to one core, since sequence numbers and vectors must not repeat (RFC
/// 9611). The other end tells the associations of the cores apart by their SPIs.
pub struct Sa {
    suite: Suite,
    spi: u32,
    /// The ends of the tunnel.
    from: [u8; 4],
    to: [u8; 4],
    /// The last sequence number used.
    number: u32,
    /// None in the model: there a sealed packet has a length and a cost, but no content.
    keys: Option<Keys>,
}

impl Sa {
    /// Seals with `keys`.
    pub fn new(spi: u32, from: [u8; 4], to: [u8; 4], keys: Keys) -> Sa {
        Sa { suite: keys.suite(), spi, from, to, number: 0, keys: Some(keys) }
    }

    /// An association for the model: frames get the right lengths and outer headers, and nothing is sealed.
    pub fn declared(suite: Suite, spi: u32, from: [u8; 4], to: [u8; 4]) -> Sa {
        Sa { suite, spi, from, to, number: 0, keys: None }
    }

    /// The suite in use.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The far end of the tunnel.
    pub fn to(&self) -> [u8; 4] {
        self.to
    }

    /// Packets sealed.
    pub fn sealed(&self) -> u32 {
        self.number
    }

    /// How many first bytes of a frame of `len` matter: without keys, its headers.
    pub fn shown(&self, len: usize) -> usize {
        if self.keys.is_some() { len } else { len.min(self.suite.inner()) }
    }

    /// Seals the inner packet of `len` bytes, which lies at its place in `frame`. `frame` has
    /// [`Suite::frame`] bytes; its link header is the caller's. `None`, and nothing sealed, if all sequence
    /// numbers have been used (RFC 4303 §3.3.3), or if lengths contradict each other.
    pub fn seal(&mut self, frame: &mut [u8], len: usize) -> Option<()> {
        let number = self.number.checked_add(1)?;
        let whole = u16::try_from(self.suite.frame(len) - ETHERNET).ok()?;
        if frame.len() != self.suite.frame(len) {
            return None;
        }
        let outer: &mut [u8; OUTER] = frame.get_mut(ETHERNET..)?.first_chunk_mut()?;
        *outer = [0; OUTER];
        outer[0] = 0x45;
        outer[2..4].copy_from_slice(&whole.to_be_bytes());
        [outer[8], outer[9]] = [LIFE, PROTOCOL];
        outer[12..16].copy_from_slice(&self.from);
        outer[16..].copy_from_slice(&self.to);
        let sum = checksum::ipv4(outer)?;
        outer[10..12].copy_from_slice(&sum.to_be_bytes());
        frame[ESP..ESP + 4].copy_from_slice(&self.spi.to_be_bytes());
        frame[ESP + 4..IV].copy_from_slice(&number.to_be_bytes());
        if let Some(keys) = &self.keys {
            trailer(frame, self.suite, len)?;
            keys.seal(frame, number)?;
        }
        self.number = number;
        Some(())
    }
}

/// Padding that counts from 1, its length, and what the inner packet is (RFC 4303 §2.4).
fn trailer(frame: &mut [u8], suite: Suite, len: usize) -> Option<()> {
    let next = if frame.get(suite.inner())? >> 4 == 6 { IPV6 } else { IPV4 };
    let padding = suite.padding(len);
    let at = suite.inner() + len;
    for (byte, n) in frame.get_mut(at..at + padding)?.iter_mut().zip(1..) {
        *byte = n;
    }
    frame[at + padding..at + padding + TRAILER].copy_from_slice(&[padding as u8, next]);
    Some(())
}

/// The SPI of a sealed frame; `None` for another one.
pub fn spi(frame: &[u8]) -> Option<u32> {
    let sealed =
        frame.get(ETHERNET - 2..ETHERNET + 1)? == [8, 0, 0x45] && *frame.get(ETHERNET + 9)? == PROTOCOL;
    let spi = frame.get(ESP..)?.first_chunk()?;
    sealed.then_some(u32::from_be_bytes(*spi))
}
