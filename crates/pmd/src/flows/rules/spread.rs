//! RSS contexts of rules: those that ask for the same share one.

use nic::CONTEXTS;

use super::Rules;
use crate::flows::fault::{Fault, FlowPart};
use crate::flows::wanted::Context;

impl Rules {
    /// The number of a context, which one more rule names with action `at`.
    pub(super) fn take_context(&mut self, at: usize, context: Context) -> Result<u16, Fault> {
        if let Some((number, rules)) = self.known.get_mut(&context) {
            *rules += 1;
            return Ok(*number);
        }
        let number = self.new_context(at, &context)?;
        self.known.insert(context, (number, 1));
        Ok(number)
    }

    /// The number of a context that no other rule names.
    pub(super) fn new_context(&mut self, at: usize, context: &Context) -> Result<u16, Fault> {
        let wrong = |code, text: String| Fault::new(FlowPart::Action, at, code, text);
        let full = || format!("RSS contexts are full: {CONTEXTS} of other queues, keys or types are allowed");
        let made = context.made().map_err(|text| wrong(libc::EINVAL, text))?;
        // Those of rules that are gone become free when bursts of now have ended.
        let free = |rules: &mut Rules| rules.contexts.add(&made);
        self.patiently(free, Option::is_none).ok_or_else(|| wrong(libc::ENOSPC, full()))
    }

    /// One rule less names a context. Its number is given back with the commit.
    pub(super) fn give_context(&mut self, number: Option<u16>) {
        let Some(number) = number else { return };
        let left = self.known.values_mut().find(|(known, _)| *known == number).map(|(_, rules)| {
            *rules -= 1;
            *rules
        });
        if left == Some(0) {
            self.known.retain(|_, (known, _)| *known != number);
            self.released.push(number);
        }
    }
}
