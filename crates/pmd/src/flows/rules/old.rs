//! What grows old, and how old it is.

use flow::RuleId;

use super::Rules;
use crate::flows::ages::Name;
use crate::flows::clock::TICKS;
use crate::flows::fault::{Fault, FlowPart};

/// What a query of an age tells.
pub(crate) struct Age {
    /// Whether it is old.
    pub(crate) old: bool,
    /// Seconds since its last frame.
    pub(crate) idle_s: u32,
}

impl Rules {
    /// The age of a rule that grows old.
    ///
    /// # Errors
    /// It is not there, or has no age.
    pub(crate) fn age(&self, name: u64) -> Result<Age, Fault> {
        let idle = self.writer.idle(RuleId::from_bits(name))?;
        if let Some(shared) = self.shared_age_of(name) {
            return self.shared_age(shared);
        }
        let timeout = self.timeout(name);
        if timeout == 0 {
            return Err(Fault::new(FlowPart::Whole, 0, libc::EINVAL, "the rule has no action AGE"));
        }
        Ok(Age { old: idle >= timeout, idle_s: idle / TICKS })
    }

    /// Ticks after which a rule is old; 0 for never.
    pub(super) fn timeout(&self, name: u64) -> u32 {
        self.notes.get(&name).map_or(0, |note| note.timeout)
    }

    /// The tick of the last frame of what may grow old, and the ticks after which it has.
    fn last_frame(&self, name: Name) -> Option<(u32, u32)> {
        match name {
            Name::Rule(name) => {
                let idle = self.writer.idle(RuleId::from_bits(name)).ok()?;
                Some((self.now.wrapping_sub(idle), self.timeout(name)))
            }
            Name::Shared(name) => {
                let (idle, timeout) = self.shared_idle(name).ok()?;
                Some((self.now.wrapping_sub(idle), timeout))
            }
        }
    }

    /// Looks at up to `most` of what may have grown old; whether there is more to look at.
    pub(in crate::flows) fn look(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let Some(name) = self.ages.first(self.now) else { return false };
            match self.last_frame(name) {
                Some((last, timeout)) => self.ages.looked(name, last, timeout, self.now),
                None => self.ages.remove(name),
            }
        }
        true
    }

    /// Whether the application is to hear that something has grown old.
    pub(in crate::flows) fn tell_of_age(&mut self) -> bool {
        self.ages.tell()
    }

    /// Whether anything grows old.
    pub(in crate::flows) fn ages(&self) -> bool {
        self.ages.any()
    }

    /// What old rules and shared ages are told by. What grows old from now on is news.
    pub(crate) fn aged(&mut self) -> Vec<u64> {
        self.look(usize::MAX);
        self.ages.asked();
        let old = |(last, timeout)| self.now.wrapping_sub(last) >= timeout;
        let names = self.ages.names().filter(|name| self.last_frame(*name).is_some_and(old));
        names
            .map(|name| match name {
                Name::Rule(name) => match self.notes.get(&name).map_or(0, |note| note.age) {
                    0 => name,
                    context => context,
                },
                Name::Shared(name) => self.shared_context(name),
            })
            .collect()
    }
}
