//! The lab: what is simulated, as options say it, and what its runs find.
//!
//! `setup` reads the options of a comparison, `point` is one run of the model, `span` the time in which it counts,
//! `search` the largest load without a drop, `senders` hosts that answer to congestion; `kept` finds what was run before.
//! `jobs` runs many points at once and gives their `row`s; `draws` has them on servers whose constants are others. `queues`,
//! `transfer`, `operations`, `link` and `loopback` are systems of another kind, whose numbers are `measured`. `rules`
//! runs a capture through flow tables.

mod alone;
pub(crate) mod capture;
pub(crate) mod draws;
pub(crate) mod fields;
pub(crate) mod interfaces;
pub(crate) mod jobs;
pub(crate) mod kept;
pub(crate) mod link;
pub(crate) mod loopback;
pub(crate) mod measured;
pub(crate) mod operations;
pub(crate) mod point;
pub(crate) mod ports;
pub(crate) mod queues;
pub(crate) mod row;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod senders;
pub(crate) mod setup;
pub(crate) mod shown;
pub(crate) mod span;
pub(crate) mod transfer;
