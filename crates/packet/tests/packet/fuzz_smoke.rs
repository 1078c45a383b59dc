//! The fuzz target's function over random and mutated bytes, for those without a fuzzer.

use crate::build::shapes;
use packet::{Rss, fuzz};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn mutated_packets(
        shape in shapes(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut frame = shape.frame();
        for (at, byte) in hits {
            let at = at.index(frame.len().min(80));
            frame[at] = byte;
        }
        frame.truncate(keep.index(frame.len()) + 1);
        fuzz::parser(&frame, &Rss::spread(4));
    }
}
