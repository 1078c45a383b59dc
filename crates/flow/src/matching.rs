//! What a rule asks of a frame: values under masks.

use crate::error::Error;
use crate::field::{self, Field, Header, Layer, WORDS};
use crate::key::Key;

/// Values under masks, at first of nothing: every frame matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Match {
    value: Key,
    mask: Key,
}

impl Match {
    /// Every frame.
    pub fn any() -> Match {
        Match::default()
    }

    /// Also asks for exactly this value of `field`.
    ///
    /// # Errors
    /// As [`masked`](Self::masked).
    pub fn field(self, layer: Layer, field: Field, value: u128) -> Result<Match, Error> {
        self.masked(layer, field, value, field.largest())
    }

    /// Also asks for the first `bits` bits of `field`.
    ///
    /// # Errors
    /// As [`masked`](Self::masked); or the prefix is longer than the field.
    pub fn prefix(self, layer: Layer, field: Field, value: u128, bits: u32) -> Result<Match, Error> {
        let rest = field.bits().checked_sub(bits).ok_or(Error::Prefix { field, bits })?;
        let mask = field.largest().checked_shr(rest).unwrap_or(0) << (rest % 128);
        self.masked(layer, field, value, mask)
    }

    /// Also asks for the bits of `value` where `mask` has ones, and that the header of `field` is there.
    ///
    /// # Errors
    /// The value or the mask does not fit, or no frame has what the match then asks for.
    pub fn masked(mut self, layer: Layer, field: Field, value: u128, mask: u128) -> Result<Match, Error> {
        if let Some(value) = [value, mask].into_iter().find(|v| *v > field.largest()) {
            return Err(Error::Value { field, value });
        }
        if let Some(header) = field.header() {
            self = self.has(layer, header)?;
        }
        let old = [&self.value, &self.mask].map(|key| field::take(&key.words, layer, field));
        if (old[0] ^ value) & old[1] & mask != 0 {
            return Err(Error::Contradiction(field));
        }
        field::put(&mut self.value.words, layer, field, value & mask);
        field::put(&mut self.mask.words, layer, field, mask);
        Ok(self)
    }

    /// Asks for another value of a field, under the mask that it has. So many matches of one mask cost little.
    ///
    /// # Errors
    /// The value has bits outside the mask.
    pub fn set(&mut self, layer: Layer, field: Field, value: u128) -> Result<(), Error> {
        if value & !field::take(&self.mask.words, layer, field) != 0 {
            return Err(Error::Value { field, value });
        }
        field::clear(&mut self.value.words, layer, field);
        field::put(&mut self.value.words, layer, field, value);
        Ok(())
    }

    /// Also asks that `header` is there.
    ///
    /// # Errors
    /// No frame has what the match then asks for.
    pub fn has(mut self, layer: Layer, header: Header) -> Result<Match, Error> {
        if self.mask.has(layer, header) && !self.value.has(layer, header) {
            return Err(Error::Headers(header, header));
        }
        let rivals = self.value.words[layer.base()] & header.rivals();
        if rivals != 0
            && let Some(rival) = Header::ALL.into_iter().find(|h| h.bit() & rivals != 0)
        {
            return Err(Error::Headers(rival, header));
        }
        self.value.words[layer.base()] |= header.bit();
        self.mask.words[layer.base()] |= header.bit();
        Ok(self)
    }

    /// Also asks that `header` is not there.
    ///
    /// # Errors
    /// The match asks for it.
    pub fn lacks(mut self, layer: Layer, header: Header) -> Result<Match, Error> {
        if self.value.has(layer, header) {
            return Err(Error::Headers(header, header));
        }
        self.mask.words[layer.base()] |= header.bit();
        Ok(self)
    }

    /// Whether a frame matches.
    pub fn matches(&self, key: &Key) -> bool {
        let words = self.mask.words.iter().zip(&self.value.words).zip(&key.words);
        words.fold(0, |differ, ((mask, value), key)| differ | (key & mask ^ value)) == 0
    }

    /// Whether it asks for `header`.
    pub fn asks_for(&self, layer: Layer, header: Header) -> bool {
        self.value.has(layer, header)
    }

    /// Values, zeros outside the mask.
    pub(crate) fn value(&self) -> &Key {
        &self.value
    }

    /// Masks.
    pub(crate) fn mask(&self) -> &[u64; WORDS] {
        &self.mask.words
    }

    /// From its words. `value` has zeros outside the mask.
    pub(crate) fn from_words(value: [u64; WORDS], mask: [u64; WORDS]) -> Match {
        Match { value: Key { words: value }, mask: Key { words: mask } }
    }
}
