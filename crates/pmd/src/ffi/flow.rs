//! Calls for a port's flow rules. Any thread may make them, several at a time. No frame waits for them.
//!
//! Those that fail also say which part of the rule is wrong. A rule has a name, which is never 0, until it is destroyed.

use core::ffi::{c_char, c_int};

use super::{Port, put};
pub use crate::flows::{
    FLAG, FlowAct, FlowAction, FlowPart, FlowRule, FlowTerm, FlowTermKind, FlowVxlan, LAST_MARK,
};
use crate::flows::{Fault, Wanted};

/// Where a call that failed says why.
#[repr(C)]
pub struct FlowFault {
    /// What is wrong.
    pub part: FlowPart,
    /// Which term or action.
    pub index: u32,
    /// One line.
    pub text: [c_char; FLOW_TEXT],
}

/// Room for the line.
pub const FLOW_TEXT: usize = 256;

/// What a rule has counted.
#[repr(C)]
pub struct FlowCount {
    /// Whether the rule counts.
    pub counts: bool,
    /// Frames.
    pub frames: u64,
    /// Bytes, without FCS.
    pub bytes: u64,
}

/// How old a rule is.
#[repr(C)]
pub struct FlowAge {
    /// Whether it had no frame for as long as its action says.
    pub old: bool,
    /// Seconds since its last frame.
    pub idle_s: u32,
}

/// The most rules of a port.
///
/// # Safety
/// `port` is from `rxlab_port_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_limit(port: *const Port) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*port).flows().most() }
}

/// The most memory that so many rules take, in bytes.
///
/// # Safety
/// As [`rxlab_flow_limit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_bytes(port: *const Port) -> u64 {
    // SAFETY: the caller's.
    unsafe { (*port).flows().bytes() }
}

/// Rules of a port now.
///
/// # Safety
/// As [`rxlab_flow_limit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_rules(port: *const Port) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*port).flows().len() }
}

/// Looks at a rule without adding it.
///
/// # Safety
/// `port` is from `rxlab_port_new`, `rule` and what it names are filled in, `fault` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_check(
    port: *const Port,
    rule: *const FlowRule,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let wanted = Wanted::of(&*rule);
        answer((*port).flows().with(|rules| rules.check(&wanted)), fault)
    }
}

/// Adds a rule, its name into `*name`; frames see it from now on, or with the next commit.
///
/// # Safety
/// As [`rxlab_flow_check`]; `name` takes a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_create(
    port: *const Port,
    rule: *const FlowRule,
    commit: bool,
    name: *mut u64,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let wanted = Wanted::of(&*rule);
        let made = (*port).flows().with(|rules| {
            let made = rules.insert(&wanted)?;
            if commit {
                rules.commit();
            }
            Ok(made)
        });
        answer(made.map(|made| *name = made), fault)
    }
}

/// Removes a rule, at once or with the next commit.
///
/// # Safety
/// `port` is from `rxlab_port_new`, `fault` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_destroy(
    port: *const Port,
    name: u64,
    commit: bool,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    let flows = unsafe { (*port).flows() };
    let done = flows.with(|rules| {
        rules.remove(name)?;
        if commit {
            rules.commit();
        }
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { answer(done, fault) }
}

/// Shows frames what has been changed without a commit.
///
/// # Safety
/// As [`rxlab_flow_destroy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_commit(port: *const Port, fault: *mut FlowFault) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let done = (*port).flows().with(|rules| {
            rules.commit();
            Ok(())
        });
        answer(done, fault)
    }
}

/// Removes all rules.
///
/// # Safety
/// As [`rxlab_flow_destroy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_flush(port: *const Port, fault: *mut FlowFault) -> c_int {
    // SAFETY: the caller's.
    unsafe { answer((*port).flows().flush(), fault) }
}

/// What a rule has counted since it was created or its count was reset.
///
/// # Safety
/// As [`rxlab_flow_destroy`]; `count` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_count(
    port: *const Port,
    name: u64,
    reset: bool,
    count: *mut FlowCount,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let told = (*port).flows().with(|rules| Ok((rules.counts(name)?, rules.count(name, reset)?)));
        let told = told.map(|(counts, now)| FlowCount { counts, frames: now.frames, bytes: now.bytes });
        answer(told.map(|told| count.write(told)), fault)
    }
}

/// How old a rule is that has an age.
///
/// # Safety
/// As [`rxlab_flow_destroy`]; `age` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_age(
    port: *const Port,
    name: u64,
    age: *mut FlowAge,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let told = (*port).flows().with(|rules| rules.age(name));
        answer(told.map(|told| age.write(FlowAge { old: told.old, idle_s: told.idle_s })), fault)
    }
}

/// Whether any rule grows old: then `rxlab_flow_look` is to be called once in an eighth of a second.
///
/// # Safety
/// As [`rxlab_flow_limit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_ages(port: *const Port) -> bool {
    // SAFETY: the caller's.
    unsafe { (*port).flows().ages() }
}

/// Looks at rules that may have grown old. Whether any has since it was last asked which are (`rxlab_flow_aged`): it is
/// told once.
///
/// # Safety
/// As [`rxlab_flow_limit`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_look(port: *const Port) -> bool {
    // SAFETY: the caller's.
    unsafe { (*port).flows().look() }
}

/// What old rules are told by, at most `n` of them; how many rules are old.
///
/// # Safety
/// `port` is from `rxlab_port_new`; `out` has room for `n` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_aged(port: *const Port, out: *mut u64, n: u32) -> u32 {
    // SAFETY: the caller's.
    let old = unsafe { (*port).flows().aged() };
    for (i, told) in old.iter().take(n as usize).enumerate() {
        // SAFETY: the caller's.
        unsafe { out.add(i).write(*told) };
    }
    old.len() as u32
}

/// Whether frames that no rule matches are dropped, instead of spread over the queues.
///
/// # Safety
/// As [`rxlab_flow_destroy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_isolate(port: *const Port, on: bool, fault: *mut FlowFault) -> c_int {
    // SAFETY: the caller's.
    unsafe { answer((*port).flows().isolate(on), fault) }
}

/// # Safety
/// `fault` is there.
pub(super) unsafe fn answer(done: Result<(), Fault>, fault: *mut FlowFault) -> c_int {
    let Err(e) = done else { return 0 };
    // SAFETY: the caller's; no reference is made to what may not be filled in.
    unsafe {
        (&raw mut (*fault).part).write(e.part);
        (&raw mut (*fault).index).write(e.index);
        put(&e.to_string(), (&raw mut (*fault).text).cast(), FLOW_TEXT);
    }
    -e.code
}
