//! The one bound that a model's functions carry.

mod bessel;
mod boilerplate;
mod condition;
mod functions;
mod jet;
pub mod random;
mod rounded;
mod second_order;
mod tape;
mod tracer;
mod variable;

pub use condition::Condition;
pub use jet::Jet;
pub use rounded::Rounded;
pub use second_order::{Derivatives, LANES, SecondOrder};
pub use tape::{Sweep, Taped, all_finite};
pub(crate) use tracer::has_chosen;
pub use tracer::{Tracer, with_branch_detection};
pub use variable::Var;

use condition::unseen;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects sums of products: the shorter list counts, there may be none, and jets go along.
    #[test]
    #[allow(clippy::float_cmp)]
    fn sums_of_products() {
        assert_eq!(f64::dot(&[2.0, 3.0, 5.0], &[7.0, 11.0]), 47.0);
        assert_eq!(f64::dot(&[], &[1.0]), 0.0);
        let sum = Number::dot(&[Jet { re: 2.0, eps: [1.0] }, Jet::from(3.0)], &[Jet { re: 5.0, eps: [4.0] }; 2]);
        assert_eq!((sum.re, sum.eps), (25.0, [5.0 + 8.0 + 12.0]));
    }

    /// Protects functions whose closed form loses all digits near zero: against sums of fractions, and derivatives against (2n + 1) jₙ' = n jₙ₋₁ - (n + 1) jₙ₊₁.
    #[test]
    fn spherical_bessel_functions_keep_their_digits() {
        let known = [
            (0, 1e-3, 0.999_999_833_333_341_6),
            (1, 1e-3, 0.000_333_333_300_000_001_2),
            (2, 1e-3, 6.666_666_190_476_204e-8),
            (2, 1.0, 0.062_035_052_011_373_86),
            (2, 2.9, 0.293_287_841_475_820_77),
            (2, 3.1, 0.302_678_954_008_171_85),
            (5, 0.5, 2.977_466_875_457_445_7e-6),
            (0, -4.0, -0.189_200_623_826_982_05),
        ];
        for (order, x, value) in known {
            let own = f64::spherical_bessel(x, order);
            assert!((own - value).abs() <= 4e-15 * value.abs(), "j{order}({x}): {own:e}, {value:e}");
        }
        for x in [0.0, 0.2, 0.99, 1.01, 2.5, 7.0, -3.3] {
            for order in 1..4u8 {
                let own = num_dual::Dual64::from(x).derivative().spherical_bessel(order);
                let [below, above] = [order - 1, order + 1].map(|order| f64::spherical_bessel(x, order));
                let n = f64::from(order);
                let slope = (n * below - (n + 1.0) * above) / (2.0 * n + 1.0);
                assert!((own.eps - slope).abs() <= 2e-15, "j{order}'({x}): {:e}, {slope:e}", own.eps);
            }
        }
    }

    /// Protects the structure of matrices: a choice depends on what either branch does and on what is compared, is taken for linear in nothing of it, and is
    /// not zero where one branch is, nor a constant where both are; nobody is told that values were looked at.
    #[test]
    fn choices_show_both_branches() {
        let ((chosen, table, constant), looked) = with_branch_detection(|| {
            let [x, y, z] = [0, 1, 2].map(|bit| Tracer::variable(0.5, bit));
            let chosen = Tracer::select(x.less(1.0) & !y.less(0.0), y * 2.0, z);
            let table = x.of_pieces(|_| (0.0, [1.0, 2.0, 0.0, 0.0]));
            let constant = Tracer::select(x.less(1.0), Tracer::from(0.0), Tracer::from(1.0));
            (Number::clamp(chosen, -1.0, 1.0), table, constant)
        });
        assert!(!looked);
        assert_eq!((chosen.depends, chosen.nonlinear), (0b111, 0b111));
        assert_eq!((table.depends, table.nonlinear), (0b1, 0b1));
        assert!(!constant.is_constant_zero() && !(constant - 1.0).is_constant_zero());
        assert_eq!((constant.depends, constant.nonlinear), (0b1, 0b1));
    }

    /// Protects the choice that is documented, with derivatives: beyond the kink on both sides, on it (that of the number itself),
    /// and NaN, which must not vanish.
    #[test]
    #[allow(clippy::float_cmp)]
    fn maxima_and_minima_take_derivatives_along() {
        let jet = |re: f64| Jet { re, eps: [1.0] };
        let both = |x: Jet<f64, 1>| (x.re, x.eps[0]);
        assert_eq!(both(jet(2.0).max(1.0)), (2.0, 1.0));
        assert_eq!(both(jet(0.5).max(1.0)), (1.0, 0.0));
        assert_eq!(both(jet(1.0).max(1.0)), (1.0, 1.0));
        assert_eq!(both(Jet::from(1.0).max(jet(1.0))), (1.0, 0.0));
        assert_eq!(both(jet(2.0).min(1.0)), (1.0, 0.0));
        assert_eq!(both(jet(0.5).min(jet(0.25) * 3.0)), (0.5, 1.0));
        assert_eq!([-3.0, 0.2, 3.0].map(|x| both(jet(x).clamp(-1.0, 1.0))), [(-1.0, 0.0), (0.2, 1.0), (1.0, 0.0)]);
        for x in [jet(f64::NAN).max(1.0), jet(1.0).max(f64::NAN), jet(f64::NAN).min(1.0), jet(1.0).min(f64::NAN)] {
            assert!(x.re.is_nan(), "{x:?}");
        }
    }
}
