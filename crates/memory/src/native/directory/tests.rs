//! Entries there and back, and entries that are not honest.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

fn shape() -> impl Strategy<Value = Shape> {
    let registers = [Mapping::Uncached, Mapping::Combining].map(Class::Register);
    let class =
        prop::sample::select([&[Class::Signal, Class::Contended, Class::Body][..], &registers].concat());
    let words = (class, 0..4u32, 0..12u32).prop_map(|(class, w, l)| Shape::Words {
        class,
        width: 1 << w,
        len: 1 << l,
    });
    let buffers = (1..300u32, 1..40u32, 0..64u32).prop_map(|(count, words, offset)| {
        let stride = 8 * (words + 8);
        Shape::Buffers(Geometry::new(count, stride, offset, stride - offset))
    });
    prop_oneof![4 => words, 1 => buffers]
}

/// Entries one behind the other, and the bytes of the region that just holds them.
fn entries() -> impl Strategy<Value = (Vec<Entry>, u64)> {
    prop::collection::vec(("[!-~]{1,32}", any::<u32>(), shape(), 0..3u64), 0..20).prop_map(|parts| {
        let mut end = LINE as u64;
        let mut entries: Vec<Entry> = Vec::new();
        for (name, instance, shape, gap) in parts {
            if entries.iter().any(|e| e.name == name && e.instance == instance) {
                continue;
            }
            let offset = end + gap * LINE as u64;
            end = (offset + shape.bytes()).next_multiple_of(LINE as u64);
            entries.push(Entry { name, instance, shape, offset });
        }
        let bytes = end + LINE as u64 * entries.len() as u64;
        (entries, bytes)
    })
}

fn lines(entries: &[Entry]) -> Vec<[u64; WORDS]> {
    entries.iter().map(|e| e.encode().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read((entries, bytes) in entries()) {
        let read = listing(&lines(&entries), bytes).unwrap();
        prop_assert_eq!(read.len(), entries.len());
        for Entry { name, instance, shape, offset } in entries {
            prop_assert_eq!(read[&(name, instance)], (shape, offset));
        }
    }

    /// Whatever is accepted lies inside, on lines, apart from all else.
    #[test]
    fn a_changed_byte_is_refused_or_harmless(
        (entries, bytes) in entries(),
        changes in prop::collection::vec((any::<usize>(), 0..8u32, any::<u8>()), 1..4),
    ) {
        let mut lines = lines(&entries);
        for (word, byte, bits) in changes {
            if let Some(all) = lines.len().checked_mul(WORDS).filter(|n| *n > 0) {
                lines[word % all / WORDS][word % WORDS] ^= u64::from(bits) << (8 * byte);
            }
        }
        if let Ok(read) = listing(&lines, bytes) {
            let mut places: Vec<_> = read.values().map(|(shape, at)| (*at, at + shape.bytes())).collect();
            places.sort_unstable();
            let limits = [(0, LINE as u64), (bytes - (LINE * lines.len()) as u64, bytes)];
            let all: Vec<_> = limits[..1].iter().chain(&places).chain(&limits[1..]).collect();
            prop_assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", all);
            prop_assert!(places.iter().all(|place| place.0 % LINE as u64 == 0));
        }
    }

    #[test]
    fn any_header_is_survived(mut words in any::<[u64; WORDS]>(), good in 0..1u8 << 6, bytes in any::<u64>()) {
        for (k, word) in header(bytes, 7).into_iter().enumerate().take(6) {
            if good >> k & 1 == 1 {
                words[k] = word;
            }
        }
        if let Ok((_, count)) = read_header(&words, bytes) {
            prop_assert!(count == 0 || (count + 1) * LINE as u64 <= bytes);
        }
    }
}

/// Processes of several versions may share a region.
#[test]
fn kinds_keep_their_numbers() {
    let registers = [Mapping::Uncached, Mapping::Combining].map(Class::Register);
    let classes = [Class::Signal, Class::Contended, Class::Body, registers[0], registers[1]];
    let kind = |class| Shape::Words { class, width: 1, len: 1 }.words(0)[0] >> 32;
    assert_eq!(classes.map(kind), [0, 1, 2, 3, 5]);
    assert_eq!(Shape::Buffers(Geometry::plain(1, 64)).words(0)[0] >> 32, 4);
}

#[test]
fn each_lie_is_named() {
    let one = |f: &dyn Fn(&mut Entry)| {
        let shape = Shape::Words { class: Class::Signal, width: 2, len: 8 };
        let mut entry = Entry { name: "words".into(), instance: 1, shape, offset: 64 };
        f(&mut entry);
        entry
    };
    let told = |entries: &[Entry]| listing(&lines(entries), 1024).unwrap_err().to_string();
    let told_of = |f: &dyn Fn(&mut Entry)| told(&[one(f)]);
    let range = "allowed: whole lines from 64 to 960";
    assert_eq!(told_of(&|e| e.offset = 0), format!("shared region: words 1: 128 B at 0; {range}"));
    assert_eq!(told_of(&|e| e.offset = 72), format!("shared region: words 1: 128 B at 72; {range}"));
    assert_eq!(told_of(&|e| e.offset = 896), format!("shared region: words 1: 128 B at 896; {range}"));
    assert!(told_of(&|e| e.offset = u64::MAX - 63).contains("whole lines"));
    let wide = Shape::Words { class: Class::Body, width: 3, len: 8 };
    assert_eq!(told_of(&|e| e.shape = wide), "shared region: entry 0: 8 entries of 3 words");
    let odd = Shape::Buffers(Geometry::plain(1, 60));
    assert!(told_of(&|e| e.shape = odd).contains("a multiple of 8"));
    assert_eq!(told(&[one(&|_| {}), one(&|_| {})]), "shared region: words 1 stands in it twice");
    let apart = one(&|e| (e.instance, e.offset) = (2, 128));
    assert_eq!(told(&[one(&|_| {}), apart]), "shared region: what lies at 64 overlaps what lies at 128");
    assert!(one(&|e| e.name = "a name with blanks".into()).encode().is_err());
    let mut line = one(&|_| {}).encode().unwrap();
    line[6] = 1;
    assert_eq!(
        listing(&[line], 1024).unwrap_err().to_string(),
        "shared region: entry 0: bits that mean nothing"
    );
    line[4] |= 9 << 32;
    assert!(listing(&[line], 1024).unwrap_err().to_string().ends_with("kind 9; allowed: 0 to 5"));
}
