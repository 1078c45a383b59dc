//! The thread that makes a port's links.

use core::ffi::{c_char, c_void};
use std::ffi::CString;
use std::thread::park_timeout;
use std::time::Duration;

use ccnic::{Channel, Error, Listener};

use super::line::Line;
use crate::args::{Meet, Wire};

/// How long a look for another side takes, and how often a link is looked at where nobody polls it.
const LOOK: Duration = Duration::from_millis(50);
/// Looks at a dead side for which its frames wait to be received, about a second. Nobody may poll, so it is not for ever.
const LEFT: u32 = 20;
/// Reasons without a link that are remembered, so that they are not told again.
const REASONS: usize = 8;

/// What the driver is told of a port's link, on the keeper's thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Told {
    /// Passed to the call.
    pub ctx: *mut c_void,
    /// Whether there is a link, and why there is none: one line, valid during the call; null where nothing is wrong.
    pub call: unsafe extern "C" fn(ctx: *mut c_void, up: bool, why: *const c_char),
}

// SAFETY: the driver promises that the call may come from any thread.
unsafe impl Send for Told {}
// SAFETY: as above.
unsafe impl Sync for Told {}

impl Told {
    fn tell(self, up: bool, why: Option<&str>) {
        let why = why.map(|why| CString::new(why).unwrap_or_default());
        let text = why.as_ref().map_or(core::ptr::null(), |why| why.as_ptr());
        // SAFETY: the driver's promise; the text lives until the call is over.
        unsafe { (self.call)(self.ctx, up, text) };
    }
}

/// Makes links while the port is started, one after the other.
pub(super) fn keep(line: &Line, wire: &Wire, told: Told) {
    let mut door = Door { wire, listener: None };
    let mut said: Vec<String> = Vec::new();
    while line.is_open() {
        match door.look() {
            Ok(Some(channel)) => {
                said.clear();
                line.pick_up(channel);
                told.tell(true, None);
                watch(line);
                line.hang_up();
                told.tell(false, None);
            }
            Ok(None) => {}
            Err(e) => {
                // Once: the other side may be as wrong for hours.
                let why = e.to_string();
                // Two reasons may take turns: each is told once, of the last few.
                if !said.contains(&why) {
                    told.tell(false, Some(&why));
                    said.truncate(REASONS - 1);
                    said.insert(0, why);
                }
                park_timeout(LOOK);
            }
        }
    }
}

/// Until the port is stopped, or the other side is gone.
fn watch(line: &Line) {
    let mut dead = 0;
    while line.is_open() {
        match line.is_alive() {
            None => return,
            Some(true) => {}
            Some(false) if dead == LEFT => return,
            Some(false) => dead += 1,
        }
        park_timeout(LOOK);
    }
}

/// Where the other side comes in, or is found.
struct Door<'a> {
    wire: &'a Wire,
    listener: Option<Listener>,
}

impl Door<'_> {
    /// Looks for the other side, for some [`LOOK`] at most if there is nobody.
    fn look(&mut self) -> Result<Option<Channel>, Error> {
        let Wire { path, meet, config } = self.wire;
        if self.listener.is_none() && *meet != Meet::Listen {
            match Channel::connect(path, *config) {
                Ok(channel) => return Ok(Some(channel)),
                Err(Error::Path(_)) if *meet == Meet::Either => {} // nobody listens
                Err(Error::Path(_) | Error::Gone) => {
                    park_timeout(LOOK);
                    return Ok(None);
                }
                Err(e) => return Err(e),
            }
        }
        let listener = match self.listener.take() {
            Some(listener) => listener,
            None => Listener::bind(path, *config)?,
        };
        self.listener.insert(listener).accept_within(LOOK)
    }
}
