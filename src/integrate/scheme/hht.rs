//! Hilber, Hughes and Taylor's scheme, in two forms (Lauss 2018, eqs. (12)-(15)), with g = C_qᵀ λ - Q:
//!
//! ```text
//! consistent:  M_i q''_i + g_i = 0,  q''_i = (a_i + α q''_{i-1}) / (1+α)
//! as printed:  (M a)_i / (1+α) + g_i - α/(1+α) g_{i-1} = 0
//! both:        C(q_i, t_i, u) = 0, and Newmark's formulas with α_m = 0, α_f = -α
//! ```
//!
//! For a constant M the two are the same equation. With M(q) and α ≠ 0 the printed form is of first order, because it takes M at t_i and
//! a_i at t_i + α h; the consistent form keeps second order, on even steps. On uneven ones a_{i-1} belongs to t_{i-1} + α h_{i-1}, and both
//! are of first order where α ≠ 0.

use super::balance::{Balance, Block, Inertia};
use super::newmark::Newmark;
use super::{Description, Scheme};
use crate::system::Level;
use crate::{Error, Result};

/// Form of the step equation that is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Equations of motion at t_i with the consistent acceleration: second order for every M.
    #[default]
    Consistent,
    /// The equation as printed in Lauss 2018, eq. (13): first order where M depends on q.
    Literal,
}

/// Hilber, Hughes and Taylor's scheme with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Hht {
    alpha: f64,
    form: Form,
    cured_start: bool,
}

impl Hht {
    /// `alpha` in [-1/3, 0]; 0 is the trapezoidal rule, smaller values damp high frequencies.
    ///
    /// # Errors
    /// [`Error::Invalid`] outside that interval.
    pub fn new(alpha: f64) -> Result<Self> {
        // -1/3 has no exact double: accept what rounds to it
        if !(-1.0 / 3.0 - 1e-12..=0.0).contains(&alpha) {
            let problem = format!("{alpha} lies outside [-1/3, 0], where the scheme is stable and of second order");
            return Err(Error::invalid("alpha of the HHT scheme", problem, "use -0.1, for example"));
        }
        Ok(Hht { alpha, form: Form::Consistent, cured_start: false })
    }

    /// Chooses the form of the equation.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Order of accelerations and multipliers behind the start: 1 as published, 2 with the start of generalized-α.
    ///
    /// # Errors
    /// [`Error::Invalid`] for other orders.
    pub fn start_order(mut self, order: f64) -> Result<Self> {
        self.cured_start = order == 2.0;
        match order == 1.0 || self.cured_start {
            true => Ok(self),
            false => Err(Error::invalid("start_order of hht", format!("it is {order}"), "use 1, as published, or 2")),
        }
    }

    fn newmark(&self) -> Newmark {
        Newmark::new(0.0, -self.alpha)
    }
}

/// C_qᵀ λ - Q of the step before, in the form as printed.
const G: Block = Block::own(0);

impl Scheme for Hht {
    fn description(&self) -> Description {
        let is_literal = self.form == Form::Literal;
        let mut settings = vec![("alpha", self.alpha)];
        settings.extend(self.cured_start.then_some(("start_order", 2.0)));
        Description {
            name: if is_literal { "hht-literal" } else { "hht" },
            settings,
            own_blocks: if self.cured_start { Newmark::STARTS_WITH } else { u8::from(is_literal) },
            carried_blocks: u8::from(is_literal),
            recovered_acceleration: Some([1.0 + self.alpha, -self.alpha]),
            rings_with_constraints: (self.alpha == 0.0).then_some("take alpha = -0.05"),
            largest_ratio: [2.0, super::UNSTABLE_BEYOND],
            of_given_motion: false,
            on_uneven_steps: [(self.alpha != 0.0).then_some("it is of first order there"), Some(super::UNSTABLE)],
        }
    }

    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        if self.form == Form::Literal {
            let again = Balance::of_motion(Level::Acceleration, Inertia::Of(Block::A));
            balances.push(again.set(Block::A, [], 1.0).keep_force(G));
        } else if self.cured_start {
            self.newmark().start(h, true, balances);
        }
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        let c = 1.0 / (1.0 + self.alpha);
        let inertia = if self.form == Form::Literal { Inertia::Unknown(c) } else { Inertia::Of(Block::A) };
        let balance = self.newmark().set(Balance::of_motion(Level::Position, inertia), h, 1.0);
        balances.push(match self.form {
            Form::Consistent => balance,
            Form::Literal => balance.with_load([(G, -self.alpha * c)]).keep_force(G),
        });
    }

    fn local_error(&self, h: f64, _ratio: f64) -> [f64; 3] {
        self.newmark().local_error(h, 1.0)
    }
}
