//! Interfaces as options name them: the textual form, and the options that are short forms of its parameters.

use rings::{Interface, Place, Role, Written};

use crate::fail::Fail;

/// What is compared unless told otherwise.
pub(crate) const DEFAULT: [&str; 3] = ["privring", "shring", "rxbisect"];

/// Options that give a value to every interface that has the parameter and does not say it.
pub(crate) struct Asked<'a> {
    /// Rx ring entries, of all but rxbisect.
    pub ring: u32,
    /// Ax and Bx ring entries of a core.
    pub ax_bx: [u32; 2],
    /// Cores that share a ring.
    pub shared_by: Option<u32>,
    /// How a core of shring and dynamic frees its ring's lock.
    pub unlock: &'a str,
    /// How a core of ddring takes buffers.
    pub refill: &'a str,
    /// Which batches corec marks.
    pub marks: &'a str,
    /// Buffers of a port that the server's DDIO ways hold, where there is a server.
    pub cached: Option<u32>,
}

impl Asked<'_> {
    /// An interface on a port of `queues`; its sizes are not validated.
    ///
    /// # Errors
    /// A value that is not allowed, whether the interface uses it or not.
    pub(crate) fn interface(&self, written: &Written, queues: u32) -> Result<Interface, Fail> {
        let mut written = written.clone();
        for (name, value) in self.short() {
            allowed(name, &value)?;
            if written.has(name) && !written.says(name) {
                written.set(name, &value).map_err(Fail::new)?;
            }
        }
        Ok(written.on(&Place { queues, pollers: queues, descriptors: None, cached: self.cached }))
    }

    /// What the options say, by the parameter's name.
    fn short(&self) -> impl Iterator<Item = (&'static str, String)> {
        let [ax, bx] = self.ax_bx;
        let numbers =
            [("ring", Some(self.ring)), ("ax", Some(ax)), ("bx", Some(bx)), ("shared_by", self.shared_by)];
        let numbers = numbers.into_iter().filter_map(|(name, n)| Some((name, n?.to_string())));
        let words = [("unlock", self.unlock), ("marks", self.marks), ("refill", self.refill)];
        numbers.chain(words.map(|(name, word)| (name, word.to_string())))
    }
}

/// Reads one interface.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn one(text: &str) -> Result<Written, Fail> {
    text.parse().map_err(Fail::new)
}

/// Reads a list that was cut at its commas; what is there twice counts once.
///
/// # Errors
/// Names what is allowed.
pub(crate) fn list(pieces: &[String]) -> Result<Vec<Written>, Fail> {
    let mut all: Vec<Written> = Vec::new();
    for written in Written::list(pieces).map_err(Fail::new)? {
        if !all.contains(&written) {
            all.push(written);
        }
    }
    Ok(all)
}

/// What rows call the interfaces of one list: the name, and where there are several of it all that is said.
pub(crate) fn labels(list: &[Written]) -> Vec<String> {
    let alone = |one: &Written| list.iter().filter(|w| w.about().name == one.about().name).count() == 1;
    let label = |one: &Written| if alone(one) { one.about().name.to_string() } else { one.to_string() };
    list.iter().map(label).collect()
}

/// The rings by which people know the size of `interface`, with their entries.
pub(crate) fn rings(interface: &Interface) -> Vec<(&'static str, u32)> {
    let ring = |p: &rings::Param<'_>| Some((p.name, p.number()? as u32)).filter(|_| p.role == Role::Ring);
    interface.each_param(ring).into_iter().flatten().collect()
}

/// Whether a parameter has values, and this is one.
fn allowed(name: &str, value: &str) -> Result<(), Fail> {
    for interface in Interface::usual() {
        let mut written = Written::from(interface);
        if written.has(name) && written.set(name, value).is_err() {
            let (option, allowed) = (name.replace('_', "-"), written.allowed(name).unwrap_or_default());
            return Err(Fail::new(format!("--{option}: unknown `{value}`; allowed: {allowed}")));
        }
    }
    Ok(())
}
