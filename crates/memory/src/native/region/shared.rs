//! A region that lies in a file of its own, which other processes map too.
//!
//! **What a peer may do.** It may write anything anywhere at any time: fields, buffers, the header. So this side
//! copies header and directory once, judges the copy, and never looks at them again: what a handle reaches does not
//! change afterwards. Fields and buffers are reached as `AtomicU64`s alone, by masked indexes and checked buffer
//! numbers, and values leave them as copies: a peer that writes meanwhile delivers wrong values, which is what
//! [`check`](crate::Memory::check) and the rings are for, and no data race. No reference to plain memory is made.
//! It may not take pages away: the file is sealed against another size, which is checked at [`Region::attach`], and
//! a seal is never taken back.
//!
//! A peer that punches holes into the file gets zeros there, as if it had written them. With 2 MB pages a hole gives
//! a reserved page back; if others use it up meanwhile, the next access there kills the process. Who attaches to a
//! peer that it does not trust therefore takes ordinary pages.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::time::{ClockId, clock_gettime};

use super::{Backing, Region, Source, rounded};
use crate::native::directory::{self, Entry, Listing, Shape, WORDS, bad};
use crate::native::pages::{self, HUGE_PAGE};
use crate::{LINE, LayoutError, WORD};

/// Without these a peer could make the file shorter than it was when it was looked at.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);
/// How often the clocks are compared at most; a comparison can be interrupted.
const COMPARISONS: u32 = 16;

/// What a shared region has beside its bytes.
#[derive(Debug)]
pub(super) struct Shared {
    file: OwnedFd,
    /// Time zero of both sides.
    pub(super) start: Instant,
    role: Role,
    known: Mutex<Known>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Made here: what is bound is cut, and told in the directory.
    Made,
    /// Attached to: what is bound is looked up.
    Attached,
}

#[derive(Debug, Default)]
struct Known {
    listing: Listing,
    /// Stretches of buffers bound so far: the instance of the next one.
    buffers: u32,
}

impl Region {
    /// `bytes` of zeros in a file in memory that other processes can [`attach`](Self::attach) to, less a line for the
    /// header and one for each field. Bind everything first, then hand [`file`](Self::file) over: who attaches
    /// knows what the directory holds at that moment.
    ///
    /// # Errors
    /// The system has not that much, no huge pages are reserved, or the backing is [`Backing::Heap`].
    pub fn shared(bytes: usize, backing: Backing) -> io::Result<Region> {
        let huge = match backing {
            Backing::Heap => {
                let what = "memory of the allocator cannot be shared; allowed: Pages, Huge";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
            Backing::Pages => false,
            Backing::Huge => true,
        };
        let bytes = rounded(bytes.max(2 * LINE), if huge { HUGE_PAGE } else { LINE })?;
        let size = if huge { MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB } else { MemfdFlags::empty() };
        let file = memfd_create("rxlab", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | size)?;
        ftruncate(&file, bytes as u64)?;
        // No more seals either: a peer cannot add one that keeps others from attaching.
        fcntl_add_seals(&file, SEALS | SealFlags::SEAL)?;
        let zero = monotonic();
        let shared = Shared::new(file, zero, Role::Made)?;
        let base = map(&shared.file, bytes, huge)?;
        let region = Region::of(base, bytes, LINE, Source::Shared(shared));
        let first = region.line(0);
        for (word, value) in first.iter().zip(directory::header(bytes as u64, zero)) {
            word.store(value, Ordering::Relaxed); // the hand-over of the file orders it
        }
        Ok(region)
    }

    /// The region of another process, whose file this is. Its header and directory are read and judged once, here.
    ///
    /// # Errors
    /// The file can change its size, or does not hold a region that is sound in every part.
    pub fn attach(file: OwnedFd) -> io::Result<Region> {
        let seals = fcntl_get_seals(&file).map_err(|_| bad("the file is none in memory"))?;
        if !seals.contains(SEALS) {
            return Err(bad("the file is not sealed against another size"));
        }
        let size = fstat(&file)?.st_size;
        let bytes = usize::try_from(size).ok().filter(|b| *b >= 2 * LINE && b.is_multiple_of(LINE));
        let bytes = bytes.filter(|b| *b <= isize::MAX as usize - HUGE_PAGE);
        let bytes =
            bytes.ok_or_else(|| bad(format!("a file of {size} B; allowed: whole lines from 128 B")))?;
        // The time and what lies where are not known yet.
        let shared = Shared::new(file, monotonic(), Role::Attached)?;
        let base = map(&shared.file, bytes, false)?;
        let mut region = Region::of(base, bytes, bytes, Source::Shared(shared));
        let (zero, listing) = region.read_directory()?;
        let start = start(zero)?;
        if let Source::Shared(shared) = &mut region.source {
            shared.start = start;
            shared.known().listing = listing;
        }
        Ok(region)
    }

    /// The file of a shared region, to be handed over.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        match &self.source {
            Source::Shared(shared) => Some(shared.file.as_fd()),
            _ => None,
        }
    }

    /// Time zero and all entries, as they are at this moment.
    fn read_directory(&self) -> io::Result<(u64, Listing)> {
        // Partner: the release in `add`; the other words of the header were there before the file was.
        let count = self.line(0)[directory::COUNT].load(Ordering::Acquire);
        let mut header = self.copy(0);
        header[directory::COUNT] = count;
        let (zero, count) = directory::read_header(&header, self.bytes as u64)?;
        let lines: Vec<_> = (1..=count as usize).map(|k| self.copy(self.bytes / LINE - k)).collect();
        Ok((zero, directory::listing(&lines, self.bytes as u64)?))
    }

    /// Line `k` of the region.
    fn line(&self, k: usize) -> &[AtomicU64; WORDS] {
        assert!(k < self.bytes / LINE, "a line of the region");
        // SAFETY: the line lies inside the mapping, which lives as long as `self`, and is `AtomicU64`s for everyone
        // in this process. What another process does to them is atomic or at worst a torn value.
        unsafe { self.base.byte_add(k * LINE).cast().as_ref() }
    }

    fn copy(&self, k: usize) -> [u64; WORDS] {
        self.line(k).each_ref().map(|word| word.load(Ordering::Relaxed)) // ordered by the acquire of the count
    }

    /// Where something lies: cut here and now, or as the directory has it.
    pub(super) fn find(
        &self,
        shared: &Shared,
        name: &'static str,
        instance: Option<u32>,
        shape: Shape,
    ) -> Result<NonNull<AtomicU64>, LayoutError> {
        let mut known = shared.known();
        let instance = instance.unwrap_or(known.buffers);
        let fail = |what: String| Err(LayoutError { field: name, what });
        let key = (name.to_owned(), instance);
        let offset = match (shared.role, known.listing.get(&key)) {
            (Role::Made, Some(_)) => return fail(format!("{instance} is in the shared region already")),
            (Role::Made, None) => self.add(&known.listing, name, instance, shape)?,
            (Role::Attached, None) => return fail(format!("{instance} is not in the shared region")),
            (Role::Attached, Some((theirs, _))) if *theirs != shape => {
                return fail(format!("{instance} is {theirs:?} in the shared region, and {shape:?} here"));
            }
            (Role::Attached, Some((_, offset))) => *offset,
        };
        known.listing.insert(key, (shape, offset));
        if matches!(shape, Shape::Buffers(_)) {
            known.buffers += 1;
        }
        // SAFETY: `add` and `directory::listing` keep `offset` and what lies there inside the mapping.
        Ok(unsafe { self.base.byte_add(offset as usize) })
    }

    /// Cuts something new and tells of it in the directory; its offset.
    fn add(
        &self,
        listing: &Listing,
        name: &'static str,
        instance: u32,
        shape: Shape,
    ) -> Result<u64, LayoutError> {
        let count = listing.len() + 1;
        let fail = |what: String| LayoutError { field: name, what };
        if count as u64 > directory::MOST {
            return Err(fail(format!("one field too many; allowed: {}", directory::MOST)));
        }
        let offset = self.cut(name, shape.bytes(), self.bytes - LINE * count)?;
        let entry = Entry { name: name.to_owned(), instance, shape, offset: offset as u64 };
        let words = entry.encode().map_err(fail)?;
        for (word, value) in self.line(self.bytes / LINE - count).iter().zip(words) {
            word.store(value, Ordering::Relaxed); // ordered by the count below
        }
        // Partner: the acquire in `read_directory`.
        self.line(0)[directory::COUNT].store(count as u64, Ordering::Release);
        Ok(offset as u64)
    }
}

impl Shared {
    fn new(file: OwnedFd, zero: u64, role: Role) -> io::Result<Shared> {
        Ok(Shared { file, start: start(zero)?, role, known: Mutex::default() })
    }

    /// A thread that panicked left it as it was before its call, or after.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The whole file.
fn map(file: &OwnedFd, bytes: usize, huge: bool) -> io::Result<NonNull<AtomicU64>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that the system picks touches no existing memory. The file keeps its size,
    // so each of its bytes can be accessed as long as the mapping stays.
    let base = unsafe { mmap(core::ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0) };
    pages::mapped(base, bytes, huge)
}

/// Nanoseconds of the clock that all processes of this machine read alike (in one time namespace).
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// The moment at which [`monotonic`] was `zero`, to within the time that one look at the clock takes.
#[allow(clippy::disallowed_methods, reason = "this is the clock behind Memory::now")]
fn start(zero: u64) -> io::Result<Instant> {
    let (mut gap, mut best) = (u64::MAX, None);
    for _ in 0..COMPARISONS {
        let (before, now, after) = (monotonic(), Instant::now(), monotonic());
        if after - before < gap {
            gap = after - before;
            let passed = (before + gap / 2).checked_sub(zero);
            best = passed.and_then(|ns| now.checked_sub(Duration::from_nanos(ns)));
        }
    }
    best.ok_or_else(|| bad("its time zero lies in the future"))
}

const _: () = assert!(WORDS * WORD == LINE);
