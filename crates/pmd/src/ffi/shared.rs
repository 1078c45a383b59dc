//! Calls for actions that flow rules share, which rte_flow calls indirect. As [`super::flow`] in all else.
//!
//! Such an action has a name, which is never 0, until it is removed.

use core::ffi::c_int;

use super::Port;
use super::flow::{FlowAge, FlowCount, FlowFault, FlowRule, answer};
use crate::flows::Wanted;

/// Makes an action that rules may share, COUNT, AGE or RSS: that of `rule`, which has no other. Its name into `*name`.
///
/// # Safety
/// `port` is from `rxlab_port_new`, `rule` and what it names are filled in, `name` and `fault` are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_share(
    port: *const Port,
    rule: *const FlowRule,
    name: *mut u64,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let wanted = Wanted::of(&*rule);
        let made = (*port).flows().with(|rules| rules.share(&wanted));
        answer(made.map(|made| *name = made), fault)
    }
}

/// Removes an action that no rule has any more.
///
/// # Safety
/// `port` is from `rxlab_port_new`, `fault` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_unshare(port: *const Port, name: u64, fault: *mut FlowFault) -> c_int {
    // SAFETY: the caller's.
    unsafe { answer((*port).flows().with(|rules| rules.unshare(name)), fault) }
}

/// What an action is, a `FlowAct`, into `*act`.
///
/// # Safety
/// As [`rxlab_flow_unshare`]; `act` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_shared_act(
    port: *const Port,
    name: u64,
    act: *mut u8,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let told = (*port).flows().with(|rules| rules.shared_act(name));
        answer(told.map(|told| *act = told as u8), fault)
    }
}

/// What all rules of a COUNT have counted since it was made or reset.
///
/// # Safety
/// As [`rxlab_flow_unshare`]; `count` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_shared_count(
    port: *const Port,
    name: u64,
    reset: bool,
    count: *mut FlowCount,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let told = (*port).flows().with(|rules| rules.shared_count(name, reset));
        let told = told.map(|now| FlowCount { counts: true, frames: now.frames, bytes: now.bytes });
        answer(told.map(|told| count.write(told)), fault)
    }
}

/// How old an AGE is.
///
/// # Safety
/// As [`rxlab_flow_unshare`]; `age` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_shared_age(
    port: *const Port,
    name: u64,
    age: *mut FlowAge,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let told = (*port).flows().with(|rules| rules.shared_age(name));
        answer(told.map(|told| age.write(FlowAge { old: told.old, idle_s: told.idle_s })), fault)
    }
}

/// Changes an AGE: it is old after `seconds` without a frame, 0 for never, -1 for as before. With `touch` they begin now.
///
/// # Safety
/// As [`rxlab_flow_unshare`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_update_age(
    port: *const Port,
    name: u64,
    seconds: i32,
    touch: bool,
    fault: *mut FlowFault,
) -> c_int {
    let seconds = u32::try_from(seconds).ok();
    // SAFETY: the caller's.
    unsafe { answer((*port).flows().with(|rules| rules.update_age(name, seconds, touch)), fault) }
}

/// Changes an RSS to that of `rule`, for all rules that have it.
///
/// # Safety
/// As [`rxlab_flow_share`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_flow_update_rss(
    port: *const Port,
    name: u64,
    rule: *const FlowRule,
    fault: *mut FlowFault,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let wanted = Wanted::of(&*rule);
        answer((*port).flows().with(|rules| rules.update_rss(name, &wanted)), fault)
    }
}
