//! Flow tables before steering: their rules choose queues, drop and mark, and leave the rest to steering.

mod contexts;

use core::cell::Cell;

use arrayvec::ArrayVec;
use crossbeam_epoch::Guard;
use flow::{BURST, Burst, Edited, Ending, Field, Key, Layer, Reader, Verdict};
use packet::{Parsed, Steering};
use rings::Outcome;

use super::{Choose, Class, META};
pub use contexts::{CONTEXTS, Contexts};

/// A choice by flow tables, for one burst: all its frames see one state of them.
pub struct Tables<'b, S> {
    burst: Burst<'b>,
    contexts: &'b Contexts,
    /// Keeps the contexts that rules of the burst's state name.
    guard: Guard,
    /// What no rule decides about.
    steering: &'b S,
    /// Receive queues. A rule may be older than they are.
    queues: u16,
    isolated: bool,
    /// The last frame, if rules changed its bytes.
    edited: Cell<Option<Edited>>,
}

impl<'b, S> Tables<'b, S> {
    /// Begins a burst at a time in ticks. Where no rule of the last group matches, `steering` chooses one of `queues`; on
    /// an isolated port the frame ends there.
    pub fn begin(
        reader: &'b Reader,
        contexts: &'b Contexts,
        steering: &'b S,
        queues: u16,
        isolated: bool,
        tick: u32,
    ) -> Tables<'b, S> {
        // The guard comes first: what the burst's state names is there until it ends.
        let guard = crossbeam_epoch::pin();
        Tables {
            burst: reader.burst(tick),
            contexts,
            guard,
            steering,
            queues,
            isolated,
            edited: Cell::new(None),
        }
    }

    /// The verdicts on frames, which are looked up together.
    pub(super) fn look_up(&self, keys: &mut [Key], lens: &[u32]) -> ArrayVec<Verdict<'_>, BURST> {
        self.burst.classify_burst(keys, lens)
    }

    /// The frame that was admitted last by itself, if rules changed its bytes: its class is that of the changed one.
    pub fn edited(&self) -> Option<Edited> {
        self.edited.take()
    }
}

impl<S: Steering> Tables<'_, S> {
    /// What becomes of a frame by the verdict on it, and what rules made of its bytes if they changed them.
    pub(super) fn settle(
        &self,
        verdict: &Verdict<'_>,
        key: &Key,
        parsed: &Parsed,
        head: &[u8],
        len: u32,
        class: Class,
    ) -> Result<(Class, Option<Edited>), Outcome> {
        let class = told(verdict.mark, key, class);
        if !verdict.is_edited() {
            return Ok((self.end(verdict.ending, parsed, head, len, class)?, None));
        }
        let edited = verdict.edit(head, len).map_err(|_| Outcome::BadFrame)?;
        let parsed = packet::parse(edited.head());
        let class = Class { kind: parsed.kind | class.kind & META, ..class };
        let class = self.end(verdict.ending, &parsed, edited.head(), edited.len(), class)?;
        Ok((class, Some(edited)))
    }

    /// Where a frame goes.
    fn end(
        &self,
        ending: Ending,
        parsed: &Parsed,
        head: &[u8],
        len: u32,
        class: Class,
    ) -> Result<Class, Outcome> {
        let class = match ending {
            // The hash is the port's, for who wants one.
            Ending::Queue(queue) => Class { queue, ..self.steering.choose(parsed, head, len, class)? },
            Ending::Rss(number) => {
                let context = self.contexts.get(number, &self.guard).ok_or(Outcome::FlowMiss)?;
                context.choose(parsed, head, len, class)?
            }
            Ending::Drop => return Err(Outcome::FlowDrop),
            Ending::Missed(_) if !self.isolated => self.steering.choose(parsed, head, len, class)?,
            Ending::Missed(_) | Ending::TooLong => return Err(Outcome::FlowMiss),
        };
        if class.queue < self.queues { Ok(class) } else { Err(Outcome::QueueStopped) }
    }
}

impl<S: Steering> Choose for Tables<'_, S> {
    fn choose(&self, parsed: &Parsed, head: &[u8], len: u32, class: Class) -> Result<Class, Outcome> {
        let mut key = Key::read(head, parsed);
        let verdict = self.burst.classify(&mut key, len);
        let (class, edited) = self.settle(&verdict, &key, parsed, head, len, class)?;
        self.edited.set(edited);
        Ok(class)
    }
}

/// The class with what rules tell the host. A completion has one word for it: a mark, or metadata where there is none.
fn told(mark: Option<u32>, key: &Key, class: Class) -> Class {
    let meta = || key.get(Layer::Outer, Field::Meta).map_or(0, |meta| meta as u32);
    match mark {
        Some(mark) => Class { mark, ..class },
        None => match meta() {
            0 => class,
            meta => Class { mark: meta, kind: class.kind | META, ..class },
        },
    }
}
