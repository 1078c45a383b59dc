//! The four layouts: one piece of code for each, chosen once per burst.

/// Something whose lanes have one of the layouts.
pub(super) enum Shaped<Group, Pad, Pack, Dense> {
    Group(Group),
    Pad(Pad),
    Pack(Pack),
    Dense(Dense),
}

/// A generic type over words of an entry, its descriptors, and words of a descriptor, in each of the layouts.
macro_rules! of_layout {
    ($kind:ident, $memory:ty) => {
        $crate::ccnic::shape::Shaped<
            $kind<$memory, 8, 4, 2>,
            $kind<$memory, 8, 1, 2>,
            $kind<$memory, 2, 1, 2>,
            $kind<$memory, 8, 8, 1>,
        >
    };
}

/// Calls something on what is inside, whatever its layout is.
macro_rules! inside {
    ($shaped:expr, $inner:ident => $call:expr) => {
        match $shaped {
            $crate::ccnic::shape::Shaped::Group($inner) => $call,
            $crate::ccnic::shape::Shaped::Pad($inner) => $call,
            $crate::ccnic::shape::Shaped::Pack($inner) => $call,
            $crate::ccnic::shape::Shaped::Dense($inner) => $call,
        }
    };
}

/// Runs a block with the three numbers of a layout as constants, and with what makes a [`Shaped`] of it.
macro_rules! shaped {
    ($layout:expr, $w:ident, $n:ident, $d:ident, $wrap:ident => $block:block) => {
        match $layout {
            $crate::ccnic::Layout::Group => {
                $crate::ccnic::shape::shaped!(@ 8, 4, 2, $w, $n, $d, $wrap, Group, $block)
            }
            $crate::ccnic::Layout::Pad => {
                $crate::ccnic::shape::shaped!(@ 8, 1, 2, $w, $n, $d, $wrap, Pad, $block)
            }
            $crate::ccnic::Layout::Pack => {
                $crate::ccnic::shape::shaped!(@ 2, 1, 2, $w, $n, $d, $wrap, Pack, $block)
            }
            $crate::ccnic::Layout::Dense => {
                $crate::ccnic::shape::shaped!(@ 8, 8, 1, $w, $n, $d, $wrap, Dense, $block)
            }
        }
    };
    (@ $a:literal, $b:literal, $c:literal, $w:ident, $n:ident, $d:ident, $wrap:ident, $variant:ident, $block:block) => {{
        const $w: usize = $a;
        const $n: usize = $b;
        const $d: usize = $c;
        use $crate::ccnic::shape::Shaped::$variant as $wrap;
        $block
    }};
}

pub(super) use {inside, of_layout, shaped};
