//! How far a command is: a bar on stderr where that is a terminal, and told to a caller.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::show::caller::{self, Caller};

/// Bytes of a file between two words to a caller.
const TOLD: u64 = 1 << 22;

/// Something that takes a while.
pub(crate) struct Bar {
    bar: ProgressBar,
    what: &'static str,
    caller: Option<Arc<Caller>>,
    done: AtomicU64,
}

/// A bar over `n` runs of the model or the like; as all bars hidden where stderr is no terminal, and gone when dropped.
pub(crate) fn progress(n: u64, what: &'static str) -> Bar {
    alive(bar(Some(n), what, "{msg} {wide_bar} {pos}/{len} {elapsed}"), Duration::from_millis(200))
}

/// A bar over `n` measurements of this machine, with no thread of its own that would take time from them.
pub(crate) fn rounds(n: u64, what: &'static str) -> Bar {
    bar(Some(n), what, "{msg} {wide_bar} {pos}/{len} {elapsed}")
}

/// A bar over `n` runs of threads on this machine, which a tick a second does not hold up.
pub(crate) fn live(n: u64, what: &'static str) -> Bar {
    alive(rounds(n, what), Duration::from_secs(1))
}

/// A bar over so many bytes.
pub(crate) fn bytes(n: u64, what: &'static str) -> Bar {
    bar(Some(n), what, "{msg} {wide_bar} {bytes}/{total_bytes} {elapsed}")
}

/// The time since the start of something whose length is not known.
pub(crate) fn working(what: &'static str) -> Bar {
    alive(bar(None, what, "{spinner} {msg} {elapsed}"), Duration::from_millis(200))
}

fn bar(n: Option<u64>, what: &'static str, template: &str) -> Bar {
    let caller = caller::current();
    // A caller shows what it hears as it likes.
    let target = if caller.is_some() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    // What fails midway leaves no half of a bar before its error.
    let bar = ProgressBar::with_draw_target(n, target).with_finish(ProgressFinish::AndClear);
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar.tick();
    let bar = Bar { bar, what, caller, done: AtomicU64::new(0) };
    bar.tell(0);
    bar
}

/// The bar with its time going on between steps.
fn alive(bar: Bar, every: Duration) -> Bar {
    if !bar.bar.is_hidden() {
        bar.bar.enable_steady_tick(every);
    }
    bar
}

impl Bar {
    /// `n` more are done.
    pub(crate) fn inc(&self, n: u64) {
        self.bar.inc(n);
        if self.caller.is_some() {
            // A count alone: nothing is read because of it.
            self.tell(self.done.fetch_add(n, Ordering::Relaxed) + n);
        }
    }

    /// There are `n` more to do.
    pub(crate) fn inc_length(&self, n: u64) {
        self.bar.inc_length(n);
    }

    /// Takes the bar off the terminal.
    pub(crate) fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }

    /// What `file` has, with its bytes counted; it ends in an error once the caller wants that.
    pub(crate) fn over<R: Read>(self, file: R) -> impl Read + use<R> {
        let told = 0;
        Counted { file, bar: self, told }
    }

    fn tell(&self, done: u64) {
        if let Some(caller) = &self.caller {
            caller.hear(self.what, done, self.bar.length());
        }
    }
}

/// A file that is read under a bar.
struct Counted<R> {
    file: R,
    bar: Bar,
    /// Bytes since the caller heard of any.
    told: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(into)? as u64;
        if self.bar.caller.as_ref().is_some_and(|caller| caller.stops()) {
            return Err(io::Error::other("stopped"));
        }
        self.told += n;
        if self.bar.caller.is_none() || self.told >= TOLD || n == 0 {
            self.bar.inc(std::mem::take(&mut self.told));
        }
        Ok(n as usize)
    }
}
