//! The files of a machine, below a root: `/sys` and `/proc` of this one, or of another whose tree lies elsewhere.

use std::fs;
use std::path::PathBuf;

/// No file here is longer; what is does not come from the kernel.
const LONGEST: u64 = 16 << 20;

/// Where files are read from.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    root: Option<PathBuf>,
}

impl Files {
    /// Files below `root`; none at all without one.
    pub(crate) fn below(root: Option<PathBuf>) -> Files {
        Files { root }
    }

    fn at(&self, path: &str) -> Option<PathBuf> {
        Some(self.root.as_ref()?.join(path.trim_start_matches('/')))
    }

    /// What a file has.
    pub(crate) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let at = self.at(path)?;
        let about = fs::metadata(&at).ok()?;
        if !about.is_file() || about.len() > LONGEST {
            return None;
        }
        fs::read(at).ok()
    }

    /// The text of a file, without space around it. What is no UTF-8 is replaced.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(path)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A number, decimal or hexadecimal with `0x`.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        number(&self.text(path)?)
    }

    /// Names in a directory, in order.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let Some(read) = self.at(path).and_then(|at| fs::read_dir(at).ok()) else { return Vec::new() };
        let mut names: Vec<String> =
            read.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    }

    /// The last part of what a link leads to.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let to = fs::read_link(self.at(path)?).ok()?;
        Some(to.file_name()?.to_str()?.to_owned())
    }
}

/// A number, decimal or hexadecimal with `0x`.
pub(crate) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// CPUs of a list such as `0-3,8`; none of what is no list.
pub(crate) fn cpus(list: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 1 << 16;
    let mut all = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= MOST || first > last {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// CPUs of a mask such as `00000001,00000003`.
pub(crate) fn cpus_of_mask(mask: &str) -> Option<Vec<u32>> {
    let words: Vec<&str> = mask.trim().split(',').collect();
    let mut all = Vec::new();
    for (place, word) in words.iter().rev().enumerate() {
        let bits = u32::from_str_radix(word, 16).ok()?;
        let base = u32::try_from(place).ok()?.checked_mul(32)?;
        all.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| base + bit));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks() {
        assert_eq!(cpus("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpus(""), Some(vec![]));
        assert!([cpus("3-1"), cpus("x"), cpus("0-4000000000")].iter().all(Option::is_none));
        assert_eq!(cpus_of_mask("00000001,80000003"), Some(vec![0, 1, 31, 32]));
        assert_eq!(cpus_of_mask("zz"), None);
        assert_eq!((number("0x8086"), number("12"), number("-1")), (Some(0x8086), Some(12), None));
    }
}
