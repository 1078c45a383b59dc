//! The table of interfaces, at the end of this file: one line for each. Everything that chooses one by name comes from
//! it. What sends is the transmit ring, unless the line says `sends Variant`. Halves of any interface dispatch once per
//! burst; inside a burst all calls are static.

use memory::{Memory, Ps, Space};

use crate::contract::{
    About, Buffers, Completion, Frame, Host, Nic, Outcome, Parameters, Segment, Spec, TxHost, TxNic, TxSizes,
    WithNic, WithTxNic, WriteBack,
};
use crate::sizes::SizeError;
use crate::tx;

/// [`Nic::deliver`] in a function of its own. In one function with those of all rings, each would keep less in
/// registers.
#[inline(never)]
fn apart<M: Memory, N: Nic<M>>(
    nic: &mut N,
    m: &mut M,
    queue: u16,
    frames: &[Frame<'_>],
    out: &mut [Outcome],
) {
    nic.deliver(m, queue, frames, out);
}

/// The variant of an interface's transmit halves: its own, or that of the ring that serves all others.
macro_rules! sends {
    ($any:ident) => {
        $any::Ring
    };
    ($any:ident $own:ident) => {
        $any::$own
    };
}

/// Binds what sends on a port of `$interface`: its own halves, or that ring's.
macro_rules! transmit {
    ($interface:ident, $space:ident, $sizes:ident, $queues:ident) => {{
        let _ = $interface;
        tx::build($space, $sizes, $queues)
    }};
    ($interface:ident, $space:ident, $sizes:ident, $queues:ident $own:ident) => {
        $crate::contract::Sends::transmit($interface, $space, $sizes, $queues)
    };
}

/// Makes all that depends on which interfaces there are, of `Variant = module` for each.
macro_rules! table {
    ($($variant:ident = $ring:ident $(sends $own:ident)?,)*) => {
        /// A receive interface and its sizes, alike for all queues of a port.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Interface {
            $(
                #[doc = concat!("[`", stringify!($ring), "`](crate::", stringify!($ring), ").")]
                $variant(crate::$ring::Sizes),
            )*
        }

        impl Interface {
            /// What there is to know of each interface.
            pub const ALL: &'static [&'static About] = &[$(&<crate::$ring::Sizes as Spec>::ABOUT,)*];

            /// Each interface with its usual sizes, in the order of [`Self::ALL`].
            pub fn usual() -> Vec<Interface> {
                vec![$(Interface::$variant(crate::$ring::Sizes::default()),)*]
            }

            /// What holds for it whatever its sizes are.
            pub fn about(&self) -> &'static About {
                match self { $(Interface::$variant(_) => &<crate::$ring::Sizes as Spec>::ABOUT,)* }
            }

            pub(super) fn sizes(&self) -> &dyn Parameters {
                match self { $(Interface::$variant(sizes) => sizes,)* }
            }

            pub(super) fn sizes_mut(&mut self) -> &mut dyn Parameters {
                match self { $(Interface::$variant(sizes) => sizes,)* }
            }

            pub(super) fn receive<S: Space>(
                &self,
                space: &mut S,
                queues: u32,
                buffers: <S::Mem as Memory>::Buffers,
            ) -> Result<(Vec<AnyHost<S::Mem>>, AnyNic<S::Mem>), SizeError> {
                Ok(match self {
                    $(Interface::$variant(sizes) => {
                        let (hosts, nic) = sizes.build(space, queues, buffers)?;
                        (hosts.into_iter().map(AnyHost::$variant).collect(), AnyNic::$variant(nic))
                    })*
                })
            }

            pub(super) fn transmit<S: Space>(
                &self,
                space: &mut S,
                sizes: TxSizes,
                queues: u32,
            ) -> Result<(Vec<AnyTxHost<S::Mem>>, AnyTxNic<S::Mem>), SizeError> {
                Ok(match self {
                    $(Interface::$variant(interface) => {
                        let (hosts, nic) = transmit!(interface, space, sizes, queues $($own)?)?;
                        let hosts = hosts.into_iter().map(sends!(AnyTxHost $($own)?)).collect();
                        (hosts, sends!(AnyTxNic $($own)?)(nic))
                    })*
                })
            }
        }

        /// A host half of any interface.
        pub enum AnyHost<M: Memory> {
            $(
                #[doc = concat!("Of [`", stringify!($ring), "`](crate::", stringify!($ring), ").")]
                $variant(<crate::$ring::Sizes as Spec>::Host<M>),
            )*
        }

        impl<M: Memory> Host<M> for AnyHost<M> {
            fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
                match self { $(AnyHost::$variant(half) => half.rx_burst(m, bufs, out),)* }
            }

            fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
                match self { $(AnyHost::$variant(half) => half.fill(m, bufs),)* }
            }

            fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
                match self { $(AnyHost::$variant(half) => half.drain(m, bufs),)* }
            }

            fn waiting(&self, m: &mut M) -> u64 {
                match self { $(AnyHost::$variant(half) => half.waiting(m),)* }
            }

            fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
                match self { $(AnyHost::$variant(half) => half.counter(i),)* }
            }
        }

        /// A NIC half of any interface.
        pub enum AnyNic<M: Memory> {
            $(
                #[doc = concat!("Of [`", stringify!($ring), "`](crate::", stringify!($ring), ").")]
                $variant(<crate::$ring::Sizes as Spec>::Nic<M>),
            )*
        }

        impl<M: Memory + 'static> AnyNic<M> {
            /// Hands over the half by its own type.
            pub fn with<T: WithNic<M>>(self, take: T) -> T::Out {
                match self { $(AnyNic::$variant(half) => take.with(half),)* }
            }
        }

        impl<M: Memory> Nic<M> for AnyNic<M> {
            fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
                match self { $(AnyNic::$variant(half) => apart(half, m, queue, frames, out),)* }
            }

            fn poll(&mut self, m: &mut M) -> Option<Ps> {
                match self { $(AnyNic::$variant(half) => half.poll(m),)* }
            }

            fn stop(&mut self, m: &mut M) {
                match self { $(AnyNic::$variant(half) => half.stop(m),)* }
            }

            fn stop_queue(&mut self, m: &mut M, queue: u16) {
                match self { $(AnyNic::$variant(half) => half.stop_queue(m, queue),)* }
            }

            fn start_queue(&mut self, m: &mut M, queue: u16) {
                match self { $(AnyNic::$variant(half) => half.start_queue(m, queue),)* }
            }

            fn is_congested(&self, queue: u16) -> bool {
                match self { $(AnyNic::$variant(half) => half.is_congested(queue),)* }
            }

            fn set_write_back(&mut self, how: WriteBack) {
                match self { $(AnyNic::$variant(half) => half.set_write_back(how),)* }
            }

            fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
                match self { $(AnyNic::$variant(half) => half.counter(i),)* }
            }
        }

        /// A host half that sends, of any interface.
        #[allow(clippy::large_enum_variant, reason = "each has room for a chunk of buffers")]
        pub enum AnyTxHost<M: Memory> {
            /// Of the transmit ring.
            Ring(tx::HostTx<M>),
            $($(
                #[doc = concat!("Of [`", stringify!($ring), "`](crate::", stringify!($ring), ").")]
                $own(<crate::$ring::Sizes as $crate::contract::Sends>::TxHost<M>),
            )?)*
        }

        impl<M: Memory> TxHost<M> for AnyTxHost<M> {
            #[inline]
            fn tx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, segs: &[Segment]) -> usize {
                match self {
                    AnyTxHost::Ring(half) => half.tx_burst(m, bufs, segs),
                    $($(AnyTxHost::$own(half) => half.tx_burst(m, bufs, segs),)?)*
                }
            }

            #[inline]
            fn reclaim<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
                match self {
                    AnyTxHost::Ring(half) => half.reclaim(m, bufs),
                    $($(AnyTxHost::$own(half) => half.reclaim(m, bufs),)?)*
                }
            }

            fn unread(&self, m: &mut M) -> u32 {
                match self {
                    AnyTxHost::Ring(half) => half.unread(m),
                    $($(AnyTxHost::$own(half) => half.unread(m),)?)*
                }
            }

            fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
                match self {
                    AnyTxHost::Ring(half) => half.drain(m, bufs),
                    $($(AnyTxHost::$own(half) => half.drain(m, bufs),)?)*
                }
            }

            #[inline]
            fn filled(&self) -> u32 {
                match self {
                    AnyTxHost::Ring(half) => half.filled(),
                    $($(AnyTxHost::$own(half) => half.filled(),)?)*
                }
            }
        }

        /// A NIC half that sends, of any interface.
        pub enum AnyTxNic<M: Memory> {
            /// Of the transmit ring.
            Ring(tx::NicTx<M>),
            $($(
                #[doc = concat!("Of [`", stringify!($ring), "`](crate::", stringify!($ring), ").")]
                $own(<crate::$ring::Sizes as $crate::contract::Sends>::TxNic<M>),
            )?)*
        }

        impl<M: Memory + 'static> AnyTxNic<M> {
            /// Hands over the half by its own type.
            pub fn with<T: WithTxNic<M>>(self, take: T) -> T::Out {
                match self {
                    AnyTxNic::Ring(half) => take.with(half),
                    $($(AnyTxNic::$own(half) => take.with(half),)?)*
                }
            }
        }

        impl<M: Memory> TxNic<M> for AnyTxNic<M> {
            fn limit(&mut self, queue: u16, bits_per_s: Option<u64>) {
                match self {
                    AnyTxNic::Ring(half) => half.limit(queue, bits_per_s),
                    $($(AnyTxNic::$own(half) => half.limit(queue, bits_per_s),)?)*
                }
            }

            fn stop_queue(&mut self, queue: u16) {
                match self {
                    AnyTxNic::Ring(half) => half.stop_queue(queue),
                    $($(AnyTxNic::$own(half) => half.stop_queue(queue),)?)*
                }
            }

            fn start_queue(&mut self, m: &mut M, queue: u16) {
                match self {
                    AnyTxNic::Ring(half) => half.start_queue(m, queue),
                    $($(AnyTxNic::$own(half) => half.start_queue(m, queue),)?)*
                }
            }

            #[inline(always)]
            fn collect(&mut self, m: &mut M, out: &mut Vec<Segment>) -> Option<(u16, usize)> {
                match self {
                    AnyTxNic::Ring(half) => half.collect(m, out),
                    $($(AnyTxNic::$own(half) => half.collect(m, out),)?)*
                }
            }

            #[inline(always)]
            fn sent(&mut self, m: &mut M, queue: u16, descriptors: usize) {
                match self {
                    AnyTxNic::Ring(half) => half.sent(m, queue, descriptors),
                    $($(AnyTxNic::$own(half) => half.sent(m, queue, descriptors),)?)*
                }
            }

            fn tell(&mut self, m: &mut M) {
                match self {
                    AnyTxNic::Ring(half) => half.tell(m),
                    $($(AnyTxNic::$own(half) => half.tell(m),)?)*
                }
            }

            #[inline]
            fn next_due(&self) -> Option<Ps> {
                match self {
                    AnyTxNic::Ring(half) => half.next_due(),
                    $($(AnyTxNic::$own(half) => half.next_due(),)?)*
                }
            }
        }
    };
}

// In the order in which lists name them.
table! {
    PrivRing = privring,
    ShRing = shring,
    RxBisect = rxbisect,
    Dynamic = dynamic,
    Corec = corec,
    DdRing = ddring,
    CcNic = ccnic sends CcNic,
    Ceio = ceio,
}
