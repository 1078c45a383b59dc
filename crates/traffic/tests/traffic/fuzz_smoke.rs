//! The fuzz target's function over random and mutated captures, for those without a fuzzer.

use crate::make::{formats, packets, packings};
use proptest::prelude::*;
use traffic::fuzz;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn mutated_captures(
        packets in packets(), format in formats(), packing in packings(), link in 0u16..300,
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        words in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..2),
    ) {
        let mut file = format.file(if link < 150 { 1 } else { link }, &packets);
        for (at, byte) in hits {
            let at = at.index(file.len());
            file[at] = byte;
        }
        for (at, word) in words {
            let at = at.index(file.len() / 4) * 4;
            file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        fuzz::capture(&packing.pack(&file));
    }

    /// Damage inside compressed data.
    #[test]
    fn damaged_compression(
        packets in packets(), format in formats(), packing in packings(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut file = packing.pack(&format.file(1, &packets));
        for (at, byte) in hits {
            let at = at.index(file.len());
            file[at] = byte;
        }
        fuzz::capture(&file);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), magic in 0usize..7) {
        let magics: [&[u8]; 7] = [
            &[], &[0xd4, 0xc3, 0xb2, 0xa1], &[0xa1, 0xb2, 0xc3, 0xd4], &[0x4d, 0x3c, 0xb2, 0xa1],
            &[0x0a, 0x0d, 0x0d, 0x0a, 0x1c, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a], &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd],
        ];
        fuzz::capture(&[magics[magic], &bytes].concat());
    }
}
