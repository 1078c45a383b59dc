//! What holds of the model, a file for each matter. One binary: each would compile the rings anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod antagonists;
mod assumptions;
mod bench;
mod bypass;
mod caches;
mod classifier;
mod coherence;
mod confidence;
mod congestion;
mod costs;
mod echo;
mod emulated;
mod fill_buffers;
mod kv;
mod large;
mod loopback;
mod modes;
mod moving;
mod naive;
mod nic_core;
mod nic_memory;
mod parts;
mod pcie;
mod port;
mod ports;
mod probes;
mod profiles;
mod pycachesim;
mod reference;
mod registers;
mod reorder;
mod rings_in_model;
mod span;
mod stopping_in_model;
mod transfer;
mod two_sides;
mod views;
mod visibility;
mod world;
