//! Frames of several pieces, and what the card says of them, over every interface: what arrives is what one piece would
//! have given.

use crate::common;
use crate::common::Pool;
use memory::{Buf, Geometry, Memory, Ps};
use rings::{
    Completion, Frame, Host, Interface, Nic, Outcome, ccnic, ceio, corec, ddring, dynamic, privring,
    rxbisect, shring,
};

const BUFFERS: Geometry = Geometry::plain(12, 128);

fn interfaces() -> [Interface; 8] {
    let dynamic = dynamic::Sizes {
        ring: 4,
        shared_by: 1,
        completions: 4,
        report: 1,
        round: Ps::ZERO,
        ..Default::default()
    };
    let bisect = rxbisect::Sizes { ax: 4, bx: 8, ..rxbisect::Sizes::default() };
    [
        Interface::PrivRing(privring::Sizes { ring: 4 }),
        Interface::ShRing(shring::Sizes { ring: 4, shared_by: 1, completions: 4, ..Default::default() }),
        Interface::RxBisect(bisect),
        Interface::Dynamic(dynamic),
        Interface::DdRing(ddring::Sizes { ring: 4, ..ddring::Sizes::default() }),
        Interface::Corec(corec::Sizes { ring: 4, shared_by: 1, ..Default::default() }),
        Interface::CcNic(ccnic::Sizes { ring: 4, ..Default::default() }),
        Interface::Ceio(ceio::Sizes { ring: 4, drain: 4, ..Default::default() }),
    ]
}

/// What lies in the buffer that received a frame; each held ones before.
fn through(interface: Interface, frame: Frame<'_>) -> Vec<u8> {
    let (mut world, _) = common::world(interface, 1, BUFFERS.count);
    world.fill();
    let (m, rx, _) = world.nic.parts();
    (0..BUFFERS.count).for_each(|buf| m.put(Pool::first(BUFFERS), Buf(buf.into()), 0, &[1; 128], 128));
    let mut out = [Outcome::BadFrame];
    rx.deliver(m, 0, &[frame], &mut out);
    assert_eq!(out, [Outcome::Delivered]);
    let (m, rx, _, pool) = world.cores[0].parts();
    let mut got = [Completion::none(); 2];
    assert_eq!(rx.rx_burst(m, pool, &mut got), 1);
    let said = Completion {
        buf: got[0].buf,
        len: frame.len(),
        between: got[0].between,
        rss: 5,
        kind: 6,
        mark: frame.mark(),
    };
    assert_eq!(got[0], said);
    let mut bytes = vec![0; 128];
    m.get(Pool::first(BUFFERS), got[0].buf, 0, &mut bytes, 128);
    bytes
}

#[test]
fn pieces_arrive_as_one_frame() {
    let bytes: Vec<u8> = (2..102).collect();
    for interface in interfaces() {
        for cuts in [vec![], vec![1], vec![40, 41], vec![0, 0, 14, 14, 99], vec![100]] {
            let ends: Vec<usize> = cuts.iter().copied().chain([bytes.len()]).collect();
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let pieces: Vec<&[u8]> = starts.zip(&ends).map(|(from, to)| &bytes[from..*to]).collect();
            for len in [17, 40, 100, 128] {
                let mut want = vec![1; 128];
                want[..len].fill(0);
                let kept = len.min(bytes.len());
                want[..kept].copy_from_slice(&bytes[..kept]);
                let frame = Frame::gathered(pieces[0], &pieces[1..], len as u16, 5, 6);
                let got = through(interface.clone(), frame);
                assert_eq!(got, want, "{} cut at {cuts:?}, {len} B", interface.name());
            }
        }
    }
}

/// Any mark, beside the shortest and the longest length of these buffers.
#[test]
fn a_mark_arrives_with_its_frame() {
    for interface in interfaces() {
        for mark in [0, 1, 1 << 16, 0xffff_0000, u32::MAX] {
            for len in [0, 128] {
                through(interface.clone(), Frame::new(&[2; 128], len, 5, 6).marked(mark));
            }
        }
    }
}
