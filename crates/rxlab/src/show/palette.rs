//! Colours by what they mean, the same in every plot of every report: an interface has one, a cause of drops has one
//! of others. They are CSS variables, with one value for light pages and one for dark ones.

use std::fmt::Write;

use apps::Fate;
use rings::Outcome;

/// The number of a colour's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub u8);

/// Of what has no colour of its own: that of text.
pub(crate) const NEUTRAL: Colour = Colour(COLOURS.len() as u8 - 1);

/// Colours of interfaces, in the order in which the rings list them.
const INTERFACES: usize = 6;
/// Colours behind those of interfaces, for series that are none, or of which several are the same.
const OTHERS: usize = 12;
/// Causes of drops in the model, whose cores never stop.
const CAUSES: [Fate; Fate::ALL.len() - 1] = [
    Fate::Card(Outcome::RingFull),
    Fate::Card(Outcome::NoBuffer),
    Fate::Card(Outcome::NicBufferFull),
    Fate::Card(Outcome::NoCredit),
    Fate::TxFull,
    Fate::App(None),
    Fate::Card(Outcome::BadFrame),
    Fate::Card(Outcome::QueueStopped),
    Fate::Card(Outcome::Filtered),
    Fate::Card(Outcome::LinkDown),
    Fate::Card(Outcome::FlowDrop),
    Fate::Card(Outcome::FlowMiss),
    Fate::Card(Outcome::NicMemoryFull),
];

/// On light and on dark pages: interfaces (Okabe and Ito), others, causes (Tol's muted scheme), neutral.
const COLOURS: [(&str, &str); INTERFACES + OTHERS + CAUSES.len() + 1] = [
    ("#0072b2", "#4ba8e0"),
    ("#d55e00", "#f5873b"),
    ("#009e73", "#2fc99a"),
    ("#c0619a", "#dd93bf"),
    ("#d39200", "#f0b93a"),
    ("#3d9fd6", "#8fd0f5"),
    ("#7570b3", "#a9a4e6"),
    ("#a6561f", "#d98e5a"),
    ("#5b961a", "#9bd45a"),
    ("#b2182b", "#f0697a"),
    ("#1b7f8c", "#5cc8d6"),
    ("#b8167a", "#f07ab8"),
    ("#2b3990", "#8093f1"),
    ("#3c3c3c", "#cfcfcf"),
    ("#8a8a00", "#d8d84a"),
    ("#7a4f9e", "#c59be6"),
    ("#3f6b5b", "#8fc2ad"),
    ("#e0486b", "#ff9eb3"),
    ("#44379b", "#8b7ff0"),
    ("#7dbbe0", "#a5dcf7"),
    ("#117733", "#55b36a"),
    ("#44aa99", "#6fd6c5"),
    ("#cc6677", "#e88b9a"),
    ("#882255", "#d16a9f"),
    ("#999933", "#c9c95a"),
    ("#c9b037", "#e6d67a"),
    ("#aa4499", "#d582c8"),
    ("#7a2a12", "#c0705a"),
    ("#661100", "#b5604a"),
    ("#88ccee", "#c2e6f7"),
    ("#4477aa", "#7fb2e5"),
    ("#707070", "#a8a8a8"),
];

impl Colour {
    /// An interface's, whatever its parameters; the neutral one of an unknown name. Beyond [`INTERFACES`] it is one of
    /// the others.
    pub(crate) fn interface(written: &str) -> Colour {
        number(written).map_or(NEUTRAL, |i| Colour((i % (INTERFACES + OTHERS)) as u8))
    }

    /// That of a cause of drops.
    pub(crate) fn cause(fate: Fate) -> Colour {
        let first = INTERFACES + OTHERS;
        CAUSES.iter().position(|known| *known == fate).map_or(NEUTRAL, |i| Colour((first + i) as u8))
    }

    /// Its CSS value.
    pub(crate) fn css(self) -> String {
        format!("var(--c{})", self.0)
    }
}

/// The place of an interface in the rings' list.
fn number(written: &str) -> Option<usize> {
    let name = written.split(':').next().unwrap_or_default();
    rings::Interface::ALL.iter().position(|about| about.name == name)
}

/// A colour for each series of a report by its interface: the interface's where no other series has the same, one that
/// is no interface's of the report for the others.
pub(crate) fn series(interfaces: &[&str]) -> Vec<Colour> {
    let alone = |name: &str| {
        let mine = number(name);
        mine.is_some() && interfaces.iter().filter(|other| number(other) == mine).count() == 1
    };
    let named = |i: &usize| interfaces.iter().any(|name| Colour::interface(name) == Colour(*i as u8));
    let others = (INTERFACES..INTERFACES + OTHERS).chain(0..INTERFACES);
    let others: Vec<u8> = others.filter(|i| !named(i)).map(|i| i as u8).collect();
    let mut next = others.iter().cycle();
    interfaces
        .iter()
        .map(
            |name| {
                if alone(name) {
                    Colour::interface(name)
                } else {
                    next.next().map_or(NEUTRAL, |i| Colour(*i))
                }
            },
        )
        .collect()
}

/// Style rules that give every variable its value.
pub(crate) fn rules() -> String {
    let values = |of: fn(&(&'static str, &'static str)) -> &'static str| {
        let mut text = String::new();
        for (i, colour) in COLOURS.iter().enumerate() {
            let _ = write!(text, "--c{i}:{};", of(colour));
        }
        text
    };
    format!(":root{{{}}}\n@media(prefers-color-scheme:dark){{:root{{{}}}}}", values(|c| c.0), values(|c| c.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_has_a_colour_of_its_own() {
        let names = || rings::Interface::ALL.iter().map(|about| about.name);
        let mut all: Vec<u8> = names().map(|name| Colour::interface(name).0).collect();
        all.extend(CAUSES.iter().map(|fate| Colour::cause(*fate).0));
        all.push(NEUTRAL.0);
        for pick in [|c: &(&'static str, &'static str)| c.0, |c: &(&'static str, &'static str)| c.1] {
            let mut values: Vec<&str> = COLOURS.iter().map(pick).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), COLOURS.len());
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names().count() + CAUSES.len() + 1);
        assert_eq!(Colour::interface("luck"), NEUTRAL);
    }

    /// The table of causes must not lag behind what the rings know.
    #[test]
    fn every_cause_is_known() {
        for fate in Fate::ALL.into_iter().filter(|fate| *fate != Fate::Stopped) {
            assert!(CAUSES.contains(&fate), "{fate}");
        }
    }

    #[test]
    fn series_have_their_interfaces_colour_where_it_says_which_one() {
        let [privring, shring] = ["privring", "shring"].map(Colour::interface);
        assert_eq!(series(&["shring", "privring"]), [shring, privring]);
        let mixed = series(&["privring", "privring", "shring", ""]);
        assert_eq!(mixed[2], shring);
        assert!(mixed.iter().enumerate().all(|(i, c)| !mixed[..i].contains(c)), "{mixed:?}");
        let many = series(&["", "", "", "", "", "", "", "", "", "shring"]);
        assert!(many[..9].iter().all(|c| *c != shring), "{many:?}");
        assert_eq!(series(&[""; 40]).len(), 40);
    }
}
