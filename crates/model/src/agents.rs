//! What acts in a run: cards, cores, the cores that play a NIC, threads that press on the memory. Each is straight-line
//! code over its view.

pub(crate) mod antagonist;
pub(crate) mod app;
pub(crate) mod book;
pub(crate) mod bypass;
pub(crate) mod card;
pub(crate) mod emulator;
pub(crate) mod files;
pub(crate) mod host_cc;
pub(crate) mod meter;
pub(crate) mod nic_core;
pub(crate) mod plug;
pub(crate) mod pool;
pub(crate) mod rules;
pub(crate) mod worker;
