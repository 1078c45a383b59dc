//! Runs a test in every interleaving within bounds.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::any::Any;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::orders::Orders;
use super::space::CheckedSpace;

/// Steps of one execution before it counts as endless: every polling loop in a test is bounded.
const BRANCHES: usize = 20_000;

/// How far the checker looks.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Forced switches away from a thread that could go on, in one execution.
    pub preemptions: usize,
}

impl Bounds {
    /// `RXLAB_LOOM_PREEMPTIONS`, or 2.
    pub fn from_env() -> Bounds {
        let preemptions = env::var("RXLAB_LOOM_PREEMPTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
        Bounds { preemptions }
    }
}

/// What an exploration covered.
#[derive(Clone, Copy, Debug)]
pub struct Explored {
    /// Executions, all different.
    pub executions: u64,
    /// The bounds.
    pub bounds: Bounds,
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} executions with at most {} preemptions", self.executions, self.bounds.preemptions)
    }
}

/// Runs `test` in every interleaving, each on a fresh space; threads come from [`spawn`].
///
/// # Errors
/// The message of the first execution that panicked: a failed assertion of the test, a race, a
/// broken contract, a wake-up that never comes.
///
/// # Panics
/// A loop of the test has no bound.
pub fn explore<T>(bounds: Bounds, orders: &Arc<Orders>, test: T) -> Result<Explored, String>
where
    T: Fn(CheckedSpace) + Send + Sync + 'static,
{
    let executions = Arc::new(AtomicU64::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bounds.preemptions);
    builder.max_branches = BRANCHES;
    let (count, orders) = (executions.clone(), orders.clone());
    let run = move || {
        count.fetch_add(1, Ordering::Relaxed); // a statistic: orders nothing
        test(CheckedSpace::new(orders.clone()));
    };
    match catch_unwind(AssertUnwindSafe(|| builder.check(run))) {
        Ok(()) => Ok(Explored { executions: executions.load(Ordering::Relaxed), bounds }),
        Err(panic) => {
            let text = message(panic.as_ref());
            // The fault is the test's, not the ring's: it must not pass for a mistake that was caught.
            assert!(!text.contains("maximum number of branches"), "a polling loop has no bound");
            Err(text)
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message").into()
}

pub use loom::thread::spawn;
