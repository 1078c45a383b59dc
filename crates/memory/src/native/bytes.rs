//! Bytes at any place, as relaxed atomic loads and stores of whole words. They order nothing: the release of a signal
//! and the other side's acquire of it hand a buffer over.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::WORD;

/// Splits `len` bytes from byte `at` into a part before the first whole word, whole words and a rest.
#[inline(always)]
fn split(at: usize, len: usize) -> (usize, usize) {
    let head = (at.wrapping_neg() % WORD).min(len);
    (head, (len - head) / WORD)
}

/// Whole words from as many chunks of bytes, through the caches. `wide` does the same in larger steps.
#[inline(always)]
pub(super) fn copy(words: &[AtomicU64], chunks: &[[u8; WORD]]) {
    for (word, chunk) in words.iter().zip(chunks) {
        word.store(u64::from_ne_bytes(*chunk), Relaxed);
    }
}

/// Zeros, likewise.
#[inline(always)]
pub(super) fn clear(words: &[AtomicU64]) {
    for word in words {
        word.store(0, Relaxed);
    }
}

/// Bytes into words from byte `at`; `copy` stores the whole ones.
#[inline(always)]
pub(super) fn store(
    words: &[AtomicU64],
    at: usize,
    bytes: &[u8],
    copy: impl FnOnce(&[AtomicU64], &[[u8; WORD]]),
) {
    if (at | bytes.len()).is_multiple_of(WORD) {
        return copy(&words[at / WORD..][..bytes.len() / WORD], bytes.as_chunks().0); // the usual case, and quick
    }
    let (head, whole) = split(at, bytes.len());
    let (head, rest) = bytes.split_at(head);
    let (body, tail) = rest.split_at(whole * WORD);
    merge(words, at, head);
    let first = (at + head.len()) / WORD;
    copy(&words[first..first + whole], body.as_chunks().0);
    merge(words, (first + whole) * WORD, tail);
}

/// `len` bytes of zeros from byte `at`; `clear` stores the whole words.
#[inline(always)]
pub(super) fn zero(words: &[AtomicU64], at: usize, len: usize, clear: impl FnOnce(&[AtomicU64])) {
    let (head, whole) = split(at, len);
    merge(words, at, &[0; WORD][..head]);
    let first = (at + head) / WORD;
    clear(&words[first..first + whole]);
    merge(words, (first + whole) * WORD, &[0; WORD][..len - head - whole * WORD]);
}

/// As many chunks of bytes from whole words.
#[inline(always)]
pub(super) fn extract(words: &[AtomicU64], chunks: &mut [[u8; WORD]]) {
    for (word, chunk) in words.iter().zip(chunks) {
        *chunk = word.load(Relaxed).to_ne_bytes();
    }
}

/// Bytes out of words from byte `at`; `extract` loads the whole ones.
#[inline(always)]
pub(super) fn load(
    words: &[AtomicU64],
    at: usize,
    out: &mut [u8],
    extract: impl FnOnce(&[AtomicU64], &mut [[u8; WORD]]),
) {
    if (at | out.len()).is_multiple_of(WORD) {
        let whole = out.len() / WORD;
        return extract(&words[at / WORD..][..whole], out.as_chunks_mut().0); // the usual case, and quick
    }
    let (head, whole) = split(at, out.len());
    let (head, rest) = out.split_at_mut(head);
    let (body, tail) = rest.split_at_mut(whole * WORD);
    cut(words, at, head);
    let first = (at + head.len()) / WORD;
    extract(&words[first..first + whole], body.as_chunks_mut().0);
    cut(words, (first + whole) * WORD, tail);
}

/// Replaces some bytes inside one word. Its other bytes belong to the same buffer, hence owner.
#[inline(always)]
fn merge(words: &[AtomicU64], at: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let word = &words[at / WORD];
    let mut value = word.load(Relaxed).to_ne_bytes();
    value[at % WORD..][..bytes.len()].copy_from_slice(bytes);
    word.store(u64::from_ne_bytes(value), Relaxed);
}

/// Copies some bytes out of one word.
#[inline(always)]
fn cut(words: &[AtomicU64], at: usize, out: &mut [u8]) {
    if out.is_empty() {
        return;
    }
    let value = words[at / WORD].load(Relaxed).to_ne_bytes();
    out.copy_from_slice(&value[at % WORD..][..out.len()]);
}
