//! The card's transmit side: ends the frames that applications send, and judges them.

use apps::echo;
use memory::Memory;
use nic::TxPort;
use nic::reorder::Order;
use rings::AnyTxNic;

use crate::client::Client;
use crate::flows::checksums_hold;
use crate::ledger::Ledger;
use crate::stamp::Stamp;
use crate::tunnel::Tunnels;

/// Frames taken off the transmit rings in one go.
const SENT: usize = 64;

/// What comes back through the transmit rings.
pub(crate) struct Back<M: Memory> {
    pub(crate) tx: TxPort<M, AnyTxNic<M>>,
    pub(crate) ledger: Ledger,
    /// Judges the order, where it may differ.
    pub(crate) order: Option<Order>,
    /// Opens what is sealed.
    pub(crate) tunnels: Tunnels,
    /// Judges answers, where the workers serve requests.
    pub(crate) client: Option<Client>,
    /// The other end of connections, where the workers serve some.
    pub(crate) caller: Option<echo::Client>,
}

impl<M: Memory> Back<M> {
    /// Ends some of the frames that applications have sent; how many.
    pub(crate) fn take(&mut self, m: &mut M) -> usize {
        let Back { tx, ledger, order, tunnels, client, caller } = self;
        // One look at the clock for all of them.
        let now = m.now();
        for done in 0..SENT {
            let more = tx.send(m, |sent| {
                if let Some(caller) = caller {
                    return caller.receive(sent.head);
                }
                if let Some(client) = client {
                    return client.judge(sent.queue, sent.head);
                }
                let whole = tunnels.open(sent.head, sent.len);
                let stamp = whole.filter(|(head, len)| checksums_hold(head, *len));
                let stamp = stamp.and_then(|(head, _)| Stamp::read(head));
                let number = ledger.record(stamp);
                if let (Some(order), Some(stamp), Some(number)) = (order.as_mut(), stamp, number) {
                    order.see(number, Some(stamp.flow.into()), now);
                }
            });
            if !more {
                return done;
            }
        }
        SENT
    }
}
