//! Bytes on PCIe are those of the closed form, TLP by TLP.

use crate::world::{World, server};
use memory::{Buf, Geometry, Memory, Ps, Space};
use model::tlp_bytes;

/// Payload of a TLP, and what each adds to it, as the profiles have them.
const TLP: u64 = 256;
const OVERHEAD: u64 = 26;

/// One TLP after the other until the payload is sent.
fn sent(len: u64) -> u64 {
    let (mut left, mut bytes) = (len, 0);
    while left > 0 {
        let payload = left.min(TLP);
        bytes += payload + OVERHEAD;
        left -= payload;
    }
    bytes
}

#[test]
fn closed_form_for_every_length() {
    for len in 1..=9000 {
        assert_eq!(tlp_bytes(len, TLP, OVERHEAD), sent(len), "{len} B");
    }
    assert_eq!(tlp_bytes(64, TLP, OVERHEAD), 64 + 26);
    assert_eq!(tlp_bytes(1500, TLP, OVERHEAD), 1500 + 6 * 26);
    assert_eq!(tlp_bytes(0, TLP, OVERHEAD), 0);
}

/// At 100 ps a byte, the clock of a card that writes one frame after the other counts the bytes; so
/// does that of one that reads them.
#[test]
fn a_run_moves_as_many() {
    let mut w = World::new(server());
    let b = w.space.buffers(&Geometry::new(1, 9216, 64, 9000)).unwrap();
    w.nic(move |m| {
        let mut bytes = 0;
        for len in 1..=9000 {
            m.put(b, Buf(0), 0, &[7; 64], len);
            bytes += sent(u64::from(len));
            assert_eq!(m.now(), Ps(bytes * 100), "written up to {len} B");
        }
        for len in 1..=9000 {
            m.get(b, Buf(0), 0, &mut [], len);
            bytes += sent(u64::from(len));
            assert_eq!(m.now(), Ps(bytes * 100), "read up to {len} B");
        }
    });
    w.run();
}
