//! Flows that no core receives: RDMA writes into host memory (CEIO, section 2.1).

use memory::Ps;

/// Where a card has its writes put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// In the LLC, in the ways of DDIO, where nobody reads them before others take their place.
    Cache,
    /// In DRAM, past all caches.
    Memory,
}

/// A flow of RDMA writes to one region, packet by packet at a steady rate, the last write of each batch with immediate data.
///
/// A flow that changes its kind ends here and goes on in a source of frames, or the other way round
/// ([`traffic::Phases`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bypass {
    /// The port that it comes in at.
    pub port: u32,
    /// Its rate on the wire, Gbps. What all flows of a wire and its source offer together is for the caller to keep to
    /// the port's rate.
    pub gbps: f64,
    /// Bytes of a write.
    pub message: u32,
    /// Writes to each immediate.
    pub batch: u32,
    /// Bytes of its region, which it writes from end to end again and again.
    pub region: u64,
    /// Where they go.
    pub placed: Placed,
    /// Of a card with credits: whether it keeps its share of them. Else it is found inactive, and others have it
    /// (CEIO, section 4.1, Q3).
    pub keeps_credits: bool,
    /// Whether a core of its own takes what it writes for chunks of a file, as the host of LineFS does. It is held back by
    /// that: what has not been copied is not overwritten.
    pub files: bool,
    /// When it starts and stops.
    pub from: Ps,
    /// See `from`.
    pub until: Ps,
}

/// Payload of a packet: the RDMA path MTU below an Ethernet MTU of 1500 B (CEIO, section 4.1).
pub(crate) const PACKET: u32 = 1024;
/// What a packet of RoCE v2 has beside its payload on the wire: Ethernet 14 and FCS 4, IPv4 20, UDP 8, base transport
/// header 12, its checksum 4, preamble and gap 20.
pub(crate) const HEADERS: u32 = 82;

/// Entries of a flow's completion queue.
const COMPLETIONS: u64 = 64;
/// Bytes of one.
pub(crate) const COMPLETION: u32 = 64;
/// Bytes of all.
pub(crate) const QUEUE: u64 = COMPLETIONS * COMPLETION as u64;

/// Where the entry of an immediate is in its queue.
pub(crate) fn entry(nth: u64) -> u64 {
    nth % COMPLETIONS * u64::from(COMPLETION)
}

impl Bypass {
    /// The bytes of packet `nth` of a write.
    pub(crate) fn packet(&self, nth: u32) -> u32 {
        PACKET.min(self.message - nth * PACKET)
    }

    /// The packets of a write.
    pub(crate) fn packets(&self) -> u32 {
        self.message.div_ceil(PACKET)
    }

    /// Batches that fit its region, from its beginning on.
    pub(crate) fn batches(&self) -> u64 {
        self.region / self.batch_bytes()
    }

    /// Bytes of a batch.
    pub(crate) fn batch_bytes(&self) -> u64 {
        u64::from(self.message) * u64::from(self.batch)
    }

    /// What is wrong with it, and what is allowed.
    pub(crate) fn refused(&self, ports: usize, port_gbps: f64) -> Option<String> {
        let Bypass { port, gbps, message, batch, region, .. } = *self;
        if port as usize >= ports {
            return Some(format!("a bypass flow at port {port}; allowed: below {ports}"));
        }
        if !(gbps > 0.0 && gbps <= port_gbps) {
            return Some(format!("a bypass flow of {gbps} Gbps; allowed: above 0, up to {port_gbps}"));
        }
        if batch == 0 || message == 0 || u64::from(message) > region || region > REGION {
            return Some(format!(
                "a bypass flow that writes {message} B, {batch} to an immediate, into {region} B; allowed: at least 1 B \
                 and 1, into a region of at least one write and up to {REGION} B"
            ));
        }
        if self.files && region < u64::from(message) * u64::from(batch) {
            return Some(format!(
                "a file's flow with batches of {batch} writes of {message} B into {region} B; allowed: a region of a batch \
                 at least"
            ));
        }
        (self.from >= self.until).then(|| {
            format!(
                "a bypass flow from {} to {} ps; allowed: an end behind its start",
                self.from.0, self.until.0
            )
        })
    }
}

/// The largest region: 1 GiB.
const REGION: u64 = 1 << 30;
