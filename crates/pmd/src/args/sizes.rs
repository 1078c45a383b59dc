//! The sizes of the rings that arguments and a start ask for.

use rings::{Interface, corec, ddring, dynamic, privring, rxbisect, shring};

use super::Args;
use super::kind::Kind;

/// Fewest entries of an Ax ring where `ax` is not given: what NICs ask of a ring (rxbisect §4.5).
const LEAST_AX: u32 = 64;

impl Args {
    /// The interface with `desc` descriptors for each of `queues`: the ring (`privring`, `ddring`, `corec`),
    /// the completion ring (`shring`, `dynamic`), Bx (`rxbisect`). It has `threads` host halves for each.
    pub(crate) fn interface(&self, desc: u32, queues: u32) -> Interface {
        let (ring, shared_by) = (self.ring.unwrap_or(desc), self.shared.unwrap_or(queues));
        match self.iface {
            Kind::PrivRing => Interface::PrivRing(privring::Sizes { ring: desc }),
            Kind::ShRing => {
                Interface::ShRing(shring::Sizes { ring, shared_by, completions: desc, ..Default::default() })
            }
            Kind::Dynamic => {
                let usual = dynamic::Sizes::default();
                let report = usual.report.min(ring);
                Interface::Dynamic(dynamic::Sizes { ring, shared_by, completions: desc, report, ..usual })
            }
            Kind::DdRing => Interface::DdRing(ddring::Sizes {
                ring: desc,
                shared_by: self.threads(),
                refill: self.refill.unwrap_or(ddring::Refill::Bulk),
            }),
            Kind::Corec => {
                Interface::Corec(corec::Sizes { ring: desc, shared_by: self.threads(), ..Default::default() })
            }
            Kind::RxBisect => {
                let usual = rxbisect::Sizes::default();
                let group = self.group.unwrap_or(usual.group);
                // A burst ends where the usual Bx ring is full: frames beyond need no buffers (rxbisect §4.5).
                let (burst, sharing) = (desc.min(usual.bx), if group == 0 { queues } else { group });
                let ax = || rxbisect::Sizes::least_ax(burst, sharing).max(LEAST_AX);
                Interface::RxBisect(rxbisect::Sizes {
                    ax: self.ax.unwrap_or_else(ax),
                    bx: desc,
                    group,
                    batch: self.batch.unwrap_or(usual.batch.min(desc)),
                    timeout: self.timeout.unwrap_or(usual.timeout),
                    alloc_queues: 0,
                })
            }
        }
    }
}
