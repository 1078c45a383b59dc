//! Actions that rules share: made, changed, asked and removed by their names.

use flow::{Count, RuleId};

use super::Rules;
use super::old::Age;
use crate::flows::ages::Name;
use crate::flows::clock::TICKS;
use crate::flows::fault::{Fault, FlowPart};
use crate::flows::raw::{FlowAct, FlowAction};
use crate::flows::shared::Kind;
use crate::flows::wanted::Wanted;

/// What a rule has counted, and the ticks since its last frame.
type LastWords = (Count, u32);

impl Rules {
    /// Makes an action that rules may share of the only one of `wanted`; its name, which is never 0.
    ///
    /// # Errors
    /// It is none that can be shared, or does not fit.
    pub(crate) fn share(&mut self, wanted: &Wanted<'_>) -> Result<u64, Fault> {
        let wrong = |text| Fault::new(FlowPart::Action, 0, libc::ENOTSUP, text);
        let FlowAction { act, a, .. } = wanted.only().ok_or_else(|| wrong("allowed is one action"))?;
        let timeout = a.saturating_mul(TICKS);
        let kind = match (*act, wanted.rss()) {
            (act, _) if act == FlowAct::Count as u8 => {
                Kind::Count { gone: Count::default(), base: Count::default() }
            }
            (act, _) if act == FlowAct::Age as u8 => {
                Kind::Age { timeout, context: wanted.age_context, last: self.now }
            }
            (_, Some((at, context))) => Kind::Rss(self.new_context(at, &context)?),
            _ => return Err(wrong("allowed are COUNT, AGE and RSS")),
        };
        let name = self.shared.add(kind);
        self.watch(name);
        Ok(name)
    }

    /// Removes an action that no rule names any more.
    ///
    /// # Errors
    /// It is not there, or a rule names it.
    pub(crate) fn unshare(&mut self, name: u64) -> Result<(), Fault> {
        let rules = self.shared.get(name)?.rules.len();
        if rules > 0 {
            let text = format!("{rules} rules have this indirect action: destroy them first");
            return Err(Fault::new(FlowPart::Handle, 0, libc::EBUSY, text));
        }
        self.ages.remove(Name::Shared(name));
        if let Some(Kind::Rss(number)) = self.shared.remove(name).map(|shared| shared.kind) {
            self.released.push(number);
            self.commit();
        }
        Ok(())
    }

    /// What an action is.
    ///
    /// # Errors
    /// It is not there.
    pub(crate) fn shared_act(&self, name: u64) -> Result<FlowAct, Fault> {
        Ok(match self.shared.get(name)?.kind {
            Kind::Count { .. } => FlowAct::Count,
            Kind::Age { .. } => FlowAct::Age,
            Kind::Rss(_) => FlowAct::Rss,
        })
    }

    /// What all rules of a count have counted since the last reset, those that are gone as well. Frames of a burst that was under
    /// way when a rule was removed may be missing.
    ///
    /// # Errors
    /// It is not there, or no count.
    pub(crate) fn shared_count(&mut self, name: u64, reset: bool) -> Result<Count, Fault> {
        let shared = self.shared.get_mut(name)?;
        let Kind::Count { gone, base } = &mut shared.kind else { return Err(another("COUNT")) };
        let of = |rule: &u64| self.writer.count(RuleId::from_bits(*rule)).ok();
        let now = shared.rules.iter().filter_map(of).fold(*gone, sum);
        let since = Count { frames: now.frames - base.frames, bytes: now.bytes - base.bytes };
        if reset {
            *base = now;
        }
        Ok(since)
    }

    /// How old an age is.
    ///
    /// # Errors
    /// It is not there, or no age.
    pub(crate) fn shared_age(&self, name: u64) -> Result<Age, Fault> {
        let (idle, timeout) = self.shared_idle(name)?;
        Ok(Age { old: timeout != 0 && idle >= timeout, idle_s: idle / TICKS })
    }

    /// Ticks since the last frame of any rule of an age, and those after which it is old. Without rules it stays young.
    pub(super) fn shared_idle(&self, name: u64) -> Result<(u32, u32), Fault> {
        let shared = self.shared.get(name)?;
        let Kind::Age { timeout, last, .. } = shared.kind else { return Err(another("AGE")) };
        let idle = |rule: &u64| self.writer.idle(RuleId::from_bits(*rule)).ok();
        let youngest = shared.rules.iter().filter_map(idle).min();
        Ok((youngest.map_or(0, |idle| idle.min(self.now.wrapping_sub(last))), timeout))
    }

    /// What an age is told by.
    pub(super) fn shared_context(&self, name: u64) -> u64 {
        match self.shared.get(name).map(|shared| &shared.kind) {
            Ok(Kind::Age { context: context @ 1.., .. }) => *context,
            _ => name,
        }
    }

    /// The age that a rule shares, if it does.
    pub(super) fn shared_age_of(&self, rule: u64) -> Option<u64> {
        let is_age = |name: &&u64| self.shared_idle(**name).is_ok();
        self.notes.get(&rule)?.shared.iter().find(is_age).copied()
    }

    /// Changes what an age waits for, in seconds, and lets it begin anew. 0 ends it.
    ///
    /// # Errors
    /// It is not there, or no age.
    pub(crate) fn update_age(&mut self, name: u64, seconds: Option<u32>, touch: bool) -> Result<(), Fault> {
        let now = self.now;
        let Kind::Age { timeout, last, .. } = &mut self.shared.get_mut(name)?.kind else {
            return Err(another("AGE"));
        };
        if let Some(seconds) = seconds {
            *timeout = seconds.saturating_mul(TICKS);
        }
        if touch {
            *last = now;
        }
        self.watch(name);
        Ok(())
    }

    /// Changes how all rules of an RSS action spread frames; a burst may see it from one frame to the next.
    ///
    /// # Errors
    /// It is not there or no RSS action, or the new one is not possible.
    pub(crate) fn update_rss(&mut self, name: u64, wanted: &Wanted<'_>) -> Result<(), Fault> {
        let Kind::Rss(number) = self.shared.get(name)?.kind else { return Err(another("RSS")) };
        let wrong = |text| Fault::new(FlowPart::Action, 0, libc::EINVAL, text);
        let (_, context) = wanted.rss().ok_or_else(|| wrong("allowed is RSS".to_owned()))?;
        self.contexts.replace(number, &context.made().map_err(wrong)?);
        Ok(())
    }

    /// A rule names these.
    pub(super) fn join(&mut self, rule: u64, names: &[u64]) {
        for name in names {
            if let Ok(shared) = self.shared.get_mut(*name) {
                shared.rules.insert(rule);
            }
        }
    }

    /// What is to be kept of a rule that goes, if it shares anything.
    pub(super) fn last_words(&self, id: RuleId) -> Result<LastWords, Fault> {
        match self.notes.get(&id.bits()) {
            Some(note) if !note.shared.is_empty() => Ok((self.writer.count(id)?, self.writer.idle(id)?)),
            _ => Ok(LastWords::default()),
        }
    }

    /// A rule that names these is gone.
    pub(super) fn leave(&mut self, rule: u64, names: &[u64], (count, idle): LastWords) {
        let its_last = self.now.wrapping_sub(idle);
        for name in names {
            let Ok(shared) = self.shared.get_mut(*name) else { continue };
            shared.rules.remove(&rule);
            match &mut shared.kind {
                Kind::Count { gone, .. } => *gone = sum(*gone, count),
                Kind::Age { last, .. } if self.now.wrapping_sub(*last) > idle => *last = its_last,
                Kind::Age { .. } | Kind::Rss(_) => {}
            }
        }
    }

    /// An age is looked at when it may be old, from now on.
    fn watch(&mut self, name: u64) {
        match self.shared_idle(name) {
            Ok((idle, timeout @ 1..)) => {
                let last = self.now.wrapping_sub(idle);
                self.ages.add(Name::Shared(name), last.saturating_add(timeout));
            }
            _ => self.ages.remove(Name::Shared(name)),
        }
    }
}

fn sum(a: Count, b: Count) -> Count {
    Count { frames: a.frames + b.frames, bytes: a.bytes + b.bytes }
}

fn another(kind: &str) -> Fault {
    Fault::new(FlowPart::Handle, 0, libc::EINVAL, format!("the indirect action is another one than {kind}"))
}
