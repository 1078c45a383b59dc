//! Pages beside the memory of a link that may not be touched: an access outside ends the test.

use core::ffi::c_void;
use core::ptr;
use std::fs;
use std::os::fd::BorrowedFd;

use ccnic::Channel;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

const PAGE: usize = 4096;

/// A mapping, given back at the end.
pub(crate) struct Mapped {
    at: *mut c_void,
    bytes: usize,
}

impl Mapped {
    /// The whole of a file of so many bytes.
    pub(crate) fn file(file: BorrowedFd<'_>, bytes: usize) -> Mapped {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the system picks touches no existing memory.
        let at = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0) }.unwrap();
        Mapped { at, bytes }
    }

    /// Zeros of this process alone.
    pub(crate) fn own(bytes: usize) -> Mapped {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: as above.
        let at = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, MapFlags::PRIVATE) }.unwrap();
        Mapped { at, bytes }
    }

    /// Pages that may not be touched, at `at` or wherever; none if something lies there.
    fn guard(at: usize, bytes: usize) -> Option<Mapped> {
        let (at, flags) = if at == 0 {
            (ptr::null_mut(), MapFlags::PRIVATE)
        } else {
            (ptr::without_provenance_mut(at), MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE)
        };
        // SAFETY: a new mapping that replaces none.
        let at = unsafe { mmap_anonymous(at, bytes, ProtFlags::empty(), flags) }.ok()?;
        Some(Mapped { at, bytes })
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.at.cast()
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: this mapping is ours, and nobody keeps a reference to it.
        unsafe { munmap(self.at, self.bytes) }.unwrap();
    }
}

/// What is mapped around the address: where it begins and ends.
fn around(address: usize) -> (usize, usize) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let ranges = maps.lines().filter_map(|line| line.split(' ').next()?.split_once('-'));
    let mut ranges = ranges.map(|(a, b)| [a, b].map(|hex| usize::from_str_radix(hex, 16).unwrap()));
    let [start, end] = ranges.find(|[start, end]| (*start..*end).contains(&address)).unwrap();
    (start, end)
}

/// Takes the place behind the next mapping: these fill all gaps in which there is room for it, from the highest on, and it
/// comes below the last of them.
pub(crate) struct Above(Vec<Mapped>);

impl Above {
    /// Less than a link's memory has, so that it finds no gap that these did not.
    const BYTES: usize = 8 * PAGE;
    /// Gaps between libraries have up to 2 MB.
    const COUNT: usize = 128;

    pub(crate) fn new() -> Above {
        Above((0..Above::COUNT).filter_map(|_| Mapped::guard(0, Above::BYTES)).collect())
    }

    /// Guards on both sides of the link's memory, which was made after this; or not on both.
    pub(crate) fn close(self, channel: &Channel) -> Option<[Mapped; 2]> {
        let (start, end) = around(channel.place().0.addr().get());
        let below = Mapped::guard(start - PAGE, PAGE)?;
        let above = self.0.into_iter().find(|guard| guard.at.addr() == end);
        Some([below, above.or_else(|| Mapped::guard(end, PAGE))?])
    }
}
