//! Real memory: bounds, byte addressing, waiting, and what the layout refuses.

#![allow(clippy::unwrap_used, reason = "a test")]

use memory::{Backing, Buf, Class, Field, Geometry, Mapping, Memory, Ps, Region, Side, Space, Stores, Touch};
use proptest::prelude::*;

const fn field(len: u32, width: u32, class: Class) -> Field {
    Field { name: "words", len, width, class, writer: Side::Nic, reader: Side::Host, home: Side::Host }
}

fn heap(bytes: usize) -> Region {
    Region::new(bytes, Backing::Heap).unwrap()
}

#[test]
fn entries_are_masked_and_start_at_zero() {
    let region = heap(4096);
    let w = (&region).words::<4>(&field(8, 4, Class::Signal), 0).unwrap();
    let mut m = region.view();
    assert_eq!(m.read(w, 3), [0; 4]);
    m.publish(w, u64::MAX, [1, 2, 3, 4]);
    assert_eq!(m.read(w, 7), [1, 2, 3, 4]);
    assert_eq!(m.acquire(w, 15), 4);
    assert_eq!(m.relaxed(w, 6), 0);
    m.release(w, 8, 9);
    assert_eq!(m.read(w, 0), [0, 0, 0, 9]);
    m.write(w, 1, [5; 4]);
    assert_eq!(m.read(w, 9), [5; 4]);
}

#[test]
fn fields_do_not_share_lines() {
    let region = heap(4096);
    let mut space = &region;
    let small = space.words::<1>(&field(1, 1, Class::Signal), 0).unwrap();
    assert_eq!(region.used(), memory::LINE);
    let wide = space.words::<8>(&field(4, 8, Class::Body), 0).unwrap();
    assert_eq!(region.used(), 5 * memory::LINE);
    let mut m = region.view();
    m.release(small, 0, 7);
    m.write(wide, 0, [1; 8]);
    assert_eq!(m.acquire(small, 0), 7);
}

#[test]
fn read_modify_writes_return_what_was_there() {
    let region = heap(64);
    let w = (&region).words::<1>(&field(1, 1, Class::Contended), 0).unwrap();
    let mut m = region.view();
    assert_eq!(m.or(w, 0, 0b110), 0);
    assert_eq!(m.clear(w, 0, 0b010), 0b110);
    assert_eq!(m.add(w, 0, u64::MAX), 0b100);
    assert_eq!(m.swap_if(w, 0, 4, 9), Err(3));
    assert_eq!(m.swap_if(w, 0, 3, 9), Ok(()));
    assert_eq!(m.relaxed(w, 0), 9);
}

#[test]
fn payload_is_addressed_by_the_byte() {
    addressed_by_the_byte(Stores::Cached);
}

#[test]
fn streamed_payload_is_addressed_by_the_byte() {
    addressed_by_the_byte(Stores::Streaming);
}

/// Every offset, head and length around the word borders, against a plain array.
fn addressed_by_the_byte(stores: Stores) {
    const ROOM: usize = 37;
    let region = heap(1 << 12);
    let geometry = Geometry::new(3, 64, 11, ROOM as u32).stored(stores);
    let b = (&region).buffers(&geometry).unwrap();
    let mut m = region.view();
    let step = if cfg!(miri) { 5 } else { 1 };
    let mut truth = [0u8; ROOM];
    for off in (0..ROOM + 3).step_by(step) {
        for len in (0..ROOM + 3).step_by(step) {
            let head: Vec<u8> = (0..(len * 2 / 3)).map(|k| (off * 7 + len * 3 + k + 1) as u8).collect();
            m.put(b, Buf(1), off as u32, &head, len as u32);
            for k in 0..len {
                if let Some(byte) = truth.get_mut(off + k) {
                    *byte = head.get(k).copied().unwrap_or(0);
                }
            }
            let mut out = [0u8; ROOM + 8];
            m.get(b, Buf(1), 0, &mut out, u32::MAX);
            assert_eq!(out[..ROOM], truth, "put of {} B, {len} in all, at {off}", head.len());
            assert_eq!(out[ROOM..], [0; 8], "beyond the room nothing is read");
        }
    }
    for neighbour in [0, 2] {
        let mut out = [1u8; ROOM];
        m.get(b, Buf(neighbour), 0, &mut out, ROOM as u32);
        assert_eq!(out, [0; ROOM], "buffer {neighbour} was not written");
    }
}

/// A put: buffer, offset, bytes, and how many zeros follow.
fn put() -> impl Strategy<Value = (u64, u32, Vec<u8>, u32)> {
    (0..3u64, 0..330u32, prop::collection::vec(1..=255u8, 0..300), 0..200u32)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 1000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever is put where, streamed buffers hold what others do, beyond all ends and in their neighbours too.
    #[test]
    fn streaming_changes_no_byte(offset in 0..24u32, puts in prop::collection::vec(put(), 1..6)) {
        let region = heap(1 << 12);
        let mut space = &region;
        let geometry = Geometry::new(3, 352, offset, 320);
        let pools =
            [Stores::Cached, Stores::Streaming].map(|stores| space.buffers(&geometry.stored(stores)).unwrap());
        let mut m = region.view();
        for (buf, off, bytes, zeros) in puts {
            let len = bytes.len() as u32 + zeros;
            pools.iter().for_each(|b| m.put(*b, Buf(buf), off, &bytes, len));
        }
        for buf in (0..3).map(Buf) {
            let [cached, streamed] = pools.map(|b| {
                let mut all = [0; 320];
                m.get(b, buf, 0, &mut all, 320);
                all
            });
            prop_assert_eq!(cached, streamed);
        }
    }
}

#[test]
fn a_buffer_of_someone_else_is_refused_and_harmless() {
    let region = heap(1 << 14);
    let b = (&region).buffers(&Geometry::dpdk(2)).unwrap();
    let mut m = region.view();
    assert_eq!(m.check(b, 1, 2048), Ok(Buf(1)));
    assert_eq!(m.check(b, 2, 0).unwrap_err().raw, 2);
    assert_eq!(m.check(b, u64::MAX, 0).unwrap_err().raw, u64::MAX);
    assert!(m.check(b, 0, 2049).is_err());
    for raw in [2, u64::MAX] {
        let mut out = [3u8; 4];
        m.put(b, Buf(raw), 0, &[1; 4], 4);
        m.get(b, Buf(raw), 0, &mut out, 4);
        assert_eq!(out, [3; 4]);
        m.meta(b, Buf(raw), 0, Touch::Write);
        m.prefetch(b, Buf(raw), 0);
    }
}

#[test]
fn what_is_asked_for_ahead_stays_as_it_is() {
    let region = heap(1 << 14);
    let mut space = &region;
    let b = space.buffers(&Geometry::dpdk(2)).unwrap();
    let empty = space.words::<1>(&field(4, 1, Class::Body), 0).unwrap();
    let mut m = region.view();
    m.put(b, Buf(1), 0, &[7; 64], 64);
    for (i, raw) in [1, 2, u64::MAX].into_iter().enumerate() {
        m.write(empty, i as u64, [raw]); // the last two name no buffer
        m.put_ahead(b, empty, i as u64);
        m.entry_ahead(empty, i as u64 + 4);
        m.read_ahead(empty, i as u64 + 4);
        assert_eq!(m.read(empty, i as u64), [raw]);
    }
    let mut out = [0; 64];
    m.get(b, Buf(1), 0, &mut out, 64);
    assert_eq!(out, [7; 64]);
}

#[test]
fn metadata_lies_before_the_frame() {
    let region = heap(1 << 14);
    let b = (&region).buffers(&Geometry::dpdk(2)).unwrap();
    let mut m = region.view();
    m.put(b, Buf(1), 0, &[0xee; 2048], 2048);
    for line in [0, 1, 2, 3, 4, u32::MAX] {
        m.meta(b, Buf(1), line, Touch::Write);
        m.meta(b, Buf(1), line, Touch::Read);
    }
    let mut out = [0u8; 2048];
    m.get(b, Buf(1), 0, &mut out, 2048);
    assert_eq!(out, [0xee; 2048]);
}

#[test]
fn what_does_not_fit_is_named() {
    let region = heap(128);
    let mut space = &region;
    let error = space.words::<1>(&field(100, 1, Class::Body), 0).unwrap_err();
    assert_eq!(error.to_string(), "words: has 100 entries; allowed: a power of two from 1");
    assert!(space.words::<2>(&field(4, 1, Class::Body), 0).is_err(), "width differs from the code's");
    assert!(space.words::<1>(&field(16, 1, Class::Body), 0).is_ok());
    let error = space.words::<1>(&field(1, 1, Class::Body), 0).unwrap_err();
    assert_eq!(error.to_string(), "words: needs 8 B; the region has 0 B left of 128");
    let odd = Geometry::plain(1, 60);
    let error = space.buffers(&odd).unwrap_err();
    assert_eq!(error.to_string(), "buffers: have a stride of 60 B; allowed: a multiple of 8");
    assert!(Region::new(usize::MAX, Backing::Heap).is_err());
}

#[test]
fn waiting_ends() {
    let region = heap(64);
    let w = (&region).words::<1>(&field(1, 1, Class::Signal), 0).unwrap();
    let mut m = region.view();
    m.wait(w, 0, 0); // nobody writes: it returns all the same
    m.idle();
    let start = m.now();
    let until = start + Ps::from_us(20);
    m.pause(until, false);
    assert!(m.now() >= until);
    m.pause(Ps::NEVER, true); // may end early
    m.pause(Ps::ZERO, false);
}

#[test]
fn messages_pass_between_threads() {
    messages_pass(Stores::Cached);
}

#[test]
fn streamed_messages_pass_between_threads() {
    messages_pass(Stores::Streaming);
}

/// Whatever is published before the signal is there after it. More threads than cores make progress.
fn messages_pass(stores: Stores) {
    let rounds: u64 = if cfg!(miri) { 30 } else { 20_000 };
    let region = heap(1 << 16);
    let mut space = &region;
    let there = space.words::<2>(&field(4, 2, Class::Signal), 0).unwrap();
    let back = space.words::<1>(&field(1, 1, Class::Signal), 1).unwrap();
    let b = space.buffers(&Geometry::plain(4, 128).stored(stores)).unwrap();
    let message = |n: u64| [n, !n, n ^ 5, n + 7].map(u64::to_le_bytes).concat();
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut m = region.view();
            for n in 1..=rounds {
                while n > 4 + m.acquire(back, 0) {
                    m.idle();
                }
                m.put(b, Buf(n % 4), 3, &message(n), 100);
                m.publish(there, n, [n % 4, n]);
            }
        });
        let mut m = region.view();
        for n in 1..=rounds {
            loop {
                let seen = m.acquire(there, n);
                if seen == n {
                    break;
                }
                m.wait(there, n, seen);
            }
            let buf = m.check(b, m.clone().read(there, n)[0], 103).unwrap();
            let mut bytes = [0; 32];
            m.get(b, buf, 3, &mut bytes, 100);
            assert_eq!(bytes[..], message(n));
            m.release(back, 0, n);
        }
    });
}

/// Entries written to a combining register are there once a doorbell has been rung behind them.
#[test]
fn combined_writes_are_there_after_their_barrier() {
    let rounds: u64 = if cfg!(miri) { 30 } else { 20_000 };
    let region = heap(1 << 12);
    let mut space = &region;
    let register = |len, width, mapping| field(len, width, Class::Register(mapping));
    let window = space.words::<8>(&register(4, 8, Mapping::Combining), 0).unwrap();
    let bell = space.words::<1>(&register(1, 1, Mapping::Uncached), 1).unwrap();
    let status = space.words::<1>(&register(1, 1, Mapping::Uncached), 2).unwrap();
    std::thread::scope(|s| {
        s.spawn(|| {
            let mut m = region.view();
            for n in 1..=rounds {
                while n > 4 + m.acquire(status, 0) {
                    m.idle();
                }
                m.write(window, n, [n; 8]);
                m.ring(bell, n);
            }
        });
        let (mut m, mut read) = (region.view(), 0);
        while read < rounds {
            let rung = m.acquire(bell, 0);
            for n in read + 1..=rung {
                assert_eq!(m.read(window, n), [n; 8]);
            }
            if rung == read {
                m.idle();
            }
            read = rung;
            m.release(status, 0, read);
        }
    });
}

#[cfg(all(unix, not(miri)))]
#[test]
fn mapped_pages_are_zero_and_writable() {
    let region = Region::new(64 << 20, Backing::Pages).unwrap();
    let w = (&region).words::<1>(&field(1 << 20, 1, Class::Body), 0).unwrap();
    let mut m = region.view();
    assert_eq!(m.read(w, (1 << 20) - 1), [0]);
    m.write(w, (1 << 20) - 1, [1]);
    assert_eq!(m.read(w, u64::MAX), [1]);
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn huge_pages_work_or_say_what_to_do() {
    match Region::new(1, Backing::Huge) {
        Ok(region) => {
            let w = (&region).words::<1>(&field(1 << 18, 1, Class::Body), 0).unwrap();
            assert_eq!(region.view().read(w, 0), [0]);
        }
        Err(error) => assert!(error.to_string().contains("nr_hugepages"), "{error}"),
    }
}
