//! One stretch of zeroed memory that fields, buffers and tables are cut from.

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::io;

use super::pages::{self, HUGE_PAGE};
use super::payload::{Buffers, Payload};
use super::view::{NativeView, Table, Words};
use crate::{Field, Geometry, LINE, LayoutError, Space, WORD};

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
///     Field { name: "head", len: 4, width: 2, class: Class::Signal, writer: Side::Nic, reader: Side::Host };
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
    /// `None`: lent, somebody else's to free.
    backing: Option<Backing>,
}

// SAFETY: the bytes are reached as `AtomicU64` alone, and `used` is atomic.
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
        let bytes = bytes
            .max(1)
            .checked_next_multiple_of(unit)
            .filter(|&b| b <= isize::MAX as usize - HUGE_PAGE)
            .ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "region larger than the address space")
            })?;
        let base = match backing {
            Backing::Heap => pages::heap(bytes)?,
            Backing::Pages | Backing::Huge => pages::anonymous(bytes, backing == Backing::Huge)?,
        };
        Ok(Region { base, bytes, used: AtomicUsize::new(0), backing: Some(backing) })
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
        Ok(Region { base: base.cast(), bytes, used: AtomicUsize::new(0), backing: None })
    }

    /// A view with its own clock start; views that must agree on the time are clones of one.
    pub fn view(&self) -> NativeView<'_> {
        NativeView::new()
    }

    /// [`view`](Self::view) for words of this region and packet buffers elsewhere.
    pub fn view_of<P: Payload>(&self) -> NativeView<'_, P> {
        NativeView::new()
    }

    /// A space with words of this region and packet buffers elsewhere.
    pub fn words_of<P: Payload>(&self) -> WordSpace<'_, P> {
        WordSpace { region: self, payload: PhantomData }
    }

    /// Bytes handed out so far.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed) // a statistic: orders nothing
    }

    /// The next `bytes`, starting on a line.
    fn cut(&self, name: &'static str, bytes: u64) -> Result<NonNull<AtomicU64>, LayoutError> {
        let wanted = usize::try_from(bytes).ok().and_then(|b| b.checked_next_multiple_of(LINE));
        let fits = |used: usize| used.checked_add(wanted?).filter(|&end| end <= self.bytes);
        // Relaxed: the handle reaches other threads by a hand-over that orders more than this.
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            // SAFETY: `start` is below `self.bytes`, so the sum stays inside the mapping.
            Ok(start) => Ok(unsafe { self.base.byte_add(start) }),
            Err(used) => Err(LayoutError {
                field: name,
                what: format!(
                    "needs {bytes} B; the region has {} B left of {}",
                    self.bytes - used,
                    self.bytes
                ),
            }),
        }
    }

    fn bind<const W: usize>(&self, field: &Field) -> Result<Words<'_, W>, LayoutError> {
        field.check::<W>()?;
        let bytes = u64::from(field.len) * u64::from(field.width) * WORD as u64;
        let base = self.cut(field.name, bytes)?;
        // SAFETY: `cut` gave `len * W` words of this region to this handle, which borrows it.
        Ok(unsafe { Words::new(base, field.len) })
    }
}

impl<'r> Space for &'r Region {
    type Mem = NativeView<'r>;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<Words<'r, W>, LayoutError> {
        self.bind(field)
    }

    fn buffers(&mut self, geometry: &Geometry) -> Result<Buffers<'r>, LayoutError> {
        geometry.check()?;
        if !(geometry.stride as usize).is_multiple_of(WORD) {
            let what = format!("have a stride of {} B; allowed: a multiple of {WORD}", geometry.stride);
            return Err(LayoutError { field: "buffers", what });
        }
        let base = self.cut("buffers", u64::from(geometry.count) * u64::from(geometry.stride))?;
        // SAFETY: `cut` gave `count * stride` bytes of this region to this handle for `'r`, the
        // geometry is checked and its stride is whole words.
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

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<Words<'r, W>, LayoutError> {
        self.region.bind(field)
    }

    fn buffers(&mut self, _geometry: &Geometry) -> Result<P, LayoutError> {
        Err(LayoutError { field: "buffers", what: "lie in memory of another allocator".into() })
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<Table, LayoutError> {
        Ok(Table)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match self.backing {
            None => {}
            // SAFETY: allocated by `heap` with this very size; no handle outlives the region.
            Some(Backing::Heap) => unsafe { pages::free(self.base, self.bytes) },
            // SAFETY: the region owns exactly this mapping, and no handle outlives it.
            Some(Backing::Pages | Backing::Huge) => unsafe { pages::unmap(self.base, self.bytes) },
        }
    }
}
