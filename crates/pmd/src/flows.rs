//! The flow rules of a port: control threads change them, its engine looks frames up.
//!
//! Control threads take turns by a lock that the engine knows nothing of. Tables take no memory before the first rule.

mod ages;
mod clock;
mod fault;
mod raw;
mod rules;
mod shared;
#[cfg(test)]
mod tests;
mod wanted;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use flow::{Limits, Reader};
use nic::{Contexts, Tables};
use packet::Rss;

pub(crate) use fault::Fault;
pub use fault::FlowPart;
pub use raw::{FLAG, FlowAct, FlowAction, FlowRule, FlowTerm, FlowTermKind, FlowVxlan, LAST_MARK};
use rules::Rules;
pub(crate) use wanted::Wanted;

/// Rules that are looked at, for whether they have grown old, while other threads wait. Assumed: 10 to 100 000 change nothing
/// but for how long.
const LOOKS: usize = 1000;

/// The flow rules of a port.
pub(crate) struct Flows {
    /// Whether the engine looks frames up: there are rules, or the port is isolated.
    active: AtomicBool,
    isolated: AtomicBool,
    /// Whether any rule grows old.
    ages: AtomicBool,
    tables: OnceLock<Lookup>,
    rules: Mutex<Option<Rules>>,
    /// The most rules.
    most: u32,
}

/// What the engine has of the tables.
struct Lookup {
    reader: Reader,
    contexts: Arc<Contexts>,
}

impl Flows {
    /// No rules yet, and at most so many later.
    pub(crate) fn new(most: u32) -> Flows {
        Flows {
            active: AtomicBool::new(false),
            isolated: AtomicBool::new(false),
            ages: AtomicBool::new(false),
            tables: OnceLock::new(),
            rules: Mutex::default(),
            most,
        }
    }

    /// Whether frames are looked up.
    #[inline(always)]
    pub(crate) fn active(&self) -> bool {
        // Relaxed: a burst that comes early looks nothing up yet; what is looked up has orderings of its own.
        self.active.load(Ordering::Relaxed)
    }

    /// The tables for a burst of a port with so many queues; none where frames are not looked up.
    pub(crate) fn begin<'b>(&'b self, steering: &'b Rss, queues: u16) -> Option<Tables<'b, Rss>> {
        let Lookup { reader, contexts } = self.tables.get().filter(|_| self.active())?;
        // Relaxed: as `active`.
        let isolated = self.isolated.load(Ordering::Relaxed);
        Some(Tables::begin(reader, contexts, steering, queues, isolated, clock::now()))
    }

    /// The most rules.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// Rules now.
    pub(crate) fn len(&self) -> u32 {
        self.lock().as_ref().map_or(0, Rules::len)
    }

    /// The most memory that the rules take, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.limits().bytes()
    }

    /// The rules, which the calling thread has for itself until `f` ends. Those of a call that ended in the middle are as
    /// it left them.
    ///
    /// # Errors
    /// There is no memory for tables, or what `f` says.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Rules) -> Result<R, Fault>) -> Result<R, Fault> {
        let mut rules = self.lock();
        let rules = match &mut *rules {
            Some(rules) => rules,
            none => none.insert(self.open()?),
        };
        rules.tick();
        let done = f(rules);
        self.tell(rules);
        done
    }

    /// Whether frames that no rule matches are dropped.
    ///
    /// # Errors
    /// There is no memory for tables.
    pub(crate) fn isolate(&self, on: bool) -> Result<(), Fault> {
        self.with(|_| {
            self.isolated.store(on, Ordering::Relaxed); // as `active`
            Ok(())
        })
    }

    /// Removes all rules, if there ever were any.
    ///
    /// # Errors
    /// The engine holds what the removal of some needs.
    pub(crate) fn flush(&self) -> Result<(), Fault> {
        if self.tables.get().is_none() { Ok(()) } else { self.with(Rules::flush) }
    }

    /// Whether any rule grows old.
    pub(crate) fn ages(&self) -> bool {
        // Relaxed: who added such a rule sees it, or somebody who removed it.
        self.ages.load(Ordering::Relaxed)
    }

    /// Looks at rules that may have grown old, a few at a time, so that threads that change rules come between. Whether
    /// the application is to hear of it.
    pub(crate) fn look(&self) -> bool {
        let mut more = self.tables.get().is_some();
        let mut news = false;
        while more && !news {
            let looked = self.with(|rules| {
                more = rules.look(LOOKS);
                Ok(rules.tell_of_age())
            });
            news = looked.unwrap_or_default();
        }
        news
    }

    /// What old rules are told by.
    pub(crate) fn aged(&self) -> Vec<u64> {
        if self.tables.get().is_none() {
            return Vec::new();
        }
        self.with(|rules| Ok(rules.aged())).unwrap_or_default()
    }

    /// Each rule may have actions that need a record.
    fn limits(&self) -> Limits {
        Limits { records: self.most, ..Limits::for_rules(self.most) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Rules>> {
        self.rules.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    fn open(&self) -> Result<Rules, Fault> {
        let contexts = Arc::<Contexts>::default();
        let rules = Rules::new(self.limits(), contexts.clone())?;
        self.tables.get_or_init(|| Lookup { reader: rules.reader(), contexts });
        Ok(rules)
    }

    /// Lets the engine know whether there is something to look up.
    fn tell(&self, rules: &Rules) {
        let active = rules.len() > 0 || self.isolated.load(Ordering::Relaxed); // as `active`
        self.active.store(active, Ordering::Relaxed); // as `active`
        self.ages.store(rules.ages(), Ordering::Relaxed); // as `ages`
    }
}
