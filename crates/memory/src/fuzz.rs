//! What a fuzzer feeds; the same function runs in `cargo test` over random bytes.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::{Backing, Buf, Class, Field, Geometry, Mapping, Memory, Region, Side, Space};

/// Bytes of the sound region that is changed.
const BYTES: usize = 1024;
const RING: Field = Field {
    name: "ring",
    len: 8,
    width: 2,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};
const BELL: Field = Field {
    name: "bell",
    len: 1,
    width: 1,
    class: Class::Register(Mapping::Uncached),
    writer: Side::Host,
    reader: Side::Nic,
    home: Side::Host,
};
const WINDOW: Field = Field {
    name: "window",
    len: 4,
    width: 8,
    class: Class::Register(Mapping::Combining),
    writer: Side::Host,
    reader: Side::Nic,
    home: Side::Host,
};
const GEOMETRY: Geometry = Geometry::new(3, 72, 8, 64);

/// A sound region as the bytes of its file.
///
/// # Errors
/// The system makes none.
pub fn sound() -> io::Result<Vec<u8>> {
    let region = Region::shared(BYTES, Backing::Pages)?;
    let mut space = &region;
    space.words::<2>(&RING, 0).map_err(io::Error::other)?;
    space.words::<1>(&BELL, 7).map_err(io::Error::other)?;
    space.words::<8>(&WINDOW, 0).map_err(io::Error::other)?;
    space.buffers(&GEOMETRY).map_err(io::Error::other)?;
    let file = region.file().ok_or(io::ErrorKind::NotFound)?;
    let mut bytes = vec![0; BYTES];
    File::from(file.try_clone_to_owned()?).read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A file in memory that holds `bytes` and keeps its size.
///
/// # Errors
/// The system makes none.
pub fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create("fuzz", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let file = File::from(file);
    file.write_all_at(bytes, 0)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)?;
    Ok(file.into())
}

/// Attaches to a file of any bytes, or of a sound region that they change: each three bytes are a place and what is
/// added there. Whatever can be bound then is accessed from end to end.
///
/// # Panics
/// A handle shows what it must not.
pub fn attach(bytes: &[u8]) {
    let content = match bytes.split_first() {
        Some((1, changes)) => {
            let Ok(mut all) = sound() else { return };
            for [low, high, by] in changes.as_chunks::<3>().0 {
                let at = usize::from(u16::from_le_bytes([*low, *high])) % all.len();
                all[at] = all[at].wrapping_add(*by);
            }
            all
        }
        _ => bytes.to_vec(),
    };
    let Ok(file) = sealed(&content) else { return };
    if let Ok(region) = Region::attach(file) {
        use_all(&region);
    }
}

fn use_all(region: &Region) {
    let (mut space, mut m) = (region, region.view());
    let ring = space.words::<2>(&RING, 0);
    let bell = space.words::<1>(&BELL, 7);
    let window = space.words::<8>(&WINDOW, 0);
    let buffers = space.buffers(&GEOMETRY);
    if let Ok(ring) = ring {
        for i in 0..u64::from(RING.len) {
            m.publish(ring, i, [i, !i]);
        }
    }
    if let Ok(window) = window {
        (0..u64::from(WINDOW.len)).for_each(|i| m.write(window, i, [!i; 8]));
    }
    if let Ok(bell) = bell {
        m.ring(bell, 5);
    }
    if let Ok(b) = buffers {
        for i in 0..u64::from(GEOMETRY.count) {
            m.put(b, Buf(i), 0, &[i as u8; 64], 64);
        }
    }
    // The fields lie apart, so each still holds what was written to it.
    if let Ok(ring) = ring {
        assert!((0..u64::from(RING.len)).all(|i| m.read(ring, i) == [i, !i]), "the ring");
    }
    if let Ok(bell) = bell {
        assert_eq!(m.acquire(bell, 0), 5, "the bell");
    }
    if let Ok(window) = window {
        assert!((0..u64::from(WINDOW.len)).all(|i| m.read(window, i) == [!i; 8]), "the window");
    }
    if let Ok(b) = buffers {
        for i in 0..u64::from(GEOMETRY.count) {
            let mut out = [0; 64];
            m.get(b, Buf(i), 0, &mut out, 64);
            assert_eq!(out, [i as u8; 64], "buffer {i}");
        }
    }
}
