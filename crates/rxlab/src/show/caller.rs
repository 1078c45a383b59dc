//! A program that called a command in place of a shell: it takes what is printed, hears of progress, and may end the run.
//!
//! Everything of such a call runs in a pool of threads of its own, and each of those knows its caller. So several calls
//! can be under way at once. A thread without a caller belongs to the command line.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::fail::Fail;

/// Hears what is done, how much of it, and of how much where that is known.
pub type Heard = Box<dyn Fn(&str, u64, Option<u64>) + Send + Sync>;

/// Who called.
pub(crate) struct Caller {
    heard: Heard,
    stop: Arc<AtomicBool>,
    /// The file whose bytes stand for this program's version.
    pub(crate) program: Option<PathBuf>,
    /// Whether reports of runs are kept and found.
    pub(crate) keeps: bool,
    printed: Mutex<String>,
    noted: Mutex<Vec<String>>,
}

thread_local! {
    static CALLER: RefCell<Option<Arc<Caller>>> = const { RefCell::new(None) };
}

impl Caller {
    /// Somebody who hears of progress by `heard`, and sets `stop` to end the run.
    pub(crate) fn new(heard: Heard, stop: Arc<AtomicBool>, program: Option<PathBuf>, keeps: bool) -> Caller {
        Caller { heard, stop, program, keeps, printed: Mutex::default(), noted: Mutex::default() }
    }

    /// Tells how far something is.
    pub(crate) fn hear(&self, what: &str, done: u64, of: Option<u64>) {
        (self.heard)(what, done, of);
    }

    /// Whether the run is to end.
    pub(crate) fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed) // a flag alone: nothing is read because of it
    }

    pub(crate) fn print(&self, text: &str) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    pub(crate) fn note(&self, text: &str) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).push(text.trim_end().to_string());
    }

    /// What was printed, and each note.
    pub(crate) fn said(&self) -> (String, Vec<String>) {
        let take = |printed: &Mutex<String>| {
            std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let noted = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        (take(&self.printed), noted)
    }
}

/// From now on this thread works for `caller`.
pub(crate) fn serve(caller: Arc<Caller>) {
    CALLER.set(Some(caller));
}

/// Whom this thread works for; none on the command line.
pub(crate) fn current() -> Option<Arc<Caller>> {
    CALLER.with_borrow(Clone::clone)
}

/// Refuses to go on once the caller wants it to end.
///
/// # Errors
/// The caller has set its flag.
pub(crate) fn goes_on() -> Result<(), Fail> {
    match current() {
        Some(caller) if caller.stops() => Err(Fail::new("stopped")),
        _ => Ok(()),
    }
}
