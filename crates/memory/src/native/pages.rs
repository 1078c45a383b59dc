//! Where a region's bytes come from: the allocator, or pages of the system.

use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;
use std::alloc::{self, Layout};
use std::io;

#[cfg(unix)]
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::LINE;

/// Bytes of a page where [`Backing::Huge`](super::Backing::Huge) is asked for.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// `bytes` of zeros from the allocator; at least one line.
pub(super) fn heap(bytes: usize) -> io::Result<NonNull<AtomicU64>> {
    let layout = Layout::from_size_align(bytes, LINE).map_err(io::Error::other)?;
    // SAFETY: `bytes` is at least one line, so the layout is not empty.
    let base = unsafe { alloc::alloc_zeroed(layout) };
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// # Safety
/// [`heap`] gave `base` for so many `bytes`, and nothing uses them any more.
pub(super) unsafe fn free(base: NonNull<AtomicU64>, bytes: usize) {
    // SAFETY: the caller's; `heap` made this very layout.
    unsafe { alloc::dealloc(base.as_ptr().cast(), Layout::from_size_align_unchecked(bytes, LINE)) };
}

/// An anonymous mapping of zeros.
#[cfg(unix)]
pub(super) fn anonymous(bytes: usize, huge: bool) -> io::Result<NonNull<AtomicU64>> {
    #[cfg(target_os = "linux")]
    // Huge pages are reserved now: without one, a later access would kill the process.
    let extra = if huge { MapFlags::HUGETLB } else { MapFlags::NORESERVE };
    #[cfg(not(target_os = "linux"))]
    let extra = if huge { return Err(io::ErrorKind::Unsupported.into()) } else { MapFlags::empty() };
    // SAFETY: a new anonymous mapping at an address that the system picks touches no existing memory.
    let base = unsafe {
        mmap_anonymous(
            core::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | extra,
        )
    };
    mapped(base, bytes, huge)
}

/// What came of a call that maps `bytes`.
#[cfg(unix)]
pub(super) fn mapped(
    base: rustix::io::Result<*mut core::ffi::c_void>,
    bytes: usize,
    huge: bool,
) -> io::Result<NonNull<AtomicU64>> {
    let base = base.map_err(|cause| {
        let hint = if huge { "; reserve 2 MB pages in /proc/sys/vm/nr_hugepages" } else { "" };
        let cause = io::Error::from(cause);
        io::Error::new(cause.kind(), format!("cannot map {bytes} B: {cause}{hint}"))
    })?;
    NonNull::new(base.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// # Safety
/// `bytes` behind `base` are a whole mapping, and nothing uses it any more.
#[cfg(unix)]
pub(super) unsafe fn unmap(base: NonNull<AtomicU64>, bytes: usize) {
    // SAFETY: the caller's. It fails for what is no mapping alone, which the caller rules out.
    let _ = unsafe { munmap(base.as_ptr().cast(), bytes) };
}

#[cfg(not(unix))]
pub(super) fn anonymous(_bytes: usize, _huge: bool) -> io::Result<NonNull<AtomicU64>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// # Safety
/// As for the others: there is no mapping that it could be called for.
#[cfg(not(unix))]
pub(super) unsafe fn unmap(_base: NonNull<AtomicU64>, _bytes: usize) {}
