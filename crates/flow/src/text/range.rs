//! What is asked of one field: a value under a mask, or a range, which takes several masks.

use super::value::{Form, low};
use super::words::{TextError, Word};

/// Matches that one rule may need for its ranges.
pub const MOST: usize = 1024;

/// A field as a pattern asks for it, by the words behind its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// The field's name, where errors are shown.
    pub(super) word: Word<'a>,
    pub(super) form: Form,
    value: Option<u128>,
    last: Option<u128>,
    mask: Option<u128>,
}

/// How a value is meant.
pub(super) const MEANINGS: [&str; 5] = ["is", "spec", "last", "mask", "prefix"];

impl<'a> Asked<'a> {
    pub(super) fn new(word: Word<'a>, form: Form) -> Asked<'a> {
        Asked { word, form, value: None, last: None, mask: None }
    }

    /// Takes in one of [`MEANINGS`] with the word behind it. The last one of a kind counts.
    pub(super) fn add(&mut self, meaning: usize, word: Word<'_>) -> Result<(), TextError> {
        let all = self.form.largest();
        match MEANINGS[meaning] {
            "is" => (self.value, self.mask) = (Some(self.form.read(word)?), Some(all)),
            "spec" => self.value = Some(self.form.read(word)?),
            // As in testpmd, 0 takes the range away, which is no address of IPv6.
            "last" if word.text == "0" => self.last = None,
            "last" => self.last = Some(self.form.read(word)?).filter(|last| *last != 0),
            "mask" => self.mask = Some(self.form.read(word)?),
            _ => {
                let bits = self.form.bits();
                let length = Form::Number(8).read(word).ok().filter(|length| *length <= bits.into());
                let length = length.ok_or_else(|| word.wrong(format!("allowed: 0 to {bits} bits")))?;
                self.mask = Some(all & !low(bits - length as u32));
            }
        }
        Ok(())
    }

    /// The values under masks that are asked for: a frame has to have one of them.
    pub(super) fn alternatives(&self) -> Result<Vec<(u128, u128)>, TextError> {
        let wrong = |why: &str| Err(self.word.wrong(why));
        let Some(value) = self.value else { return wrong("no value; allowed: `is` or `spec`") };
        let Some(mask) = self.mask else {
            return wrong("`spec` without a mask; allowed: `is`, or `mask` or `prefix` beside it");
        };
        let Some(last) = self.last.filter(|last| (last ^ value) & mask != 0) else {
            return Ok(vec![(value & mask, mask)]);
        };
        // Bits outside the mask are free, so the range has to be one of the bits above them.
        let free = self.form.largest() & !mask;
        if free & free.wrapping_add(1) != 0 {
            return wrong("a range under a mask with gaps; allowed: a mask of leading ones");
        }
        let (first, last) = (value & mask, last & mask | free);
        if first > last {
            return wrong("the range ends before it begins; allowed: `last` from `spec` on");
        }
        Ok(prefixes(first, last, self.form.bits()))
    }

    /// Whether it is this range under this mask.
    pub(super) fn is_range(&self, first: u128, last: u128, mask: u128) -> bool {
        (self.value, self.last, self.mask) == (Some(first), Some(last), Some(mask))
    }

    /// The one value that is asked for whole.
    pub(super) fn exact(&self) -> Option<u128> {
        match self.alternatives().ok()?[..] {
            [(value, mask)] if mask == self.form.largest() => Some(value),
            _ => None,
        }
    }
}

/// The fewest values under masks of leading ones that make up a range of numbers of `bits` bits, its ends included.
fn prefixes(first: u128, last: u128, bits: u32) -> Vec<(u128, u128)> {
    let mut all = Vec::new();
    let mut at = first;
    loop {
        let mut free = at.trailing_zeros().min(bits);
        while at | low(free) > last {
            free -= 1;
        }
        all.push((at, low(bits) & !low(free)));
        if at | low(free) == last {
            return all;
        }
        at = (at | low(free)) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_at_the_edges() {
        assert_eq!(prefixes(0, 65535, 16), [(0, 0)]);
        assert_eq!(prefixes(0, u128::MAX, 128), [(0, 0)]);
        assert_eq!(prefixes(1, 65534, 16).len(), 30);
        assert_eq!(prefixes(1, u128::MAX - 1, 128).len(), 254);
        assert_eq!(prefixes(u128::MAX, u128::MAX, 128), [(u128::MAX, u128::MAX)]);
        assert_eq!(prefixes(6, 9, 4), [(6, 14), (8, 14)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn each_value_of_a_range_and_no_other_is_in_one_prefix(a in 0_u128..1024, b in 0_u128..1024) {
            let all = prefixes(a.min(b), a.max(b), 10);
            for value in 0..1024 {
                let found = all.iter().filter(|(v, mask)| value & mask == *v).count();
                prop_assert_eq!(found, usize::from((a.min(b)..=a.max(b)).contains(&value)));
            }
        }
    }
}
