//! The verdict: what the numbers of the runs mean.
//!
//! `decide` ranks interfaces, `diagnosis` says why frames drop, `fail_if` holds conditions of the user against rows.

pub(crate) mod decide;
pub(crate) mod diagnosis;
pub(crate) mod fail_if;
