//! The verdict: what the numbers of the runs mean.
//!
//! `decide` ranks interfaces, and `confirm` tries a lead under other arrivals; `diagnosis` says why frames drop.
//! `probe` looks at a setting: `best` searches the best size of a ring with it, `remedy` what ends a loss. `headroom`
//! is what level rows carry beyond the load. `robust` and
//! `sensitivity` say what becomes of a verdict where constants of the server are others. `fail_if` holds conditions of the user against rows.

pub(crate) mod best;
pub(crate) mod confirm;
pub(crate) mod decide;
pub(crate) mod diagnosis;
pub(crate) mod fail_if;
pub(crate) mod headroom;
pub(crate) mod probe;
pub(crate) mod remedy;
pub(crate) mod robust;
pub(crate) mod sensitivity;
