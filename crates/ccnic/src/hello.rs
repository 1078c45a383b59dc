//! What both sides say first: a line of words, the same on both ends of a link.
//!
//! | word | what |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 1 | [`VERSION`] of all below, of what lies in the region, and of the signals |
//! | 2 to 7 | layout, back, ring, buffers, bytes, events |

use memory::{LINE, WORD};

use crate::config::{Config, told};
use crate::error::Error;

/// "rxlccnic", as bytes.
const MAGIC: u64 = u64::from_ne_bytes(*b"rxlccnic");
/// Of the protocol.
const VERSION: u64 = 1;

/// A hello as bytes.
pub(crate) type Hello = [u8; LINE];

/// What a side with this configuration says.
pub(crate) fn hello(config: &Config) -> Hello {
    let mut bytes = [0; LINE];
    let words = [MAGIC, VERSION].into_iter().chain(config.words().map(|(_, value)| value));
    bytes.chunks_exact_mut(WORD).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_ne_bytes()));
    bytes
}

/// Holds what the other side said to what this one says.
///
/// # Errors
/// One line with the values of both sides.
pub(crate) fn compare(config: &Config, theirs: &Hello) -> Result<(), Error> {
    let mut words = theirs.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    let magic = words.next().unwrap_or_default();
    if magic != MAGIC {
        let what = format!("the other side begins with {magic:#x}, this one with {MAGIC:#x}");
        return Err(Error::Protocol(format!("{what}: it is no channel")));
    }
    let version = words.next().unwrap_or_default();
    if version != VERSION {
        let what = format!("the sides differ: version {VERSION} here, {version} there");
        return Err(Error::Mismatch(what));
    }
    let differ = |((name, ours), theirs): ((&str, u64), u64)| {
        let line = || format!("{name} {} here, {} there", told(name, ours), told(name, theirs));
        (ours != theirs).then(line)
    };
    let differences: Vec<_> = config.words().into_iter().zip(words).filter_map(differ).collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::Mismatch(format!("the sides differ: {}", differences.join("; "))))
}

#[cfg(test)]
mod tests {
    use rings::ccnic::{Back, Layout};

    use super::*;

    #[test]
    fn each_difference_is_named_with_both_values() {
        let ours = Config::default();
        let with = |change: fn(&mut Config)| {
            let mut theirs = ours;
            change(&mut theirs);
            compare(&ours, &hello(&theirs)).map_err(|e| e.to_string())
        };
        assert_eq!(with(|_| {}), Ok(()));
        let differ = |what: &str| Err(format!("the sides differ: {what}"));
        assert_eq!(with(|c| c.layout = Layout::Pad), differ("layout dense here, pad there"));
        assert_eq!(with(|c| c.back = Back::Clear), differ("back credit here, clear there"));
        assert_eq!(with(|c| c.ring = 64), differ("ring 1024 here, 64 there"));
        assert_eq!(with(|c| c.buffers = 64), differ("buffers 4096 here, 64 there"));
        let both = differ("bytes 2048 here, 1500 there; events on here, off there");
        assert_eq!(with(|c| (c.bytes, c.events) = (1500, false)), both);
    }

    #[test]
    fn another_version_or_program_is_told_before_sizes() {
        let ours = Config::default();
        let mut theirs = hello(&Config { ring: 64, ..ours });
        theirs[WORD] = 7;
        let told = compare(&ours, &theirs).map_err(|e| e.to_string());
        assert_eq!(told, Err("the sides differ: version 1 here, 7 there".into()));
        theirs[0] = 0;
        let told = compare(&ours, &theirs).map_err(|e| e.to_string()).unwrap_err();
        assert!(told.ends_with("it is no channel") && told.lines().count() == 1, "{told}");
    }
}
