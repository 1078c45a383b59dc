//! Frames of a burst through the pipeline together: flow tables look them up in columns, so that their cache misses overlap.

use arrayvec::ArrayVec;
use flow::{BURST, Edited, Key};
use packet::{Parsed, Steering};
use rings::Outcome;

use super::{Choose, Class, Incoming, Pipeline, Tables, with_head};

/// What becomes of a frame, and what rules made of its bytes if they changed them: the class is that of the changed one
/// then.
pub type Admitted = Result<(Class, Option<Edited>), Outcome>;

/// Frames that are looked up together.
#[derive(Default)]
struct Looked {
    /// What the parser found in each frame, or what kept it from the parser.
    seen: ArrayVec<Result<Parsed, Outcome>, BURST>,
    /// Of those that came so far.
    keys: ArrayVec<Key, BURST>,
    lens: ArrayVec<u32, BURST>,
}

impl<C: Choose> Pipeline<C> {
    /// [`admit_by`](Self::admit_by) for the frames of a burst: `each` gets one after the other, in their order.
    pub fn admit_burst<'a, S: Steering>(
        &self,
        tables: &Tables<'_, S>,
        frames: &[Incoming<'a>],
        mut each: impl FnMut(&Incoming<'a>, Admitted),
    ) {
        for frames in frames.chunks(BURST) {
            let Looked { seen, mut keys, lens } = self.read(frames);
            let verdicts = tables.look_up(&mut keys, &lens);
            let mut found = verdicts.iter().zip(&keys);
            for (f, seen) in frames.iter().zip(seen) {
                // Each frame that was parsed was looked up.
                let found = |parsed| found.next().map(|found| (parsed, found)).ok_or(Outcome::BadFrame);
                let admitted = seen.and_then(found).and_then(|(parsed, (verdict, key))| {
                    let class = self.seen(&parsed);
                    let (class, edited) =
                        with_head(f, |head| tables.settle(verdict, key, &parsed, head, f.len, class))?;
                    Ok((self.verified(f, parsed, class), edited))
                });
                each(f, admitted);
            }
        }
    }

    /// Filter and parser, and the keys of what passes.
    fn read(&self, frames: &[Incoming<'_>]) -> Looked {
        let mut looked = Looked::default();
        for f in frames {
            let seen = with_head(f, |head| match self.bars(f, head) {
                Some(outcome) => Err(outcome),
                None => {
                    let parsed = packet::parse(head);
                    looked.keys.push(Key::read(head, &parsed));
                    looked.lens.push(f.len);
                    Ok(parsed)
                }
            });
            looked.seen.push(seen);
        }
        looked
    }
}
