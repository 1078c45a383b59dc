//! A parameter of an interface: its name, and its value as text. Each interface lists its own; what reads options,
//! plans and arguments, and what prints results, knows no others.

use memory::{Ps, Stores};

/// What a parameter is to those who do not know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Entries of a ring by which people know the interface's size.
    Ring,
    /// Entries of a ring beside those. A card limits them as well.
    Entries,
    /// Anything else.
    Other,
}

/// A parameter, and where its value is kept.
pub struct Param<'a> {
    /// Its name, in lower case: a unit ends it, where it has one.
    pub name: &'static str,
    /// What it is to others.
    pub role: Role,
    /// What it says, for the error that lists all parameters.
    pub about: &'static str,
    value: &'a mut dyn Value,
}

impl<'a> Param<'a> {
    /// A parameter that only its interface understands.
    pub(crate) fn new(name: &'static str, value: &'a mut dyn Value, about: &'static str) -> Param<'a> {
        Param { name, role: Role::Other, about, value }
    }

    /// Entries of a ring by which people know the interface's size.
    pub(crate) fn ring(name: &'static str, value: &'a mut u32, about: &'static str) -> Param<'a> {
        Param { name, role: Role::Ring, about, value }
    }

    /// Entries of a ring beside those.
    pub(crate) fn entries(name: &'static str, value: &'a mut u32, about: &'static str) -> Param<'a> {
        Param { name, role: Role::Entries, about, value }
    }

    /// Its value, as it is written.
    pub fn text(&self) -> String {
        self.value.text()
    }

    /// Its value where that is a number; in the unit of the name.
    pub fn number(&self) -> Option<u64> {
        self.value.number()
    }

    /// Takes a value as it is written; whether that is one. Sizes are not checked here.
    pub fn set(&mut self, text: &str) -> bool {
        self.value.set(text)
    }

    /// What values there are, to end a sentence with.
    pub fn allowed(&self) -> String {
        self.value.allowed()
    }
}

/// A value that can be read and written.
pub(crate) trait Value {
    fn text(&self) -> String;
    fn number(&self) -> Option<u64> {
        None
    }
    fn set(&mut self, text: &str) -> bool;
    fn allowed(&self) -> String;
}

impl Value for u32 {
    fn text(&self) -> String {
        self.to_string()
    }

    fn number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }

    fn set(&mut self, text: &str) -> bool {
        text.parse().map(|n| *self = n).is_ok()
    }

    fn allowed(&self) -> String {
        "a whole number".into()
    }
}

/// A time, in whole nanoseconds.
impl Value for Ps {
    fn text(&self) -> String {
        self.ns().to_string()
    }

    fn number(&self) -> Option<u64> {
        Some(self.ns())
    }

    fn set(&mut self, text: &str) -> bool {
        let ns = text.parse().ok().filter(|ns| *ns > 0);
        ns.map(|ns: u32| *self = Ps::from_ns(u64::from(ns))).is_some()
    }

    fn allowed(&self) -> String {
        format!("nanoseconds from 1 to {}", u32::MAX)
    }
}

/// One of a few, by name.
pub trait Choice: Copy + PartialEq + 'static {
    /// All, each with its name.
    const ALL: &'static [(&'static str, Self)];

    /// The one of this name.
    ///
    /// # Errors
    /// In one line: the names that there are.
    fn named(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, one)| *one).ok_or_else(|| format!("allowed: {}", names::<Self>()))
    }
}

fn names<T: Choice>() -> String {
    T::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

impl Choice for Stores {
    const ALL: &'static [(&'static str, Stores)] =
        &[("cached", Stores::Cached), ("streaming", Stores::Streaming)];
}

impl<T: Choice> Value for T {
    fn text(&self) -> String {
        let mine = T::ALL.iter().find(|(_, one)| one == self);
        mine.map_or_else(String::new, |(name, _)| (*name).into())
    }

    fn set(&mut self, text: &str) -> bool {
        T::named(text).map(|one| *self = one).is_ok()
    }

    fn allowed(&self) -> String {
        names::<T>()
    }
}
