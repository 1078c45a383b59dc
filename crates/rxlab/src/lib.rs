//! rxlab: which receive interface, which ring sizes, how many buffers, and why do I drop?
//!
//! [`main`] is the program. [`call`] runs a command for another program, which takes its JSON in place of a terminal.
//!
//! `call` has both. `cmd` has a file for each subcommand. Below it are the rooms that commands share, from the top floor
//! down: `paper` (published figures), `verdict` (what results mean), `lab` (what is run, and what it finds), `detect` (a
//! machine's files as a profile), `cpus` (two CPUs of this machine), `show` (text, JSON, pages, files). A room knows only
//! rooms below it.

mod call;
mod cmd;
mod cpus;
mod detect;
mod fail;
mod lab;
mod paper;
mod show;
mod verdict;

pub use call::{Answer, Asked, Ended, call, main, schema, version, words};
pub use show::caller::Heard;
