//! A memory that only notes which table lines were touched.

use memory::{Buf, Fault, Memory, Ps, Touch};

/// The lines, by their bytes.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) touches: Vec<u64>,
    /// What lies in every buffer.
    pub(crate) frame: Vec<u8>,
}

impl Memory for Tally {
    type Words<const W: usize> = ();
    type Buffers = ();
    type Table = ();
    fn acquire<const W: usize>(&mut self, (): (), _: u64) -> u64 {
        0
    }
    fn relaxed<const W: usize>(&mut self, (): (), _: u64) -> u64 {
        0
    }
    fn release<const W: usize>(&mut self, (): (), _: u64, _: u64) {}
    fn publish<const W: usize>(&mut self, (): (), _: u64, _: [u64; W]) {}
    fn read<const W: usize>(&mut self, (): (), _: u64) -> [u64; W] {
        [0; W]
    }
    fn write<const W: usize>(&mut self, (): (), _: u64, _: [u64; W]) {}
    fn swap_if<const W: usize>(&mut self, (): (), _: u64, _: u64, _: u64) -> Result<(), u64> {
        Ok(())
    }
    fn or<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn clear<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn add<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn wait<const W: usize>(&mut self, (): (), _: u64, _: u64) {}
    fn idle(&mut self) {}
    fn pause(&mut self, _: Ps, _: bool) {}
    fn ring(&mut self, (): (), _: u64) {}
    fn check(&self, (): (), raw: u64, _: u32) -> Result<Buf, Fault> {
        Ok(Buf(raw))
    }
    fn put(&mut self, (): (), _: Buf, _: u32, _: &[u8], _: u32) {}
    fn get(&mut self, (): (), _: Buf, off: u32, out: &mut [u8], _: u32) {
        let here = self.frame.get(off as usize..).unwrap_or_default();
        let n = here.len().min(out.len());
        out[..n].copy_from_slice(&here[..n]);
    }
    fn meta(&mut self, (): (), _: Buf, _: u32, _: Touch) {}
    fn prefetch(&mut self, (): (), _: Buf, _: u32) {}
    fn touch(&mut self, (): (), off: u64, _: Touch) {
        self.touches.push(off);
    }
    fn now(&mut self) -> Ps {
        Ps::ZERO
    }
    fn work(&mut self, _: u32) {}
    fn chain(&mut self) {}
}
