//! The bound itself, and what models may ask of a number besides arithmetic.

use super::condition::{Condition, unseen};
use super::{bessel, variable};

/// A real number as models see it: `f64`, a dual number of any kind, nested ones.
///
/// All arithmetic and the usual functions (`sin`, `cos`, `sqrt`, `exp`, `powi`, `atan2`, `tanh`, `abs` ...) come with it. Plain
/// floats go on the right: `x * 2.0`, not `2.0 * x`; constants are made with `D::from(2.0)`.
///
/// # Kinks
///
/// Numbers are compared by their values (`if x > D::from(0.0)`), and [`Number::max`], [`Number::min`] and [`Number::clamp`] choose
/// one of theirs, with its derivatives:
///
/// ```
/// use costate::Number;
///
/// /// A stop at x = 0.1 m: it pushes, and never pulls.
/// fn stop<D: Number>(x: D, stiffness: D) -> D {
///     -stiffness * (x - 0.1).max(0.0)
/// }
/// assert_eq!(stop(0.3, 50.0), -10.0);
/// assert_eq!(stop(0.05, 50.0), 0.0);
/// assert_eq!(7.0f64.clamp(-1.0, 1.0), 1.0);
/// ```
///
/// Such a function has no derivative at its kink, where the values are equal. What comes out there is a one-sided one: that of
/// the number which the function is called on (`x.max(0.0)` has slope 1 at x = 0, `D::from(0.0).max(x)` has slope 0). A gradient is
/// exact wherever no state lies just on a kink; of a cost that has a kink itself it is the slope to one side. Newton's iteration may
/// go back and forth over the kink of a stiff force, and second derivatives see nothing of it: where a mechanism rests on a kink, take a
/// smooth function instead, such as `((x * x + eps * eps).sqrt() + x) * 0.5` for `x.max(0.0)`.
///
/// A model that compares values by `if` is taken to depend on all its variables in that function: the structure of its matrices is not
/// exploited there, which may double the time of a run. [`Number::select`] shows both branches, and costs nothing of the kind:
///
/// ```
/// use costate::Number;
///
/// /// A spring that is stiffer in compression.
/// fn spring<D: Number>(x: D) -> D {
///     D::select(x.less(0.0), x * -80.0, x * -50.0)
/// }
/// assert_eq!(spring(-0.1), 8.0);
/// assert_eq!(spring(0.1), -5.0);
/// ```
///
/// This is [`num_dual::DualNum`] under a name of the field, so every number type of that crate goes through a model, too.
pub trait Number: num_dual::DualNum<Primitive = f64> + Copy + Send + Sync {
    /// True where this number is below another, false where either is none: for [`Number::select`].
    #[inline]
    fn less(self, other: impl Into<Self>) -> Condition {
        Condition::of(&self, &other.into(), |own, other| own < other)
    }

    /// True where this number is below another or equal to it, false where either is none: for [`Number::select`].
    #[inline]
    fn at_most(self, other: impl Into<Self>) -> Condition {
        Condition::of(&self, &other.into(), |own, other| own <= other)
    }

    /// `first` where the condition holds, `second` where it does not, with its derivatives. Both are computed: what is not taken may be infinite or
    /// no number.
    #[inline]
    fn select(condition: Condition, first: Self, second: Self) -> Self {
        condition.choose(first, second)
    }

    /// Value of a function that is made of pieces, each a cubic: from the value of this number, `piece` gives where its piece begins, x0, and the coefficients
    /// of 1, x - x0, (x - x0)² and (x - x0)³.
    #[inline]
    fn of_pieces(self, piece: impl FnOnce(f64) -> (f64, [f64; 4])) -> Self {
        let (begin, [a, b, c, d]) = piece(unseen(&self));
        let x = self - begin;
        let own = x * (x * (x * d + c) + b) + a;
        // other pieces are not linear where this one is
        Condition::ALWAYS.choose(own, own)
    }

    /// The spherical Bessel function of the first kind of this order: j₀(x) is sin(x)/x, and 1 at 0. All its digits near zero, too.
    fn spherical_bessel(self, order: u8) -> Self {
        bessel::spherical_bessel(order, self)
    }

    /// The larger of two numbers, with its derivatives; this one where they are equal. Not a number if either is not.
    #[inline]
    fn max(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        // false for NaN on either side
        let keeps = other.at_most(self);
        Self::select(keeps | Condition::of(&self, &self, |own, _| own.is_nan()), self, other)
    }

    /// The smaller of two numbers, with its derivatives; this one where they are equal. Not a number if either is not.
    #[inline]
    fn min(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        let keeps = self.at_most(other);
        Self::select(keeps | Condition::of(&self, &self, |own, _| own.is_nan()), self, other)
    }

    /// The number limited to the range between two others, with its derivatives: itself where it lies between them, otherwise the one that
    /// it is beyond. The upper one where they are in the wrong order.
    #[inline]
    fn clamp(self, lower: impl Into<Self>, upper: impl Into<Self>) -> Self {
        Number::min(Number::max(self, lower), upper)
    }

    /// The sum of products `x[0] * y[0] + x[1] * y[1] + ...`, over as many as both have. A loop gives the same, but gradients by many
    /// parameters are found faster with this: to them it is one operation.
    #[inline]
    fn dot(x: &[Self], y: &[Self]) -> Self {
        let loop_over = || x.iter().zip(y).fold(Self::from(0.0), |sum, (x, y)| sum + *x * *y);
        variable::products(x, y).unwrap_or_else(loop_over)
    }
}

impl<T: num_dual::DualNum<Primitive = f64> + Copy + Send + Sync> Number for T {}
