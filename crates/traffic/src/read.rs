//! Capture files: decompression and the record formats (crate `pcap-parser`), down to raw packets
//! with a time. Damaged records are counted and skipped; where the next record cannot be found,
//! reading ends.

use flate2::read::MultiGzDecoder;
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, InterfaceDescriptionBlock, OptionCode, PcapBlockOwned, PcapError, create_reader};
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, Read};

/// A packet as the capture holds it.
pub(crate) struct Raw<'a> {
    /// Capture time in ns since the epoch; `None` where the format keeps none.
    pub(crate) at: Option<u64>,
    pub(crate) link: i32,
    pub(crate) bytes: &'a [u8],
    /// Length before it was snapped.
    pub(crate) len: u32,
}

/// How reading ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Damaged records that were skipped, the last incomplete one included.
    pub(crate) malformed: u64,
    /// The file ends inside a record, or its compressed data is damaged.
    pub(crate) truncated: bool,
}

/// Why nothing could be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Empty,
    NotACapture,
}

/// Type and two lengths of a pcapng block, bytes.
const BLOCK: usize = 12;
/// A longer record is taken for damage.
const LONGEST: usize = 16 << 20;

/// Reads a whole capture, plain or compressed.
pub(crate) fn read<'a>(
    input: impl Read + Send + 'a,
    mut each: impl FnMut(Raw<'_>),
) -> Result<Ended, Refused> {
    let plain = decompress(input).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => Refused::Empty,
        _ => Refused::NotACapture,
    })?;
    let mut reader = create_reader(1 << 16, plain).map_err(|_| Refused::NotACapture)?;
    let mut section = Section::default();
    let mut ended = Ended::default();
    loop {
        let step = if section.impossible(reader.data()) {
            Step::End
        } else {
            match reader.next() {
                Ok((bytes, block)) => {
                    if !section.packet(block, &mut each) {
                        ended.malformed += 1;
                    }
                    Step::Consume(bytes)
                }
                Err(PcapError::Eof) => return Ok(ended),
                Err(PcapError::Incomplete(_)) => Step::More,
                Err(PcapError::BufferTooSmall) => Step::Grow,
                Err(_) => Step::End,
            }
        };
        if !step.take(reader.as_mut(), &section, &mut ended) {
            return Ok(ended);
        }
    }
}

/// What to do after looking at the reader's next block (which borrows the reader).
enum Step {
    Consume(usize),
    More,
    Grow,
    End,
}

impl Step {
    /// Whether reading goes on.
    fn take(self, reader: &mut dyn PcapReaderIterator, section: &Section, ended: &mut Ended) -> bool {
        let goes_on = match (self, section.block_len(reader.data())) {
            (Step::Consume(bytes), _) => {
                reader.consume(bytes);
                true
            }
            // A whole block is there and was not understood, whatever the reader asked for.
            (_, Some(bytes)) => {
                ended.malformed += 1;
                reader.consume(bytes);
                true
            }
            (Step::More, None) => {
                let read = reader.refill().is_ok();
                ended.truncated |= !read;
                read
            }
            (Step::Grow, None) => {
                let size = reader.data().len().max(1 << 16) * 2;
                size <= LONGEST && reader.grow(size) && reader.refill().is_ok()
            }
            (Step::End, None) => false,
        };
        // Nothing left is a clean end, whatever the reader called it.
        if !goes_on && !reader.data().is_empty() {
            ended.malformed += 1;
            ended.truncated = true;
        }
        goes_on
    }
}

/// What a capture said about the packets that follow: classic pcap in its one header, pcapng per
/// section and interface.
#[derive(Default)]
struct Section {
    /// Whether this is pcapng, whose blocks tell their length even when damaged.
    blocks: bool,
    big_endian: bool,
    interfaces: Vec<Interface>,
}

#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    /// Time units per second.
    resolution: u128,
    offset_s: i64,
    snaplen: u32,
}

impl Section {
    /// Takes one block; `false` when it is a packet that makes no sense.
    fn packet(&mut self, block: PcapBlockOwned<'_>, each: &mut impl FnMut(Raw<'_>)) -> bool {
        match block {
            PcapBlockOwned::LegacyHeader(h) => {
                let resolution = if h.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                // The upper half of the field may tell of a captured FCS.
                let link = h.network.0 & 0xffff;
                self.interfaces = vec![Interface { link, resolution, offset_s: 0, snaplen: h.snaplen }];
            }
            PcapBlockOwned::Legacy(b) => {
                let Some(i) = self.interfaces.first() else { return false };
                let fraction = u128::from(b.ts_usec) * 1_000_000_000 / i.resolution;
                let at = u64::from(b.ts_sec) * 1_000_000_000 + fraction as u64;
                each(Raw { at: Some(at), link: i.link, bytes: b.data, len: b.origlen });
            }
            PcapBlockOwned::NG(Block::SectionHeader(b)) => {
                *self = Self { blocks: true, big_endian: b.big_endian(), interfaces: Vec::new() };
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(b)) => {
                let exponent = u32::from(b.if_tsresol & 0x7f);
                let base: u128 = if b.if_tsresol & 0x80 == 0 { 10 } else { 2 };
                // A resolution that does not fit is nonsense; fall back on the format's default.
                let resolution = base.checked_pow(exponent).unwrap_or(1_000_000);
                let (link, offset_s, snaplen) = (b.linktype.0, self.offset(&b), b.snaplen);
                self.interfaces.push(Interface { link, resolution, offset_s, snaplen });
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(b)) => {
                let Some(i) = self.interfaces.get(b.if_id as usize) else { return false };
                let at = i.time(u64::from(b.ts_high) << 32 | u64::from(b.ts_low));
                each(Raw { at: Some(at), link: i.link, bytes: b.packet_data(), len: b.origlen });
            }
            PcapBlockOwned::NG(Block::SimplePacket(b)) => {
                let Some(i) = self.interfaces.first() else { return false };
                let snaplen = if i.snaplen == 0 { usize::MAX } else { i.snaplen as usize };
                let bytes = b.packet_data();
                let bytes = &bytes[..bytes.len().min(snaplen)];
                each(Raw { at: None, link: i.link, bytes, len: b.origlen });
            }
            PcapBlockOwned::NG(_) => {}
        }
        true
    }

    /// Where an interface's time starts, in s. Its field of the same name is right only for
    /// little-endian captures: the option is read here.
    fn offset(&self, b: &InterfaceDescriptionBlock<'_>) -> i64 {
        let option = b.options.iter().find(|o| o.code == OptionCode::IfTsoffset);
        match option.and_then(|o| o.value.first_chunk::<8>()) {
            Some(bytes) if self.big_endian => i64::from_be_bytes(*bytes),
            Some(bytes) => i64::from_le_bytes(*bytes),
            None => 0,
        }
    }

    /// Length of the pcapng block at the start of `data`, when all of it is there.
    fn block_len(&self, data: &[u8]) -> Option<usize> {
        let len = self.stated_len(data)?;
        (len >= BLOCK && len.is_multiple_of(4) && len <= data.len()).then_some(len)
    }

    /// What a block says of its length.
    fn stated_len(&self, data: &[u8]) -> Option<usize> {
        if !self.blocks {
            return None;
        }
        let field = data.get(4..)?.first_chunk::<4>()?;
        let len = if self.big_endian { u32::from_be_bytes(*field) } else { u32::from_le_bytes(*field) };
        Some(len as usize)
    }

    /// Whether a block is shorter than its own frame: `pcap-parser` 0.17 subtracts without a look. A
    /// section header may be of the other byte order, and is read by itself.
    fn impossible(&self, data: &[u8]) -> bool {
        const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
        !data.starts_with(&SECTION) && self.stated_len(data).is_some_and(|len| len < BLOCK)
    }
}

impl Interface {
    /// A pcapng time stamp in ns, saturating.
    fn time(&self, units: u64) -> u64 {
        let ns = (u128::from(units) * 1_000_000_000 / self.resolution) as i128;
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        (ns + offset).clamp(0, i128::from(u64::MAX)) as u64
    }
}

/// Undoes gzip or zstd, told by the first bytes.
///
/// # Errors
/// `UnexpectedEof` when there is not one byte; otherwise the data is no zstd after all.
fn decompress<'a>(mut input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut magic = [0; 4];
    let mut have = 0;
    while have < magic.len() {
        match input.read(&mut magic[have..])? {
            0 => break,
            n => have += n,
        }
    }
    if have == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let whole = io::Cursor::new(magic).take(have as u64).chain(input);
    Ok(match magic {
        [0x1f, 0x8b, ..] => Box::new(Full::new(MultiGzDecoder::new(whole))),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            let decoder = StreamingDecoder::new(whole).map_err(io::Error::other)?;
            Box::new(Full::new(decoder))
        }
        _ => Box::new(Full::new(whole)),
    })
}

/// Fills the whole buffer on each read, since the capture reader probes with one read. Bytes that came before
/// an error are returned first; the next read returns the error.
struct Full<R> {
    inner: R,
    failed: bool,
}

impl<R> Full<R> {
    fn new(inner: R) -> Self {
        Self { inner, failed: false }
    }
}

impl<R: Read> Read for Full<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut have = 0;
        while have < buf.len() {
            match self.inner.read(&mut buf[have..]) {
                Ok(0) => break,
                Ok(n) => have += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if have == 0 => return Err(e),
                Err(_) => {
                    self.failed = true;
                    break;
                }
            }
        }
        Ok(have)
    }
}
