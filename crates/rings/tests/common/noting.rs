//! Native memory whose words a test overwrites.

use memory::{Field, Geometry, LayoutError, Memory, NativeView, Region, Space};

type View<'r> = NativeView<'r>;
type Pool<'r> = <View<'r> as Memory>::Buffers;

/// Overwrites a word of a field.
pub type Poke<'r> = Box<dyn Fn(&mut View<'r>, u64, u64) + 'r>;

/// A region, and how the fields that were bound in it can be overwritten.
pub struct Noting<'r> {
    region: &'r Region,
    /// Name, instance, and how to overwrite it.
    pub pokes: Vec<(&'static str, u32, Poke<'r>)>,
}

impl<'r> Noting<'r> {
    pub fn new(region: &'r Region) -> Noting<'r> {
        Noting { region, pokes: Vec::new() }
    }
}

impl<'r> Space for Noting<'r> {
    type Mem = View<'r>;

    fn words<const W: usize>(
        &mut self,
        field: &Field,
        instance: u32,
    ) -> Result<<View<'r> as Memory>::Words<W>, LayoutError> {
        let words = Space::words::<W>(&mut self.region, field, instance)?;
        let all = u64::from(field.len) * W as u64;
        let poke = move |m: &mut View<'r>, word: u64, value: u64| {
            let (i, k) = (word % all / W as u64, word % W as u64);
            let mut entry: [u64; W] = m.read(words, i);
            entry[k as usize] = value;
            m.publish(words, i, entry);
        };
        self.pokes.push((field.name, instance, Box::new(poke)));
        Ok(words)
    }

    fn buffers(&mut self, g: &Geometry) -> Result<Pool<'r>, LayoutError> {
        self.region.buffers(g)
    }

    fn table(&mut self, name: &'static str, bytes: u64) -> Result<<View<'r> as Memory>::Table, LayoutError> {
        self.region.table(name, bytes)
    }
}
