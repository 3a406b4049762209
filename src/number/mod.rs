//! The one bound that a model's functions carry.

mod bessel;
mod boilerplate;
pub(crate) mod bound;
pub(crate) mod condition;
mod functions;
mod jet;
mod rounded;
mod second_order;
mod tape;
mod tracer;
mod variable;

// what every model names is named at the root of the crate alone
pub(crate) use bound::Number;
pub use jet::Jet;
pub use rounded::Rounded;
pub use second_order::{Derivatives, LANES, SecondOrder};
pub use tape::{Sweep, Taped, all_finite};
pub(crate) use tracer::has_chosen;
pub use tracer::{Tracer, with_branch_detection};
pub use variable::Var;

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
