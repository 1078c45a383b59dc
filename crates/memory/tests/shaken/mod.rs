//! Native memory that gives its core away before each compare-and-swap: threads then interleave at the
//! contended word however few cores there are.

use memory::{Buf, Fault, Field, Geometry, LayoutError, Memory, NativeView, Ps, Region, Space, Touch};

type Native<'r> = NativeView<'r>;
type Words<'r, const W: usize> = <Native<'r> as Memory>::Words<W>;
type Buffers<'r> = <Native<'r> as Memory>::Buffers;
type Table<'r> = <Native<'r> as Memory>::Table;

pub(crate) struct Shaken<'r>(pub(crate) Native<'r>);

pub(crate) struct ShakenSpace<'r>(pub(crate) &'r Region);

impl<'r> Space for ShakenSpace<'r> {
    type Mem = Shaken<'r>;

    fn words<const W: usize>(&mut self, f: &Field, instance: u32) -> Result<Words<'r, W>, LayoutError> {
        self.0.words(f, instance)
    }
    fn buffers(&mut self, geometry: &Geometry) -> Result<Buffers<'r>, LayoutError> {
        self.0.buffers(geometry)
    }
    fn table(&mut self, name: &'static str, bytes: u64) -> Result<Table<'r>, LayoutError> {
        self.0.table(name, bytes)
    }
}

/// Calls that go through as they are.
macro_rules! same {
    ($(fn $name:ident<W>($($arg:ident: $of:ty),*) -> $out:ty;)*) => {
        $(fn $name<const W: usize>(&mut self, w: Words<'r, W>, i: u64, $($arg: $of),*) -> $out {
            self.0.$name(w, i, $($arg),*)
        })*
    };
    ($(fn $name:ident($($arg:ident: $of:ty),*) -> $out:ty;)*) => {
        $(fn $name(&mut self, $($arg: $of),*) -> $out {
            self.0.$name($($arg),*)
        })*
    };
}

impl<'r> Memory for Shaken<'r> {
    type Words<const W: usize> = Words<'r, W>;
    type Buffers = Buffers<'r>;
    type Table = Table<'r>;

    fn swap_if<const W: usize>(&mut self, w: Words<'r, W>, i: u64, old: u64, new: u64) -> Result<(), u64> {
        std::thread::yield_now();
        self.0.swap_if(w, i, old, new)
    }

    same! {
        fn acquire<W>() -> u64;
        fn relaxed<W>() -> u64;
        fn release<W>(signal: u64) -> ();
        fn publish<W>(entry: [u64; W]) -> ();
        fn read<W>() -> [u64; W];
        fn write<W>(entry: [u64; W]) -> ();
        fn or<W>(bits: u64) -> u64;
        fn clear<W>(bits: u64) -> u64;
        fn add<W>(n: u64) -> u64;
        fn wait<W>(seen: u64) -> ();
    }
    same! {
        fn idle() -> ();
        fn pause(until: Ps, early: bool) -> ();
        fn ring(bell: Words<'r, 1>, value: u64) -> ();
        fn put(b: Buffers<'r>, buf: Buf, off: u32, bytes: &[u8], len: u32) -> ();
        fn get(b: Buffers<'r>, buf: Buf, off: u32, out: &mut [u8], len: u32) -> ();
        fn meta(b: Buffers<'r>, buf: Buf, line: u32, how: Touch) -> ();
        fn prefetch(b: Buffers<'r>, buf: Buf, off: u32) -> ();
        fn touch(t: Table<'r>, off: u64, how: Touch) -> ();
        fn now() -> Ps;
        fn work(cycles: u32) -> ();
        fn chain() -> ();
    }

    fn check(&self, b: Buffers<'r>, raw: u64, len: u32) -> Result<Buf, Fault> {
        self.0.check(b, raw, len)
    }
}
