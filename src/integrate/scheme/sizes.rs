//! Numbers of coordinates and constraints that the compiler knows.

use super::Layout;

/// Calls a method for numbers of coordinates and constraints that the compiler knows where these are few: loops of a known length are not
/// loops. Zero and zero stand for any.
macro_rules! by_sizes {
    (@ $layout:expr, $arguments:tt, $own:ident.$method:ident, $($n:literal $m:literal),*) => {
        match ($layout.n, $layout.m) {
            $(($n, $m) => $own.$method::<$n, $m> $arguments,)*
            _ => $own.$method::<0, 0> $arguments,
        }
    };
    ($layout:expr, $own:ident.$method:ident $arguments:tt) => {
        $crate::scheme::sizes::by_sizes!(@ $layout, $arguments, $own.$method, 1 0, 2 0, 2 1, 3 0, 3 1, 3 2, 4 0, 4 1, 4 2, 4 3, 5 0,
            5 1, 5 2, 5 3, 6 0, 6 1, 6 2, 7 0, 7 1, 8 0)
    };
}
pub(super) use by_sizes;

/// A layout whose numbers of coordinates and constraints the compiler knows, unless both are zero.
#[inline(always)]
pub(super) fn sized<const N: usize, const M: usize>(layout: Layout) -> Layout {
    if N == 0 { layout } else { Layout { n: N, m: M, ..layout } }
}
