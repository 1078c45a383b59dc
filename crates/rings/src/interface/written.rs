//! The textual form of an interface, `shring:ring=1024,unlock=swap`: the same for options, plans, results and, with
//! `+` for a comma and `:` for `=`, arguments of the driver.

use core::fmt;
use core::str::FromStr;

use super::Interface;
use crate::contract::{About, Param, Place, Said};
use crate::sizes::SizeError;

/// An interface as it is written: its name, and the values of the parameters that are said with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// With the values that were said; the others are usual ones.
    interface: Interface,
    said: Vec<&'static str>,
}

impl Written {
    /// Reads a list, cut at its commas. A piece `name=value` belongs to the interface before it.
    ///
    /// # Errors
    /// As [`FromStr`], or a parameter stands before the first interface.
    pub fn list<T: AsRef<str>>(pieces: &[T]) -> Result<Vec<Written>, SizeError> {
        let mut all: Vec<Written> = Vec::new();
        for piece in pieces.iter().map(|piece| piece.as_ref().trim()) {
            let continues = piece.contains('=') && !piece.contains(':');
            match all.last_mut() {
                Some(last) if continues => last.say(piece)?,
                None if continues => {
                    let what = format!("{piece} follows no interface; allowed: NAME:{piece}");
                    return Err(SizeError::new(what));
                }
                _ => all.push(piece.parse()?),
            }
        }
        Ok(all)
    }

    /// What holds for the interface whatever its sizes are.
    pub fn about(&self) -> &'static About {
        self.interface.about()
    }

    /// Whether the value of parameter `name` was said.
    pub fn says(&self, name: &str) -> bool {
        self.said.contains(&name)
    }

    /// Whether any value was said.
    pub fn says_any(&self) -> bool {
        !self.said.is_empty()
    }

    /// Whether the interface has such a parameter.
    pub fn has(&self, name: &str) -> bool {
        self.interface.each_param(|p| p.name == name).contains(&true)
    }

    /// What values parameter `name` can have, if there is such.
    pub fn allowed(&self, name: &str) -> Option<String> {
        self.interface.each_param(|p| (p.name == name).then(|| p.allowed())).into_iter().flatten().next()
    }

    /// Gives parameter `name` a value, whether one was said or not.
    ///
    /// # Errors
    /// Names what is allowed.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SizeError> {
        let said = self.assign(name, value)?;
        if !self.said.contains(&said) {
            self.said.push(said);
        }
        Ok(())
    }

    /// The interface for a port in `place`, with the values that suit it where none were said. Its sizes are not
    /// validated.
    pub fn on(&self, place: &Place) -> Interface {
        let mut interface = self.interface.clone();
        let sizes = interface.sizes_mut();
        let asked = self.about().descriptors;
        if let Some(n) = place.descriptors.filter(|_| !self.says(asked)) {
            for mut param in sizes.params().into_iter().filter(|p| p.name == asked) {
                param.set(&n.to_string());
            }
        }
        sizes.fit(place, Said(&self.said));
        interface
    }

    /// Takes `name=value`.
    fn say(&mut self, piece: &str) -> Result<(), SizeError> {
        let Some((name, value)) = piece.split_once('=') else {
            let (mine, name) = (self.about().name, self.name_of(piece)?);
            return Err(SizeError::new(format!("{mine}: {name} has no value; allowed: {mine}:{name}=VALUE")));
        };
        let name = self.name_of(name)?;
        if self.says(name) {
            let what = format!("{}: {name} is said twice; allowed: once", self.about().name);
            return Err(SizeError::new(what));
        }
        self.set(name, value)
    }

    /// The name as the interface has it.
    fn name_of(&self, name: &str) -> Result<&'static str, SizeError> {
        let known = self.interface.each_param(|p| (p.name, p.about));
        known.iter().find(|(known, _)| *known == name).map(|(known, _)| *known).ok_or_else(|| {
            let told: Vec<String> = known.iter().map(|(name, about)| format!("{name} ({about})")).collect();
            let (mine, told) = (self.about().name, told.join(", "));
            SizeError::new(format!("{mine}: unknown parameter `{name}`; allowed: {told}"))
        })
    }

    fn assign(&mut self, name: &str, value: &str) -> Result<&'static str, SizeError> {
        let (mine, name) = (self.about().name, self.name_of(name)?);
        for mut param in self.interface.sizes_mut().params() {
            if param.name == name && !param.set(value) {
                let allowed = param.allowed();
                return Err(SizeError::new(format!("{mine}: {name} is `{value}`; allowed: {allowed}")));
            }
        }
        Ok(name)
    }
}

/// With nothing said.
impl From<Interface> for Written {
    fn from(interface: Interface) -> Written {
        Written { interface, said: Vec::new() }
    }
}

impl FromStr for Written {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Written, SizeError> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let found = Interface::usual().into_iter().find(|one| one.name() == name);
        let interface = found.ok_or_else(|| {
            SizeError::new(format!("unknown interface `{name}`; allowed: {}", Interface::names()))
        })?;
        let mut written = Written::from(interface);
        for piece in rest.into_iter().flat_map(|rest| rest.split(',')) {
            written.say(piece.trim())?;
        }
        Ok(written)
    }
}

/// The name, and what was said, in the order of the interface's parameters.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &self.interface, |p| self.says(p.name))
    }
}

/// Writes `interface` with the parameters that are `told`.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    interface: &Interface,
    told: impl Fn(&Param<'_>) -> bool,
) -> fmt::Result {
    let pairs = interface.each_param(|p| told(p).then(|| format!("{}={}", p.name, p.text())));
    let pairs: Vec<String> = pairs.into_iter().flatten().collect();
    let colon = if pairs.is_empty() { "" } else { ":" };
    write!(f, "{}{colon}{}", interface.name(), pairs.join(","))
}
