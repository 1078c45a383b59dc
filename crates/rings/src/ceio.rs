//! `ceio`: credits worth the cache's share, and an elastic buffer in the card's own memory (CEIO §4). A frame that
//! has a credit goes to host memory at once, as in `privring`: the *fast path*. Any other is kept by the card until
//! its core asks for it: the *slow path*. Nothing drops until the card's memory is full.
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | `descriptor`, `doorbell` | core | NIC | as in `parts/empties.rs` | empty buffers, for frames of both paths |
//! | `fast` | NIC | core | 2 entries | publish -> acquire of the signal: entry and payload are valid |
//! | `slow` | NIC | core | 2 entries | the same, of a frame that was kept; entries of `fast` that it follows are valid too |
//! | `kept` | NIC | core | its own | release -> relaxed: `frames << 1 \| congested`, a number, nothing hangs on it |
//! | `asked` | core | NIC | a register | ring -> acquire: `wanted << 32 \| taken` of `slow`; the entries taken are read |
//! | `released` | core | NIC | a register | ring -> acquire: entries of `fast` whose frames are processed |
//! | memory | NIC | NIC | 2 KiB slots, at home with the NIC | nobody else has it |
//!
//! **Flows.** A flow is what has credits and a path. Each queue has `flows` of them, 1 unless said: §4.1 maps each
//! flow to a queue. With more, frames are told apart by their RSS hash, so frames of one connection are of one flow
//! in any capture. A flow is established by its first frame. Numbers of the card (`Frame::flow`) are not
//! used: they are unbounded, and two flows may share credits without harm.
//!
//! **Credits.** A frame on the fast path spends a credit of its flow (`ceio/credits.rs`, Algorithm 1). `released`
//! gives it back, lazily: once for `release` frames, or when a poll finds nothing, since all is processed then
//! (§4.1). A core processes a frame until its next receive call.
//!
//! **Software ring.** The two rings `fast` and `slow` have a producer each, and a core as their one consumer, who
//! hands frames on in the order of each flow. It needs no sorting, by *phase exclusivity* (§4.2):
//!
//! 1. A flow leaves the fast path when it has no credit or no buffer is posted. From then on all its frames are
//!    kept, so those in `fast` are older than those that are kept.
//! 2. The card writes a kept frame to a host buffer when its core has `wanted` it, and then its entry of `slow`.
//!    That tells how many entries of `fast` were there when the frame came, and the core reads those first.
//! 3. A flow comes back to the fast path when its core has `taken` all its kept frames, not before.
//!
//! Flows of one queue change their paths each for itself. Kept frames of a queue stay in the order in which they came.
//!
//! **Draining.** The DMA of kept frames has no credits. So a core has no more than `drain` of them under way (Q2),
//! and the flow's fast path pauses meanwhile by 3.
//!
//! **Activity.** A flow is inactive if it had no frame for `idle`, or if more than `release` of its frames were
//! unread in `fast` when the first of its kept frames was drained and none was released meanwhile (Q3). Its credits
//! go to the others. Every `recall` one inactive flow with frames comes back, in turn.
//!
//! **Congestion.** From half of the card's memory on `kept` says so, which a sender's congestion control is to hear.
//!
//! **Stop and start.** The card forgets what it kept for a stopped queue; what was published is the core's to drain.
//! Both stand at the sum of what both rings have read, as in `parts/empties.rs`.
//!
//! **Outcomes.** `nic_memory_full`: the card's memory is full. No other but those of bad frames and stopped queues.

pub mod credits;
