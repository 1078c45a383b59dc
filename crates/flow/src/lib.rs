//! Flow tables: classify frames by millions of rules, and change them without disturbing readers.
//!
//! A [`Writer`] inserts, removes and updates rules in batches. A [`Reader`] on any thread looks frames up in bursts, each
//! of which sees one state of the tables. Neither waits for the other. docs/flow-tables.md says how.
//!
//! ```
//! use flow::{Action, Ending, Field, Key, Layer, Limits, Match, Rule, Writer};
//!
//! # fn main() -> Result<(), flow::Error> {
//! let mut tables = Writer::new(Limits::for_rules(1000))?;
//! let matching = Match::any().field(Layer::Outer, Field::UdpDst, 53)?;
//! let actions = [Action::Count, Action::Queue(3)];
//! let dns = tables.insert(&Rule { group: 0, priority: 1, matching, actions: (&actions[..]).into() })?;
//! tables.commit();
//!
//! let reader = tables.reader();
//! let frame: &[u8] = &[0; 60];
//! let mut key = Key::read(frame, &packet::parse(frame));
//! assert_eq!(reader.burst(0).classify(&mut key, 60).ending, Ending::Missed(0));
//! tables.update_actions(dns, &[Action::Drop])?;
//! tables.commit();
//! # Ok(())
//! # }
//! ```

mod action;
mod arena;
mod buckets;
mod columns;
mod edit;
mod error;
mod field;
pub mod fuzz;
mod hash;
mod key;
mod limits;
mod lines;
pub mod lpm;
mod mask;
mod matching;
mod reader;
mod records;
mod retired;
mod rule;
mod same;
mod search;
mod shared;
mod sizes;
mod state;
mod survey;
mod table;
pub mod testing;
pub mod text;
mod verdict;
pub mod version;
mod view;
mod writer;

pub use action::{Action, Vxlan};
pub use arena::Count;
pub use edit::{Edited, HEAD, TooLong};
pub use error::{ActionError, Error, Resource};
pub use field::{Field, Header, Layer, WORDS};
pub use key::Key;
pub use limits::Limits;
pub use matching::Match;
pub use reader::{Burst, Reader};
pub use rule::{Rule, RuleId};
pub use sizes::{ACTIONS, BURST, CHAIN, MASK_WORDS, TAGS};
pub use survey::{Survey, survey};
pub use verdict::{Ending, Verdict};
pub use writer::Writer;
