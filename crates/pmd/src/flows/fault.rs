//! Why a rule was refused, and which part of it.

use flow::Error;

/// The part of a call that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum FlowPart {
    /// None of those below.
    Whole,
    /// The group.
    Group,
    /// A term of the match, of the number that comes with it.
    Term,
    /// The terms together.
    Terms,
    /// An action, of the number that comes with it.
    Action,
    /// The actions together.
    Actions,
    /// The rule's name.
    Handle,
    /// There is no room.
    Room,
}

/// Why a call failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Fault {
    pub(crate) part: FlowPart,
    /// Which term or action.
    pub(crate) index: u32,
    /// An errno.
    pub(crate) code: i32,
    pub(super) text: String,
}

impl Fault {
    pub(super) fn new(part: FlowPart, index: usize, code: i32, text: impl Into<String>) -> Fault {
        Fault { part, index: index as u32, code, text: text.into() }
    }

    /// What is wrong with a term.
    pub(super) fn term(index: usize, error: Error) -> Fault {
        Fault::new(FlowPart::Term, index, libc::EINVAL, error.to_string())
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let (part, index, code) = match error {
            Error::Action { index, .. } => (FlowPart::Action, index, libc::EINVAL),
            Error::Group { .. } => (FlowPart::Group, 0, libc::EINVAL),
            Error::Wide { .. } => (FlowPart::Terms, 0, libc::ENOTSUP),
            Error::Exists => (FlowPart::Whole, 0, libc::EEXIST),
            Error::NoRule => (FlowPart::Handle, 0, libc::ENOENT),
            Error::Full { retiring: 0, .. } => (FlowPart::Room, 0, libc::ENOSPC),
            Error::Full { .. } => (FlowPart::Room, 0, libc::EAGAIN),
            _ => (FlowPart::Whole, 0, libc::EINVAL),
        };
        Fault::new(part, index, code, error.to_string())
    }
}
