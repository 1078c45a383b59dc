//! corec, rule by rule (corec §3): threads held anywhere in a burst, claims that come a round late, what the NIC sees,
//! and the printed listing, which breaks.

mod aba;
mod held;
mod listing;
mod listing_ring;
mod port;
mod seen;
