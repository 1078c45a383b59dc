//! The one place that says which ordering a call has, and weakens one of them on demand.

use core::fmt;
use core::panic::Location;
use core::sync::atomic::Ordering;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A call in ring code that orders something: where it stands and which call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// Source file, as the compiler names it.
    pub file: &'static str,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// The call of [`Memory`](crate::Memory).
    pub call: &'static str,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{} {}", self.file, self.line, self.column, self.call)
    }
}

/// The orderings of a run: as the contract says, but for at most one site that became relaxed.
#[derive(Debug, Default)]
pub struct Orders {
    weak: Option<Site>,
    seen: Mutex<BTreeSet<Site>>,
}

impl Orders {
    /// Every call as the contract orders it.
    pub fn strong() -> Orders {
        Orders::default()
    }

    /// The same, but for `site`, which orders nothing.
    pub fn weakened(site: Site) -> Orders {
        Orders { weak: Some(site), ..Orders::default() }
    }

    /// The sites that ran so far.
    pub fn sites(&self) -> Vec<Site> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// The ordering of `call` at `at`.
    pub(super) fn of(&self, call: &'static str, at: &'static Location<'static>) -> Ordering {
        let site = Site { file: at.file(), line: at.line(), column: at.column(), call };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(site);
        if self.weak == Some(site) {
            return Ordering::Relaxed;
        }
        match call {
            "acquire" => Ordering::Acquire,
            "release" | "publish" | "ring" => Ordering::Release,
            _ => Ordering::AcqRel,
        }
    }
}
