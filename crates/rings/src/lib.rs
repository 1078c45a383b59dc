//! The receive interfaces, each written once: a host half and a NIC half over [`memory::Memory`].
//!
//! Read [`privring`] first; the other interfaces have the same headings. [`build`] makes one port of any of
//! them; [`tx`] and [`pool`] serve all.
//!
//! Rooms, from the ground up. A room names those above it in this list and none below:
//!
//! 1. `contract`: the traits of the two halves, and what passes through them; `sizes`: what can be built
//! 2. `parts`: what rings are made of: locked numbers, completion entries, rings of empty buffers and of
//!    completions
//! 3. [`pool`] and [`tx`]: what serves all interfaces
//! 4. the interfaces: [`privring`], [`shring`], [`rxbisect`], [`ddring`], [`ccnic`], [`ceio`]; [`dynamic`] is made of the
//!    first two, and [`corec`] has `ddring`'s NIC half
//! 5. `interface`: any of them, chosen by name
//! 6. `testing`: [`mock`]s of both sides, their [`oracle`], a [`world`] of them

// No address is computed here: what reaches memory does so through `memory::Memory`, whatever the value.
#![forbid(unsafe_code)]

// 1. what all keep to
mod contract;
mod sizes;

// 2. what rings are made of
mod parts;

// 3. what serves all interfaces
pub mod pool;
pub mod tx;

// 4. the interfaces
pub mod ccnic;
pub mod ceio;
pub mod corec;
pub mod ddring;
pub mod dynamic;
pub mod privring;
pub mod rxbisect;
pub mod shring;

// 5. any of them
mod interface;

// 6. the other side, and its judge
mod testing;

pub use contract::{
    AHEAD, About, Buffers, Choice, Completion, Frame, Halves, Host, Nic, Outcome, Param, Parameters, Place,
    Rest, Role, Said, Segment, Sends, Spec, TOGETHER, Today, TxHalves, TxHost, TxNic, WithNic, WithTxNic,
    WriteBack,
};
pub use interface::{
    AnyHost, AnyNic, AnyTxHost, AnyTxNic, Interface, Port, Receive, Transmit, Written, build, receive,
    transmit,
};
pub use sizes::{MOST_QUEUES, SizeError};
pub use testing::{mock, oracle, world};
