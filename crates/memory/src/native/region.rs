//! One stretch of zeroed memory that fields, buffers and tables are cut from.

#[cfg(target_os = "linux")]
mod shared;

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::io;

#[cfg(target_os = "linux")]
use self::shared::Shared;
use super::directory::{self, Shape};
use super::pages::{self, HUGE_PAGE};
use super::payload::{Buffers, Payload};
use super::view::{NativeView, Table, Words};
use crate::{Field, Geometry, LINE, LayoutError, Side, Space};

/// Where a [`Region`]'s bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// The allocator: any platform, small regions, Miri.
    Heap,
    /// An anonymous mapping with the system's ordinary pages.
    Pages,
    /// An anonymous mapping with 2 MB pages; they must have been reserved.
    Huge,
}

/// One mapping, handed out from the front and never taken back before the whole is dropped.
///
/// Every handle borrows it: fields, buffers and views cannot outlive the memory.
///
/// ```
/// use memory::{Backing, Class, Field, Memory, Region, Side, Space};
/// let region = Region::new(1 << 16, Backing::Heap)?;
/// let field =
///     Field { name: "head", len: 4, width: 2, class: Class::Signal, writer: Side::Nic, reader: Side::Host, home: Side::Host };
/// let head = (&region).words::<2>(&field, 0).map_err(std::io::Error::other)?;
/// let mut m = region.view();
/// m.publish(head, 5, [17, 1]);
/// assert_eq!(m.acquire(head, 1), 1); // 5 masked by 4 entries
/// assert_eq!(m.read(head, 1), [17, 1]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Region {
    base: NonNull<AtomicU64>,
    bytes: usize,
    /// Bytes handed out so far; grows by whole lines.
    used: AtomicUsize,
    source: Source,
}

/// Where the bytes came from, hence how they are given back.
#[derive(Debug)]
enum Source {
    /// Somebody else's to free.
    Lent,
    /// The allocator's.
    Heap,
    /// A mapping of this process alone.
    Mapped,
    /// A mapping of a file.
    #[cfg(target_os = "linux")]
    Shared(Shared),
}

// SAFETY: the bytes are reached as `AtomicU64` alone, `used` is atomic, and a shared region's list has a lock.
unsafe impl Send for Region {}
// SAFETY: as for `Send`.
unsafe impl Sync for Region {}

impl Region {
    /// `bytes` of zeros, rounded up to what the backing needs. Mapped pages cost nothing until they
    /// are touched, so a generous size is fine.
    ///
    /// # Errors
    /// The system has not that much, or no huge pages are reserved.
    pub fn new(bytes: usize, backing: Backing) -> io::Result<Region> {
        let unit = if backing == Backing::Huge { HUGE_PAGE } else { LINE };
        let bytes = rounded(bytes.max(1), unit)?;
        let (base, source) = match backing {
            Backing::Heap => (pages::heap(bytes)?, Source::Heap),
            Backing::Pages | Backing::Huge => {
                (pages::anonymous(bytes, backing == Backing::Huge)?, Source::Mapped)
            }
        };
        Ok(Region::of(base, bytes, 0, source))
    }

    /// `bytes` behind `base`, of which the first `used` are handed out.
    fn of(base: NonNull<AtomicU64>, bytes: usize, used: usize, source: Source) -> Region {
        Region { base, bytes, used: AtomicUsize::new(used), source }
    }

    /// A region in memory of another allocator, such as DPDK's. Dropping it frees nothing.
    ///
    /// # Safety
    /// `bytes` behind `base` are zero, valid for reads and writes until the region and all handles from it
    /// are gone, and used for nothing else meanwhile.
    ///
    /// # Errors
    /// `base` does not start a line.
    pub unsafe fn lent(base: NonNull<u8>, bytes: usize) -> io::Result<Region> {
        if !base.addr().get().is_multiple_of(LINE) {
            let what = format!("lent memory starts inside a line; allowed: a multiple of {LINE} B");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Region::of(base.cast(), bytes, 0, Source::Lent))
    }

    /// A view. Of a shared region all views have one clock, in every process. Of another region each has its own
    /// clock start: views that must agree on the time are clones of one.
    pub fn view(&self) -> NativeView<'_> {
        self.view_of()
    }

    /// [`view`](Self::view) for words of this region and packet buffers elsewhere.
    pub fn view_of<P: Payload>(&self) -> NativeView<'_, P> {
        match &self.source {
            #[cfg(target_os = "linux")]
            Source::Shared(shared) => NativeView::since(shared.start),
            _ => NativeView::new(),
        }
    }

    /// A space with words of this region and packet buffers elsewhere.
    pub fn words_of<P: Payload>(&self) -> WordSpace<'_, P> {
        WordSpace { region: self, payload: PhantomData }
    }

    /// Bytes handed out so far; all of them, of a region that was attached to.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed) // a statistic: orders nothing
    }

    /// The next `bytes`, starting on a line and ending before `end`: their offset.
    fn cut(&self, name: &'static str, bytes: u64, end: usize) -> Result<usize, LayoutError> {
        let wanted = usize::try_from(bytes).ok().and_then(|b| b.checked_next_multiple_of(LINE));
        let fits = |used: usize| used.checked_add(wanted?).filter(|&after| after <= end);
        // Relaxed: the handle reaches other threads by a hand-over that orders more than this.
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).map_err(|used| LayoutError {
            field: name,
            what: format!(
                "needs {bytes} B; the region has {} B left of {}",
                end.saturating_sub(used),
                self.bytes
            ),
        })
    }

    /// Where something starts: a line of the region, with as many bytes behind it as its shape has.
    fn place(
        &self,
        name: &'static str,
        instance: Option<u32>,
        shape: Shape,
    ) -> Result<NonNull<AtomicU64>, LayoutError> {
        #[cfg(target_os = "linux")]
        if let Source::Shared(shared) = &self.source {
            return self.find(shared, name, instance, shape);
        }
        let start = self.cut(name, shape.bytes(), self.bytes)?;
        // SAFETY: `start` is at most `self.bytes`, so the sum stays inside the mapping.
        Ok(unsafe { self.base.byte_add(start) })
    }

    fn bind<const W: usize>(&self, field: &Field, instance: u32) -> Result<Words<'_, W>, LayoutError> {
        field.check::<W>()?;
        let base = self.place(field.name, Some(instance), Shape::of(field))?;
        // SAFETY: `place` found room for `len * W` words of this region, which the handle borrows. They are
        // `AtomicU64`s to all handles, so it does no harm if another handle, or a process, has the same ones.
        Ok(unsafe { Words::new(base, field.len) })
    }
}

/// `bytes` up to the next multiple of `unit`.
fn rounded(bytes: usize, unit: usize) -> io::Result<usize> {
    let most = isize::MAX as usize - HUGE_PAGE;
    let bytes = bytes.checked_next_multiple_of(unit).filter(|&b| b <= most);
    bytes.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "region larger than the address space"))
}

impl<'r> Space for &'r Region {
    type Mem = NativeView<'r>;

    fn words<const W: usize>(&mut self, field: &Field, instance: u32) -> Result<Words<'r, W>, LayoutError> {
        self.bind(field, instance)
    }

    fn buffers(&mut self, geometry: &Geometry) -> Result<Buffers<'r>, LayoutError> {
        directory::aligned(geometry)?;
        let base = self.place("buffers", None, Shape::of_buffers(geometry))?;
        // SAFETY: `place` found room for `count * stride` bytes of this region for `'r`, the geometry is
        // checked and its stride is whole words. As for `bind`, others may have the same ones.
        Ok(unsafe { Buffers::new(base, geometry) })
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<Table, LayoutError> {
        Ok(Table) // the application's own memory holds it
    }
}

/// A [`Region`] that holds words alone: packet buffers lie where `P` says.
#[derive(Debug)]
pub struct WordSpace<'r, P> {
    region: &'r Region,
    payload: PhantomData<fn() -> P>,
}

impl<'r, P: Payload> Space for WordSpace<'r, P> {
    type Mem = NativeView<'r, P>;

    fn words<const W: usize>(&mut self, field: &Field, instance: u32) -> Result<Words<'r, W>, LayoutError> {
        self.region.bind(field, instance)
    }

    /// Those of a card's own memory alone.
    fn buffers(&mut self, geometry: &Geometry) -> Result<P, LayoutError> {
        let elsewhere =
            || LayoutError { field: "buffers", what: "lie in memory of another allocator".into() };
        if geometry.home != Side::Nic {
            return Err(elsewhere());
        }
        directory::aligned(geometry)?;
        let base = self.region.place("buffers", None, Shape::of_buffers(geometry))?;
        // SAFETY: `place` found room for `count * stride` bytes of this region. As all handles to its words, those to
        // these buffers are dropped before it: whoever has a space of words promises that for `'r`.
        unsafe { P::stretch(base, geometry) }.ok_or_else(elsewhere)
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<Table, LayoutError> {
        Ok(Table)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.source {
            Source::Lent => {}
            // SAFETY: allocated by `heap` with this very size; no handle outlives the region.
            Source::Heap => unsafe { pages::free(self.base, self.bytes) },
            // SAFETY: the region owns exactly this mapping, and no handle outlives it.
            Source::Mapped => unsafe { pages::unmap(self.base, self.bytes) },
            #[cfg(target_os = "linux")]
            // SAFETY: as before. Mappings of other processes are their own.
            Source::Shared(_) => unsafe { pages::unmap(self.base, self.bytes) },
        }
    }
}
