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

/// Names that have a colour of their own, in the order of [`COLOURS`].
const INTERFACES: [&str; 6] = ["privring", "shring", "rxbisect", "dynamic", "corec", "ddring"];
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
];

/// On light and on dark pages: interfaces (Okabe and Ito), others, causes (Tol's muted scheme), neutral.
const COLOURS: [(&str, &str); INTERFACES.len() + OTHERS + CAUSES.len() + 1] = [
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
    ("#707070", "#a8a8a8"),
];

impl Colour {
    /// An interface's; the neutral one of an unknown name.
    pub(crate) fn interface(name: &str) -> Colour {
        INTERFACES.iter().position(|known| *known == name).map_or(NEUTRAL, |i| Colour(i as u8))
    }

    /// That of a cause of drops.
    pub(crate) fn cause(fate: Fate) -> Colour {
        let first = INTERFACES.len() + OTHERS;
        CAUSES.iter().position(|known| *known == fate).map_or(NEUTRAL, |i| Colour((first + i) as u8))
    }

    /// Its CSS value.
    pub(crate) fn css(self) -> String {
        format!("var(--c{})", self.0)
    }
}

/// A colour for each series of a report by its interface: the interface's where no other series has the same, one that
/// is no interface's of the report for the others.
pub(crate) fn series(interfaces: &[&str]) -> Vec<Colour> {
    let alone = |name: &str| {
        INTERFACES.contains(&name) && interfaces.iter().filter(|other| **other == name).count() == 1
    };
    let named = |i: usize| INTERFACES.get(i).is_some_and(|name| interfaces.contains(name));
    let others: Vec<u8> = (INTERFACES.len()..INTERFACES.len() + OTHERS)
        .chain((0..INTERFACES.len()).filter(|i| !named(*i)))
        .map(|i| i as u8)
        .collect();
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
        let mut all: Vec<u8> = INTERFACES.iter().map(|name| Colour::interface(name).0).collect();
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
        assert_eq!(all.len(), INTERFACES.len() + CAUSES.len() + 1);
        assert_eq!(Colour::interface("luck"), NEUTRAL);
    }

    /// The tables of causes and interfaces must not lag behind what the rings know.
    #[test]
    fn every_cause_and_interface_is_known() {
        for fate in Fate::ALL.into_iter().filter(|fate| *fate != Fate::Stopped) {
            assert!(CAUSES.contains(&fate), "{fate}");
        }
        assert_eq!(crate::lab::interfaces::ALLOWED, INTERFACES.join(", "));
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
