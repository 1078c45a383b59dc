#![doc = include_str!("../README.md")]
//!
//! # Rooms
//!
//! 1. `error`; `config` (sizes of a link) and `text` (the same as text)
//! 2. `hello` (what both sides say first); `link` (the socket of a link: death and signals)
//! 3. `place` (the socket file of a listener); `channel` (one side of a link)
//! 4. `connect` and `listener`, which make channels
#![cfg(target_os = "linux")]

mod channel;
mod config;
mod connect;
mod error;
mod hello;
mod link;
mod listener;
mod place;
mod text;

pub use channel::Channel;
pub use config::Config;
pub use error::Error;
pub use listener::Listener;
pub use memory::Buf;
pub use rings::Segment;
pub use rings::ccnic::{Back, Layout};
