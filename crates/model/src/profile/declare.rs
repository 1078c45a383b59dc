//! How constants are declared, by component: the only place that has a constant's names, meaning, unit and range.

use serde::{Deserialize, Serialize};

use super::range::Range;
use super::{NicKind, Server};

/// A number of the model with where it comes from: `published: source`, `measured: how`, or
/// `assumed: id` (an entry of docs/assumptions.md).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a number with its origin, such as { value = 12.5, origin = \"measured: how\" }"
)]
pub struct Constant {
    /// In the unit that the name ends with.
    pub value: f64,
    /// `published: ...`, `measured: ...`, `read: ...` from the machine itself, `assumed: ...`, `fitted: ...`, or
    /// `stated: ...` on a command line.
    pub origin: String,
}

impl Constant {
    /// Whether the profile does not have it: it says nothing about this kind of server.
    pub fn is_absent(&self) -> bool {
        self.origin.is_empty()
    }
}

/// Which profiles have a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// All.
    Any,
    /// Those with this kind of NIC, and no others.
    Only(NicKind),
    /// Those with a card; others may have it.
    Card,
    /// Those with this kind of NIC may have it, no others.
    Some(NicKind),
}

impl Of {
    /// Whether a profile with this kind of NIC has to have it, and whether it may.
    pub(super) fn of(self, kind: NicKind) -> (bool, bool) {
        let needed = self == Of::Any || self == Of::Only(kind) || self == Of::Card && kind.is_card();
        (needed, needed || self == Of::Card || self == Of::Some(kind))
    }
}

/// A constant as it is declared, whatever a profile says of it.
pub struct Declared {
    /// What results call it, and profiles of the flat form. No other constant has this name.
    pub name: &'static str,
    /// Where a profile has it: tables, then its key, with dots between.
    pub place: &'static str,
    /// What it is, and its range with the unit.
    pub range: Range,
    pub(super) about: &'static str,
    pub(super) of: Of,
    pub(super) get: fn(&Server) -> &Constant,
    pub(super) get_mut: fn(&mut Server) -> &mut Constant,
}

impl Declared {
    /// What it is, a sentence or more.
    pub fn about(&self) -> &'static str {
        self.about.trim_start()
    }

    /// Whether every profile has it.
    pub fn is_everywhere(&self) -> bool {
        self.of == Of::Any
    }
}

/// A struct for each component, one for all of them, and the list of what they hold. A constant without a range does
/// not compile.
macro_rules! components {
    (
        $(#[$doc:meta])+
        $all:ident at $root:ident, listed in $list:ident;
        $(
            $(#[$what:meta])+
            $component:ident: $of_it:ident {
                $($(#[doc = $about:literal])+ $key:ident = $name:literal: $of:expr, $range:expr;)+
            }
        )+
    ) => {
        $(
            $(#[$what])+
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $of_it {
                $(
                    $(#[doc = $about])+
                    #[serde(default, skip_serializing_if = "Constant::is_absent")]
                    pub $key: Constant,
                )+
            }
        )+

        $(#[$doc])+
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $all {
            $(
                $(#[$what])+
                #[serde(default, skip_serializing_if = "is_default")]
                pub $component: $of_it,
            )+
        }

        /// What is declared here, in this order.
        pub(super) static $list: &[Declared] = &[$($(
            Declared {
                name: $name,
                place: concat!(stringify!($root), ".", stringify!($component), ".", stringify!($key)),
                range: $range,
                about: concat!($($about),+),
                of: $of,
                get: |server| &server.$root.$component.$key,
                get_mut: |server| &mut server.$root.$component.$key,
            },
        )+)+];
    };
}

pub(super) use components;

/// Whether a profile says nothing of a component.
pub(super) fn is_default<T: Default + PartialEq>(component: &T) -> bool {
    *component == T::default()
}
