//! The key-value store of crate `apps` for C programs: frames in the program's own buffers.

use core::ptr;
use std::sync::LazyLock;

use apps::kv::{Kv, Partition, Shape};
use apps::{App, Batch};
use memory::native::{Foreign, Table};
use memory::{Backing, Buf, NativeView, Region};
use rings::Completion;

type View = NativeView<'static, Foreign>;

/// A partition of the store and what serves it.
pub struct KvHandle {
    app: Kv<Partition<View>>,
    m: View,
    batch: Batch,
}

/// A view needs a region to come from; frames lie elsewhere.
static REGION: LazyLock<Option<Region>> = LazyLock::new(|| Region::new(1 << 12, Backing::Heap).ok());

/// Partition `partition` of `partitions`, with room for `items` of 128 B keys and 1024 B values (1.2 KB each,
/// taken from the system as they arrive). NULL if there are fewer partitions, or no memory.
#[unsafe(no_mangle)]
pub extern "C" fn rxlab_kv_new(partition: u32, partitions: u32, items: u64) -> *mut KvHandle {
    let Some(region) = REGION.as_ref().filter(|_| partition < partitions) else { return ptr::null_mut() };
    let app = Kv::new(Partition::new(Shape::new(items), Table), partition, partitions, 0);
    let m = region.view_of();
    Box::into_raw(Box::new(KvHandle { app, m, batch: Batch::with_capacity(1) }))
}

/// Serves the request in the frame of `len` bytes at `frame`, and puts the reply in its place. Returns the
/// reply's length; 0 if the frame is no request, which gets no reply.
///
/// # Safety
/// `kv` came from [`rxlab_kv_new`], is not freed, and no other thread uses it now. `frame` points to `room`
/// bytes, at least `len` and 64, valid for reads and writes by this call alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_kv_serve(kv: *mut KvHandle, frame: *mut u8, len: u16, room: u16) -> u16 {
    // SAFETY: the caller's promise.
    let KvHandle { app, m, batch } = unsafe { &mut *kv };
    let c = Completion { buf: Buf(frame.expose_provenance() as u64), len, ..Completion::none() };
    // SAFETY: the one buffer that is used has `room` bytes behind its address, which are this call's own.
    let frames = unsafe { Foreign::new(0, room.into()) };
    let replies = batch.counters.sent;
    app.process(m, frames, &[c], batch);
    let reply = batch.send.pop().filter(|_| batch.counters.sent > replies);
    batch.free.clear();
    reply.map_or(0, |reply| reply.len)
}

/// Ends a partition.
///
/// # Safety
/// `kv` came from [`rxlab_kv_new`] and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_kv_free(kv: *mut KvHandle) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(kv) });
}

/// The partition among `partitions` that a frame is for, as its UDP destination port says; `partitions`
/// if it says none.
///
/// # Safety
/// `frame` points to `len` bytes, valid for reads during this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_kv_partition(frame: *const u8, len: u16, partitions: u32) -> u32 {
    // SAFETY: the caller's promise.
    let bytes = unsafe { core::slice::from_raw_parts(frame, len.into()) };
    let parsed = packet::parse(bytes);
    let ports = parsed.ports(bytes).filter(|_| parsed.proto == 17);
    let number = ports.map(|p| u32::from(u16::from_be_bytes([p[2], p[3]])));
    number.and_then(|n| n.checked_sub(packet::PARTITION_PORT.into())).unwrap_or(partitions).min(partitions)
}
