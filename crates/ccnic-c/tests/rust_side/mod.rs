//! What `programs/peer.c` sends and expects, by the crate.

use ccnic::{Buf, Channel, Error, Segment};

const HEAD: usize = 12;
const BURST: u64 = 8;

/// Of the other process, before the test gives up.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn pieces(n: u64) -> usize {
    (n % 3 + 1) as usize
}

fn shape(n: u64, piece: usize) -> (u16, u16) {
    ((n % 41) as u16, (HEAD as u64 + (n * 7 + piece as u64) % 190) as u16)
}

/// FNV-1a.
fn sum(sum: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(sum, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619))
}

/// The bytes of a frame's pieces.
fn content(n: u64) -> Vec<Vec<u8>> {
    let byte = |p: usize, i: usize| n.wrapping_mul(31).wrapping_add(p as u64 * 64 + i as u64) as u8;
    let piece = |p: usize| (0..usize::from(shape(n, p).1)).map(|i| byte(p, i)).collect::<Vec<u8>>();
    let mut all: Vec<_> = (0..pieces(n)).map(piece).collect();
    let behind = |p: usize| if p == 0 { HEAD } else { 0 };
    let check = all.iter().enumerate().fold(2_166_136_261, |have, (p, bytes)| sum(have, &bytes[behind(p)..]));
    all[0][..8].copy_from_slice(&n.to_ne_bytes());
    all[0][8..HEAD].copy_from_slice(&check.to_ne_bytes());
    all
}

/// Sends a burst from frame `first` on; the frames that went.
fn push(channel: &mut Channel, first: u64, until: u64) -> Result<u64, Error> {
    let mut segs = Vec::new();
    for n in first..until.min(first + BURST) {
        let mut bufs = [Buf(0); 3];
        let bufs = &mut bufs[..pieces(n)];
        let got = channel.alloc(bufs);
        if got < bufs.len() {
            channel.free(&bufs[..got]);
            break;
        }
        for (p, (buf, bytes)) in bufs.iter().zip(content(n)).enumerate() {
            let (off, len) = shape(n, p);
            channel.write(*buf, off.into(), &bytes)?;
            segs.push(Segment { buf: *buf, off, len, last: p + 1 == pieces(n) });
        }
    }
    let taken = channel.send(&segs)?;
    let back: Vec<_> = segs[taken..].iter().map(|s| s.buf).collect();
    channel.free(&back);
    Ok(segs[..taken].iter().filter(|s| s.last).count() as u64)
}

/// Sends so many frames and receives as many.
pub(crate) fn run(mut channel: Channel, frames: u64) {
    let (mut sent, mut got, mut frame) = (0, 0, Vec::new());
    while sent < frames || got < frames {
        let went = if sent < frames { push(&mut channel, sent, frames).unwrap() } else { 0 };
        sent += went;
        let mut segs = [Segment { buf: Buf(0), off: 0, len: 0, last: false }; 16];
        let patience = if sent < frames { std::time::Duration::from_millis(1) } else { PATIENCE };
        let n =
            if went > 0 { channel.receive(&mut segs) } else { channel.wait(&mut segs, patience) }.unwrap();
        assert!(n > 0 || went > 0 || sent < frames, "{got} of {frames} frames came");
        for s in &segs[..n] {
            assert_eq!((s.off, s.len), shape(got, frame.len()), "frame {got}");
            let mut bytes = vec![0; s.len.into()];
            channel.read(s.buf, s.off.into(), &mut bytes).unwrap();
            channel.free(&[s.buf]);
            frame.push(bytes);
            if s.last {
                assert_eq!(frame, content(got), "frame {got}");
                (got, frame) = (got + 1, Vec::new());
            }
        }
    }
}
