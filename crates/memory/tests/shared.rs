//! Regions that another process attaches to: what they hold, and what is refused.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use memory::native::{hung_up, receive_file, send_file};
use memory::{Backing, Buf, Class, Field, Geometry, LINE, Mapping, Memory, Region, Side, Space, fuzz};
use proptest::prelude::*;

const fn field(name: &'static str, len: u32, width: u32, class: Class) -> Field {
    Field { name, len, width, class, writer: Side::Nic, reader: Side::Host, home: Side::Host }
}

const RING: Field = field("ring", 16, 2, Class::Signal);
const GEOMETRY: Geometry = Geometry::plain(4, 128);

fn shared() -> Region {
    Region::shared(1 << 16, Backing::Pages).unwrap()
}

fn file(of: &Region) -> OwnedFd {
    of.file().unwrap().try_clone_to_owned().unwrap()
}

fn refused(file: OwnedFd) -> String {
    Region::attach(file).unwrap_err().to_string()
}

#[test]
fn the_same_field_is_the_same_memory() {
    let here = shared();
    let mut space = &here;
    let ours: Vec<_> = (0..3).map(|q| space.words::<2>(&RING, q).unwrap()).collect();
    let buffers = [GEOMETRY, Geometry { count: 2, ..GEOMETRY }].map(|g| space.buffers(&g).unwrap());
    let there = Region::attach(file(&here)).unwrap();
    let (mut space, mut m, mut n) = (&there, here.view(), there.view());
    // In any order, and more than once.
    for q in [2, 0, 1, 0] {
        let theirs = space.words::<2>(&RING, q).unwrap();
        m.publish(ours[q as usize], 5, [u64::from(q), 9]);
        assert_eq!((n.acquire(theirs, 5), n.read(theirs, 5)), (9, [u64::from(q), 9]));
        n.release(theirs, 7, 4);
        assert_eq!(m.acquire(ours[q as usize], 7), 4);
    }
    let theirs = [GEOMETRY, Geometry { count: 2, ..GEOMETRY }].map(|g| space.buffers(&g).unwrap());
    for (k, (a, b)) in buffers.into_iter().zip(theirs).enumerate() {
        m.put(a, Buf(1), 3, &[k as u8 + 1; 20], 20);
        let mut out = [0; 20];
        n.get(b, Buf(1), 3, &mut out, 20);
        assert_eq!(out, [k as u8 + 1; 20]);
    }
}

#[test]
fn what_differs_is_refused() {
    let here = shared();
    let mut space = &here;
    space.words::<2>(&RING, 0).unwrap();
    let twice = space.words::<2>(&RING, 0).unwrap_err();
    assert_eq!(twice.to_string(), "ring: 0 is in the shared region already");
    space.buffers(&GEOMETRY).unwrap();
    let there = Region::attach(file(&here)).unwrap();
    let mut space = &there;
    assert!(space.words::<2>(&RING.of(32), 0).is_err(), "length");
    assert!(space.words::<1>(&field("ring", 16, 1, Class::Signal), 0).is_err(), "width");
    let class = space.words::<2>(&field("ring", 16, 2, Class::Body), 0).unwrap_err();
    assert_eq!(
        class.to_string(),
        "ring: 0 is Words { class: Signal, width: 2, len: 16 } in the shared region, \
         and Words { class: Body, width: 2, len: 16 } here"
    );
    let missing = space.words::<2>(&RING, 1).unwrap_err();
    assert_eq!(missing.to_string(), "ring: 1 is not in the shared region");
    let bell = field("bell", 1, 1, Class::Register(Mapping::Uncached));
    assert!(space.words::<1>(&bell, 0).is_err());
    assert!(space.buffers(&Geometry { count: 5, ..GEOMETRY }).is_err());
    assert!(space.buffers(&GEOMETRY).is_ok(), "what was refused did not count");
    assert!(space.buffers(&GEOMETRY).is_err(), "there is one stretch");
}

#[test]
fn fields_and_directory_share_the_room() {
    let here = Region::shared(4 * LINE, Backing::Pages).unwrap();
    let mut space = &here;
    let long = field("a name that is longer than an entry holds", 1, 1, Class::Body);
    assert!(space.words::<1>(&long, 0).unwrap_err().to_string().contains("allowed: 1 to 32"));
    let here = Region::shared(4 * LINE, Backing::Pages).unwrap();
    let mut space = &here;
    let one = field("words", 8, 1, Class::Body);
    let w = space.words::<1>(&one, 0).unwrap();
    let error = space.words::<1>(&one, 1).unwrap_err();
    assert_eq!(error.to_string(), "words: needs 64 B; the region has 0 B left of 256");
    let mut m = here.view();
    (0..8).for_each(|i| m.write(w, i, [u64::MAX]));
    assert!(Region::attach(file(&here)).is_ok(), "what is written to a field is not in the header");
    assert!(Region::shared(1 << 12, Backing::Heap).unwrap_err().to_string().contains("Pages, Huge"));
}

/// Both sides read the same time, to within what a look at the clock takes.
#[test]
fn both_sides_have_one_clock() {
    let here = shared();
    let mut m = here.view();
    std::thread::yield_now();
    let there = Region::attach(file(&here)).unwrap();
    let mut n = there.view();
    let mut last = m.now();
    let mut ahead = memory::Ps::ZERO;
    for turn in 0..1000 {
        let now = if turn % 2 == 0 { n.now() } else { m.now() };
        ahead = ahead.max(last.saturating_sub(now));
        last = now;
    }
    // A view with a clock of its own would be behind by all that happened since the region was made.
    let since = m.now();
    let mut late = there.view();
    assert!(late.now() >= since.saturating_sub(ahead + ahead), "{ahead:?}");
    assert!(ahead.ns() < 1_000_000, "{ahead:?} apart");
}

#[test]
fn huge_pages_are_shared_or_it_is_said_what_to_do() {
    match Region::shared(1, Backing::Huge) {
        Ok(here) => {
            let w = (&here).words::<1>(&field("words", 1 << 17, 1, Class::Body), 0).unwrap();
            let there = Region::attach(file(&here)).unwrap();
            let v = (&there).words::<1>(&field("words", 1 << 17, 1, Class::Body), 0).unwrap();
            here.view().write(w, (1 << 17) - 1, [3]);
            assert_eq!(there.view().read(v, (1 << 17) - 1), [3]);
        }
        Err(error) => assert!(error.to_string().contains("nr_hugepages"), "{error}"),
    }
}

#[test]
fn a_file_that_can_shrink_is_refused() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    let open = || {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(memfd_create("open", flags).unwrap());
        (&file).write_all(&fuzz::sound().unwrap()).unwrap();
        file
    };
    let not_sealed = "shared region: the file is not sealed against another size";
    assert_eq!(refused(open().into()), not_sealed);
    let half = open();
    fcntl_add_seals(&half, SealFlags::GROW).unwrap();
    assert_eq!(refused(half.into()), not_sealed);
    assert!(Region::attach(fuzz::sealed(&fuzz::sound().unwrap()).unwrap()).is_ok());
    let other = File::open("/dev/null").unwrap();
    assert_eq!(refused(other.into()), "shared region: the file is none in memory");
    assert!(File::from(file(&shared())).set_len(64).is_err(), "ours cannot shrink");
    for bytes in [0, 1, 64, 130] {
        assert!(refused(fuzz::sealed(&vec![0; bytes]).unwrap()).contains("whole lines"), "{bytes}");
    }
}

#[test]
fn each_lie_of_the_header_is_named() {
    let told = |word: usize, value: u64| {
        let mut bytes = fuzz::sound().unwrap();
        bytes[8 * word..][..8].copy_from_slice(&value.to_ne_bytes());
        refused(fuzz::sealed(&bytes).unwrap())
    };
    assert_eq!(told(0, 1), "shared region: it does not start as one");
    assert_eq!(told(1, 2), "shared region: version 2; allowed: 1");
    assert_eq!(told(2, 4096), "shared region: it tells of 4096 B, the file has 1024");
    assert_eq!(told(3, u64::MAX), "shared region: its time zero lies in the future");
    assert_eq!(told(4, 16), "shared region: 16 entries; allowed: up to 15");
    assert!(told(4, u64::MAX).contains("allowed: up to 15"));
    assert_eq!(told(5, 1), "shared region: bits of the header that mean nothing");
    assert!(told(127, 0).contains("whole lines from 64"), "the offset of entry 0");
}

#[test]
fn a_file_is_handed_over() {
    let (a, b) = UnixStream::pair().unwrap();
    let here = shared();
    let w = (&here).words::<2>(&RING, 0).unwrap();
    send_file(&a, here.file().unwrap()).unwrap();
    assert!(!hung_up(&b), "the file waits");
    let there = Region::attach(receive_file(&b).unwrap()).unwrap();
    let v = (&there).words::<2>(&RING, 0).unwrap();
    there.view().publish(v, 0, [1, 2]);
    assert_eq!(here.view().read(w, 0), [1, 2]);
    (&a).write_all(b"no file").unwrap();
    assert_eq!(receive_file(&b).unwrap_err().to_string(), "the peer sent something else than one file");
    assert!(!hung_up(&b));
    drop(a);
    assert!(hung_up(&b));
    assert!(receive_file(&b).is_err());
    assert!(send_file(&b, here.file().unwrap()).is_err(), "an error, not a signal");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The fuzzer's function: a sound region with some bytes changed, mostly of its header and directory.
    #[test]
    fn fuzz_smoke_changed(
        changes in prop::collection::vec((prop_oneof![0..64u16, 768..1024u16, 0..1024u16], 1..=255u8), 0..5),
    ) {
        let mut bytes = vec![1];
        bytes.extend(changes.iter().flat_map(|(at, by)| [at.to_le_bytes()[0], at.to_le_bytes()[1], *by]));
        fuzz::attach(&bytes);
    }

    #[test]
    fn fuzz_smoke_any(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        fuzz::attach(&bytes);
    }
}
