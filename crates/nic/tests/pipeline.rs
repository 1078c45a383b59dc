//! The pipeline: why a frame goes no further, and what is found of one that passes.

#![allow(clippy::unwrap_used, reason = "tests")]

use memory::Ps;
use nic::{Checks, Choose, Class, Filter, HASHED, IP_GOOD, Incoming, L4_BAD, L4_GOOD, Pipeline};
use packet::{Parsed, Rss, checksum};
use rings::{Outcome, Rest};

const CHECKS: Checks = Checks { max_frame: 1518, checksums: false };

/// UDP over IPv4 with right checksums, of 60 B.
fn frame() -> Vec<u8> {
    let mut f = vec![2; 12];
    f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    f.extend([0, 7, 0, 9, 0, 26, 0, 0]);
    f.resize(60, 3);
    let sum = checksum::ipv4(&f[14..34]).unwrap().to_be_bytes();
    f[24..26].copy_from_slice(&sum);
    let sum = checksum::transport(&f[26..34], 17, &f[34..60]).to_be_bytes();
    f[40..42].copy_from_slice(&sum);
    f
}

fn pipeline() -> Pipeline<Rss> {
    Pipeline::new(Rss::spread(4), CHECKS)
}

#[test]
fn the_first_reason_is_told() {
    let other = Filter { promiscuous: false, ..Filter::default() };
    let down = Filter { link_up: false, ..other.clone() };
    let told = |filter: &Filter, len| {
        let p = Pipeline { filter: filter.clone(), ..pipeline() };
        p.admit(&Incoming::whole(&frame(), len)).err()
    };
    for (filter, len, why) in [
        (&down, 60, Some(Outcome::LinkDown)),
        (&down, 1519, Some(Outcome::LinkDown)),
        (&other, 1519, Some(Outcome::Filtered)),
        (&Filter::default(), 1519, Some(Outcome::BadFrame)),
        (&Filter::default(), 1518, None),
        (&Filter::default(), 14, None),
        (&Filter::default(), 13, Some(Outcome::BadFrame)),
    ] {
        assert_eq!(told(filter, len), why, "{filter:?}, {len} B");
    }
}

/// However a frame comes, and whether it is a usual one, the same is found.
#[test]
fn a_frame_in_pieces_is_found_to_be_what_it_is_in_one() {
    let whole = frame();
    let found = pipeline().admit(&Incoming::whole(&whole, 60)).unwrap();
    let rss = Rss::spread(4);
    let hash = rss.hash(&packet::parse(&whole), &whole);
    assert_eq!((found.queue, found.rss, found.flow), (rss.queue(hash), hash, hash));
    assert_eq!((found.kind & HASHED, found.mark, found.cost), (HASHED, 0, Ps::ZERO));
    for cut in 0..whole.len() {
        let (head, more) = whole.split_at(cut);
        for pieces in [&[head, more][..], &[head, &[], more], &[&[], head, more]] {
            assert_eq!(pipeline().admit(&Incoming::gathered(pieces, 60)), Ok(found), "cut at {cut}");
        }
    }
}

#[test]
fn checksums_are_looked_at_where_that_is_asked_for() {
    let asked = Pipeline { checks: Checks { checksums: true, ..CHECKS }, ..pipeline() };
    let verdict = |p: &Pipeline<Rss>, f: &[u8], pieces: &[&[u8]]| {
        let both = [Incoming::whole(f, 60), Incoming::gathered(pieces, 60)];
        both.map(|f| p.admit(&f).unwrap().kind & (IP_GOOD | L4_GOOD | L4_BAD))
    };
    let (good, mut bad) = (frame(), frame());
    bad[50] ^= 1;
    let (first, second) = good.split_at(40);
    assert_eq!(verdict(&asked, &good, &[first, second]), [IP_GOOD | L4_GOOD; 2]);
    assert_eq!(verdict(&asked, &bad, &[first, &bad[40..]]), [IP_GOOD | L4_BAD; 2]);
    assert_eq!(verdict(&pipeline(), &good, &[first, second]), [0; 2]);
}

/// Marks frames to port 9 and lets none pass to port 10; each look takes its time.
struct Ports(Rss);

impl Choose for Ports {
    fn choose(&self, parsed: &Parsed, head: &[u8], len: u32, class: Class) -> Result<Class, Outcome> {
        match parsed.ports(head) {
            Some([_, _, 0, 10]) => Err(Outcome::Filtered),
            Some([_, _, 0, 9]) => {
                Ok(Class { queue: 3, mark: 77, cost: class.cost + Ps::from_ns(5), ..class })
            }
            _ => Choose::choose(&self.0, parsed, head, len, class),
        }
    }
}

#[test]
fn who_chooses_may_drop_mark_and_take_time() {
    let pace = Ps::from_ns(2);
    let p = Pipeline { pace, ..Pipeline::new(Ports(Rss::spread(4)), CHECKS) };
    let to = |port: u8| {
        let mut f = frame();
        f[37] = port;
        f
    };
    let (marked, dropped, other) = (to(9), to(10), to(11));
    let class = p.admit(&Incoming::whole(&marked, 60)).unwrap();
    assert_eq!((class.queue, class.mark, class.cost), (3, 77, Ps::from_ns(7)));
    let frame = class.frame(&Incoming::whole(&marked, 60));
    assert_eq!((frame.mark(), frame.len(), frame.kind()), (77, 60, class.kind));
    assert!(matches!(frame.rest, Rest::Nothing));
    assert_eq!(p.admit(&Incoming::whole(&dropped, 60)), Err(Outcome::Filtered));
    let class = p.admit(&Incoming::whole(&other, 60)).unwrap();
    assert_eq!((class.queue, class.mark, class.cost), (p.choice.0.queue(class.rss), 0, pace));
}
