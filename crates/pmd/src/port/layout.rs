//! What the rings of a start take, and how they lie in its memory.

use memory::native::Foreign;
use memory::{Backing, LINE, Region};
use rings::{AnyNic, AnyTxNic};

use super::queues::HostHalves;
use super::start::Start;
use crate::View;
use crate::args::Args;
use crate::error::Error;
use crate::halves::RxHalves;
use crate::limits::HALVES;

/// No port's words take more, in bytes.
const MOST: usize = 16 << 30;

/// The rings of a port that starts.
pub(super) struct Layout<'a> {
    /// The port's name.
    pub(super) name: &'a str,
    pub(super) args: &'a Args,
    pub(super) start: &'a Start,
}

/// Both halves of all rings.
pub(super) struct Built {
    pub(super) hosts: HostHalves,
    pub(super) nic: AnyNic<View>,
    pub(super) tx: AnyTxNic<View>,
}

impl Layout<'_> {
    /// Host halves of all Rx rings.
    pub(super) fn halves(&self) -> RxHalves {
        RxHalves::new(self.start.rx_rings(), self.args.threads() as u16)
    }

    /// Bytes of memory that the rings take.
    ///
    /// # Errors
    /// A size is not allowed.
    pub(super) fn bytes(&self) -> Result<usize, Error> {
        self.check()?;
        // The rings are laid out on trial, so that nothing else keeps account of what they take. The trial's memory is
        // little more than they need: a program that locks its memory gets all that it asks for.
        let mut bytes = 1 << 20;
        loop {
            let region = Region::new(bytes, Backing::Heap)
                .map_err(|e| Error::Invalid(format!("{}: {e}", self.name)))?;
            // SAFETY: the handles are dropped before the region, at the end of the match.
            let lasting: &'static Region = unsafe { &*core::ptr::from_ref(&region) };
            match self.build(lasting).map(drop) {
                Ok(()) => return Ok(region.used().next_multiple_of(LINE)),
                Err(e) if bytes >= MOST => return Err(e),
                Err(_) => bytes *= 2,
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        let Layout { name, args, start } = self;
        let (queues, threads) = (u32::from(start.rx_rings()), args.threads());
        let halves = self.halves().count();
        if halves > HALVES {
            let most = HALVES / threads;
            let what =
                format!("{queues} Rx queues, threads={threads}: {halves} host halves; allowed: {HALVES}");
            return Err(Error::Invalid(format!("{name}: {what}, here {most} Rx queues")));
        }
        // Before the rings check their sizes: they have other words for it.
        args.fits(start.rx_desc, queues)?;
        args.interface(start.rx_desc, queues).validate(halves)?;
        start.tx_sizes().validate(u32::from(start.tx_rings()))?;
        Ok(())
    }

    /// Lays the rings out in `region`.
    ///
    /// # Errors
    /// A size is not allowed, or the region too small.
    pub(super) fn build(&self, region: &'static Region) -> Result<Built, Error> {
        let Layout { args, start, .. } = self;
        let frames = start.buffers(args.front())?;
        let interface = args.interface(start.rx_desc, start.rx_rings().into());
        let mut space = region.words_of::<Foreign>();
        let tx = (start.tx_sizes(), start.tx_rings().into());
        let port = rings::build(&mut space, &interface, self.halves().count(), tx, frames)?;
        let hosts = HostHalves { rx: port.hosts, tx: port.tx_hosts };
        Ok(Built { hosts, nic: port.nic, tx: port.tx_nic })
    }
}
