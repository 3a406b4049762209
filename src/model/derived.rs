//! Parameters that follow from others: u = f(p), above the waist, for any mechanism.
//!
//! Gradients by p are Jᵀ g with J = ∂f/∂p and g those by u; Hessians have Σ gᵢ ∇²fᵢ besides Jᵀ H J. Nothing above or below knows of it.

use crate::error::Error;
use crate::number::{Jet, Number};
use crate::sketch::Sketch;
use crate::system::{
    Blocks, By, Equations, Evaluator, Level, Mode, Orders, OutputPoint, Point, SingularMatrix, StateVector, System,
    Weights,
};
use crate::{Matrix, Parameter, Result, Signature};
use std::sync::Arc;

type Dual = Jet<f64, 1>;
type Second = Jet<Dual, 1>;

/// How some parameters of a mechanism follow from others; written once, for all number types.
pub trait Dependence: Send + Sync {
    /// Values of the dependent parameters, in the order in which [`Derived::new`] is told of them, from those of [`Derived`], `p`.
    fn values<D: Number>(&self, p: &[D], dependent: &mut [D]);
}

/// A dependence without its number types.
trait Mapped: Send + Sync {
    fn plain(&self, p: &[f64], dependent: &mut [f64]);
    fn first(&self, p: &[Dual], dependent: &mut [Dual]);
    fn second(&self, p: &[Second], dependent: &mut [Second]);
}

impl<F: Dependence> Mapped for F {
    fn plain(&self, p: &[f64], dependent: &mut [f64]) {
        self.values(p, dependent);
    }

    fn first(&self, p: &[Dual], dependent: &mut [Dual]) {
        self.values(p, dependent);
    }

    fn second(&self, p: &[Second], dependent: &mut [Second]) {
        self.values(p, dependent);
    }
}

/// A mechanism some of whose parameters follow from others: those stay its parameters, in their order, and new ones stand behind them.
///
/// ```
/// # use costate::{Model, Number, Parameter, Plain, Signature};
/// # use costate::derived::{Dependence, Derived};
/// # use costate::system::System;
/// # struct Pendulum;
/// # impl Model for Pendulum {
/// #     fn signature(&self) -> Signature {
/// #         let parameter = |name: &str, unit: &str| Parameter::new(name, unit, 1.0);
/// #         Signature::new("pendulum").coordinates([("phi", "rad")])
/// #             .parameters([parameter("inertia", "kg m^2"), parameter("moment", "kg m")])
/// #     }
/// #     fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut costate::Matrix<D>) { m[(0, 0)] = u[0]; }
/// #     fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
/// #         force[0] = -u[1] * 9.81 * q[0].sin();
/// #     }
/// # }
/// /// A rod of mass m and length l has the inertia m l²/3 and the first moment m l/2.
/// struct Rod;
///
/// impl Dependence for Rod {
///     fn values<D: Number>(&self, p: &[D], dependent: &mut [D]) {
///         let (m, l) = (p[0], p[1]);
///         dependent[0] = m * l * l / 3.0;
///         dependent[1] = m * l / 2.0;
///     }
/// }
///
/// let added = vec![Parameter::new("m", "kg", 2.0), Parameter::new("l", "m", 0.6)];
/// let rod = Derived::new(std::sync::Arc::new(Plain::new(Pendulum)?), &["inertia", "moment"], added, Rod)?;
/// assert_eq!(rod.signature().nominal(), [2.0, 0.6]);
/// assert_eq!(rod.values(&[2.0, 0.6]), [2.0 * 0.6 * 0.6 / 3.0, 0.6]);
/// # Ok::<(), costate::Error>(())
/// ```
pub struct Derived {
    inner: Arc<dyn System>,
    signature: Signature,
    dependence: Box<dyn Mapped>,
    /// Places in the mechanism's parameters of the own ones that it has.
    kept: Vec<usize>,
    /// Places in the mechanism's parameters of the dependent ones.
    dependent: Vec<usize>,
    remarks: Vec<String>,
}

impl Derived {
    /// The mechanism `inner`, whose parameters of the names `dependent` follow from its other ones and those that are `added`.
    ///
    /// # Errors
    /// Names that the mechanism does not have, or that are given twice; coefficients of a motion; values that are not finite at the nominal
    /// parameters.
    pub fn new(
        inner: Arc<dyn System>,
        dependent: &[&str],
        added: Vec<Parameter>,
        dependence: impl Dependence + 'static,
    ) -> Result<Self> {
        let old = inner.signature();
        let places = dependent.iter().map(|name| old.parameter_index(name)).collect::<Result<Vec<_>>>()?;
        let refuse = |k: usize, problem: String, remedy: &str| {
            Err(Error::invalid(format!("parameter `{}`", old.parameters[k].name), problem, remedy))
        };
        for (number, &k) in places.iter().enumerate() {
            if places[..number].contains(&k) {
                return refuse(k, "it follows from others twice".into(), "say once what it is");
            }
            if let Some(motion) = old.motions.iter().find(|motion| motion.places().contains(&k)) {
                let problem = format!("it is a coefficient of the motion `{}`", motion.quantity.name);
                return refuse(k, problem, "let it be free or fixed");
            }
        }
        let kept: Vec<usize> = (0..old.parameters.len()).filter(|k| !places.contains(k)).collect();
        let mut signature = old.clone();
        signature.parameters = kept.iter().map(|&k| old.parameters[k].clone()).chain(added).collect();
        for motion in &mut signature.motions {
            motion.first -= places.iter().filter(|&&k| k < motion.first).count();
        }
        signature.validate()?;
        let remarks = inner.remarks().to_vec();
        let mut derived =
            Derived { inner, signature, dependence: Box::new(dependence), kept, dependent: places, remarks };
        let values = derived.values(&derived.signature.nominal());
        if let Some(number) = values.iter().position(|value| !value.is_finite()) {
            let name = &derived.inner.signature().parameters[derived.dependent[number]].name;
            let problem = format!("its formula gives {} at the nominal values", values[number]);
            return Err(Error::invalid(format!("parameter `{name}`"), problem, "check the formula, or these values"));
        }
        // the mechanism does not see that something follows from a parameter
        let nominal = derived.signature.nominal();
        let away: Vec<f64> = (0..nominal.len())
            .map(|k| nominal[k] + 0.1 * derived.signature.parameters[k].size_from(nominal[k]))
            .collect();
        let slopes = [derived.jacobian(&nominal), derived.jacobian(&away)];
        let follows =
            |k: &usize| slopes.iter().any(|slopes| (0..derived.dependent.len()).any(|i| slopes[(i, *k)] != 0.0));
        let used: Vec<String> =
            (0..nominal.len()).filter(follows).map(|k| format!("`{}`", derived.signature.parameters[k].name)).collect();
        let is_wrong = |remark: &String| {
            remark.contains("nothing depends on parameter") && used.iter().any(|name| remark.contains(name))
        };
        derived.remarks = derived.inner.remarks().iter().filter(|remark| !is_wrong(remark)).cloned().collect();
        Ok(derived)
    }

    /// The mechanism with all its parameters.
    pub fn inner(&self) -> &Arc<dyn System> {
        &self.inner
    }

    /// Dependent parameters, as the mechanism has them.
    pub fn dependent(&self) -> impl Iterator<Item = &Parameter> {
        self.dependent.iter().map(|&k| &self.inner.signature().parameters[k])
    }

    /// Values of the dependent parameters.
    pub fn values(&self, p: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.dependent.len()];
        self.dependence.plain(p, &mut values);
        values
    }

    /// Derivatives of the dependent parameters, a row each, by the own ones.
    pub fn jacobian(&self, p: &[f64]) -> Matrix<f64> {
        let mut jacobian = Matrix::filled(self.dependent.len(), p.len(), 0.0);
        let mut at: Vec<Dual> = p.iter().map(|&re| Jet { re, eps: [0.0] }).collect();
        let mut values = vec![Jet { re: 0.0, eps: [0.0] }; self.dependent.len()];
        for k in 0..p.len() {
            at[k].eps = [1.0];
            self.dependence.first(&at, &mut values);
            at[k].eps = [0.0];
            values.iter().enumerate().for_each(|(i, value)| jacobian[(i, k)] = value.eps[0]);
        }
        jacobian
    }

    /// Derivatives of all of the mechanism's parameters, a row each, by the own ones.
    pub fn slopes(&self, p: &[f64]) -> Matrix<f64> {
        let of_dependent = self.jacobian(p);
        let mut slopes = Matrix::filled(self.kept.len() + self.dependent.len(), p.len(), 0.0);
        self.kept.iter().enumerate().for_each(|(own, &k)| slopes[(k, own)] = 1.0);
        for (row, &k) in self.dependent.iter().enumerate() {
            (0..p.len()).for_each(|own| slopes[(k, own)] = of_dependent[(row, own)]);
        }
        slopes
    }

    /// Second derivatives of the dependent parameters by the own ones, each times its weight, added up.
    pub fn curvature(&self, p: &[f64], weights: &[f64]) -> Matrix<f64> {
        let zero = Jet { re: Jet { re: 0.0, eps: [0.0] }, eps: [Jet { re: 0.0, eps: [0.0] }] };
        let mut at: Vec<Second> = p.iter().map(|&re| Jet { re: Jet { re, eps: [0.0] }, eps: zero.eps }).collect();
        let mut values = vec![zero; self.dependent.len()];
        let mut curvature = Matrix::filled(p.len(), p.len(), 0.0);
        for k in 0..p.len() {
            at[k].re.eps = [1.0];
            for j in 0..=k {
                at[j].eps[0].re = 1.0;
                self.dependence.second(&at, &mut values);
                at[j].eps[0].re = 0.0;
                let sum: f64 = values.iter().zip(weights).map(|(value, weight)| weight * value.eps[0].eps[0]).sum();
                (curvature[(k, j)], curvature[(j, k)]) = (sum, sum);
            }
            at[k].re.eps = [0.0];
        }
        curvature
    }

    /// Places in the mechanism's parameters of the dependent ones.
    pub fn dependent_places(&self) -> &[usize] {
        &self.dependent
    }

    /// The mechanism's parameters.
    pub fn all(&self, p: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.kept.len() + self.dependent.len()];
        self.put(p, &self.values(p), &mut u);
        u
    }

    fn put(&self, p: &[f64], values: &[f64], u: &mut [f64]) {
        self.kept.iter().zip(p).for_each(|(&k, value)| u[k] = *value);
        self.dependent.iter().zip(values).for_each(|(&k, value)| u[k] = *value);
    }

    fn around<'s>(&'s self, by: By<'_>) -> Box<dyn Evaluator + 's> {
        // what follows from others may depend on any of them
        let places = by.parameters.map(|own| {
            let kept = own.iter().filter_map(|&k| self.kept.get(k).copied());
            let dependent = self.dependent.iter().copied().filter(|_| !own.is_empty());
            let mut all: Vec<usize> = kept.chain(dependent).collect();
            all.sort_unstable();
            all
        });
        let evaluator = self.inner.evaluator_by(By { parameters: places.as_deref(), ..by });
        let (p, count) = (self.signature.parameters.len(), self.dependent.len());
        let inner = self.inner.signature();
        Box::new(DerivedEvaluator {
            of: self,
            inner: evaluator,
            slopes: None,
            by: (places, by.mode),
            u: vec![0.0; inner.parameters.len()],
            p: vec![0.0; p],
            jacobian: Vec::new(),
            are_slopes_current: false,
            along: Vec::new(),
            bends: vec![0.0; count * p],
            tangent: StateVector::zeros(inner),
            scratch: StateVector::zeros(inner),
            slope: StateVector::zeros(inner),
        })
    }
}

impl System for Derived {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn degrees_of_freedom(&self) -> usize {
        self.inner.degrees_of_freedom()
    }

    fn known_times(&self) -> &[(String, (f64, f64))] {
        self.inner.known_times()
    }

    fn can_yield(&self) -> bool {
        self.inner.can_yield()
    }

    fn may_jump(&self) -> bool {
        self.inner.may_jump()
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.inner.sketch()
    }

    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> Result<Option<Sketch>> {
        self.inner.sketch_at(t, q, w, &self.all(u))
    }

    fn derived(&self) -> Option<&Derived> {
        Some(self)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.around(By::PARAMETERS)
    }

    fn evaluator_by(&self, by: By<'_>) -> Box<dyn Evaluator + '_> {
        self.around(by)
    }
}

struct DerivedEvaluator<'s> {
    of: &'s Derived,
    inner: Box<dyn Evaluator + 's>,
    /// For slopes that second derivatives of the dependence are weighted with, as soon as there are any: derivatives and factors that others
    /// have asked for stay.
    slopes: Option<Box<dyn Evaluator + 's>>,
    /// The mechanism's parameters by which it is differentiated, and how.
    by: (Option<Vec<usize>>, Mode),
    u: Vec<f64>,
    p: Vec<f64>,
    /// Place in the mechanism's parameters, place in the own ones, derivative.
    jacobian: Vec<(usize, usize, f64)>,
    /// True if `slopes` knows the parameters.
    are_slopes_current: bool,
    /// The direction of `bends`; empty where there is none.
    along: Vec<f64>,
    /// Second derivatives of each dependent parameter, times a direction.
    bends: Vec<f64>,
    /// A tangent, room for cotangents, and slopes, in the mechanism's sizes.
    tangent: StateVector,
    scratch: StateVector,
    slope: StateVector,
}

/// Exchanges all parts but those of the parameters.
fn exchange(a: &mut StateVector, b: &mut StateVector) {
    std::mem::swap(a, b);
    std::mem::swap(&mut a.u, &mut b.u);
}

impl DerivedEvaluator<'_> {
    /// Adds Jᵀ times a cotangent of the mechanism's parameters.
    fn add_transposed(&self, u: &[f64], own: &mut [f64]) {
        own.iter_mut().zip(&self.of.kept).for_each(|(own, &k)| *own += u[k]);
        self.jacobian.iter().for_each(|&(i, k, slope)| own[k] += slope * u[i]);
    }

    /// J times a tangent.
    fn put_product(&self, own: &[f64], u: &mut [f64]) {
        u.fill(0.0);
        self.of.kept.iter().zip(own).for_each(|(&k, own)| u[k] = *own);
        self.jacobian.iter().for_each(|&(i, k, slope)| u[i] += slope * own[k]);
    }

    fn take_tangent(&mut self, own: &StateVector) {
        let mut u = std::mem::take(&mut self.tangent.u);
        self.put_product(&own.u, &mut u);
        self.tangent.q.copy_from_slice(&own.q);
        self.tangent.v.copy_from_slice(&own.v);
        self.tangent.a.copy_from_slice(&own.a);
        self.tangent.a_scheme.copy_from_slice(&own.a_scheme);
        self.tangent.lambda.copy_from_slice(&own.lambda);
        self.tangent.w.copy_from_slice(&own.w);
        self.tangent.u = u;
    }

    /// Lets the mechanism add to a cotangent of the own sizes.
    fn add(&mut self, own: &mut StateVector, work: impl FnOnce(&mut dyn Evaluator, &StateVector, &mut StateVector)) {
        self.scratch.u.fill(0.0);
        exchange(own, &mut self.scratch);
        work(&mut *self.inner, &self.tangent, &mut self.scratch);
        exchange(own, &mut self.scratch);
        self.add_transposed(&self.scratch.u, &mut own.u);
    }

    /// Finds second derivatives of the dependence along a direction; false if there are none.
    fn bend(&mut self, along: &[f64]) -> bool {
        let p = self.p.len();
        if self.along != along {
            self.along.clear();
            self.along.extend_from_slice(along);
            let zero = Jet { re: Jet { re: 0.0, eps: [0.0] }, eps: [Jet { re: 0.0, eps: [0.0] }] };
            let at = self.p.iter().zip(along);
            let mut at: Vec<Second> = at.map(|(&re, &d)| Jet { re: Jet { re, eps: [d] }, eps: zero.eps }).collect();
            let mut values = vec![zero; self.of.dependent.len()];
            for k in 0..p {
                at[k].eps[0].re = 1.0;
                self.of.dependence.second(&at, &mut values);
                at[k].eps[0].re = 0.0;
                values.iter().enumerate().for_each(|(i, value)| self.bends[i * p + k] = value.eps[0].eps[0]);
            }
        }
        self.bends.iter().any(|bend| *bend != 0.0)
    }

    /// Finds slopes by the mechanism's parameters, and adds the second derivatives of the dependence, weighted with them.
    fn add_bends(&mut self, own: &mut [f64], find: impl FnOnce(&mut dyn Evaluator, &mut StateVector)) {
        let (parameters, mode) = &self.by;
        let by = By { parameters: parameters.as_deref(), inputs: false, mode: *mode };
        let slopes = self.slopes.get_or_insert_with(|| self.of.inner.evaluator_by(by));
        if !self.are_slopes_current {
            slopes.set_parameters(&self.u);
            self.are_slopes_current = true;
        }
        self.slope.u.fill(0.0);
        find(&mut **slopes, &mut self.slope);
        for (&i, bends) in self.of.dependent.iter().zip(self.bends.chunks_exact(self.p.len())) {
            own.iter_mut().zip(bends).for_each(|(own, bend)| *own += self.slope.u[i] * bend);
        }
    }
}

impl Evaluator for DerivedEvaluator<'_> {
    fn set_parameters(&mut self, p: &[f64]) {
        self.p.copy_from_slice(p);
        self.of.put(p, &self.of.values(p), &mut self.u);
        self.inner.set_parameters(&self.u);
        let slopes = self.of.jacobian(p);
        self.jacobian.clear();
        for (row, &i) in self.of.dependent.iter().enumerate() {
            let entries = (0..p.len()).map(|k| (i, k, slopes[(row, k)]));
            self.jacobian.extend(entries.filter(|(_, _, slope)| *slope != 0.0));
        }
        self.are_slopes_current = false;
        self.along.clear();
    }

    fn orders(&mut self) -> Option<Orders> {
        self.inner.orders()
    }

    fn take_orders(&mut self, orders: &Orders) {
        self.inner.take_orders(orders);
    }

    fn factored(&self) -> Option<usize> {
        self.inner.factored()
    }

    fn initial(&mut self, q: &mut [f64], v: &mut [f64]) {
        self.inner.initial(q, v);
    }

    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]) {
        self.scratch.u.fill(0.0);
        self.inner.initial_pull_back(q, v, &mut self.scratch.u);
        self.add_transposed(&self.scratch.u, u);
    }

    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]) {
        let mut tangent = std::mem::take(&mut self.tangent.u);
        self.put_product(u, &mut tangent);
        self.inner.initial_push_forward(&tangent, q, v);
        self.tangent.u = tangent;
    }

    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.residual(x, equations, dynamics, constraint);
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.round_off(x, equations, dynamics, constraint);
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix> {
        self.inner.factorise(x, weights, dynamics, constraint)
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        self.inner.linearise(x, weights)
    }

    fn linearise_for_tangents(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        tangents: usize,
    ) -> std::result::Result<(), SingularMatrix> {
        self.inner.linearise_for_tangents(x, weights, tangents)
    }

    fn divide_tangents(&mut self, all: usize) {
        self.inner.divide_tangents(all);
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.inner.solve(b);
    }

    fn solve_all(&mut self, sides: &mut [f64], size: usize) {
        self.inner.solve_all(sides, size);
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        self.inner.solve_transposed(b);
    }

    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        self.add(cotangent, |inner, _, own| inner.pull_back(scale, dynamics, constraint, own));
    }

    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.take_tangent(tangent);
        self.inner.push_forward(&self.tangent, dynamics, constraint);
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        self.inner.mass_entries(x)
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        self.inner.constraint_rows(x)
    }

    fn left_out(&self) -> &[usize] {
        self.inner.left_out()
    }

    fn worst_left_out(&self) -> Option<(usize, f64)> {
        self.inner.worst_left_out()
    }

    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]) {
        self.inner.constraint(level, x, value);
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        self.inner.output(x, y);
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>) {
        self.inner.linearise_output(x);
    }

    fn linearise_output_for_tangents(&mut self, x: &OutputPoint<'_>, tangents: usize) {
        self.inner.linearise_output_for_tangents(x, tangents);
    }

    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector) {
        self.add(cotangent, |inner, _, own| inner.output_pull_back(y, own));
    }

    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]) {
        self.take_tangent(tangent);
        self.inner.output_push_forward(&self.tangent, y);
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        equations: Equations,
        scale: f64,
        weights: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        self.take_tangent(tangent);
        self.add(cotangent, |inner, along, own| inner.curvature(x, equations, scale, weights, along, own));
        if self.bend(&tangent.u) {
            // at accelerations, nothing else may follow the unknown
            let others = if equations.level == Level::Acceleration { 0.0 } else { 1.0 };
            let weights_of_unknown = Weights {
                acceleration: 1.0,
                position: others,
                velocity: others,
                state: others,
                compliance: 0.0,
                equations,
            };
            self.add_bends(&mut cotangent.u, |slopes, slope| {
                // products are valid where the matrix has no inverse, too
                let _ = slopes.linearise(x, weights_of_unknown);
                slopes.pull_back(scale, weights[0], weights[1], slope);
            });
        }
    }

    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]) {
        let mut along = std::mem::take(&mut self.tangent.u);
        self.put_product(tangent, &mut along);
        self.scratch.u.fill(0.0);
        self.inner.initial_curvature(q, v, &along, &mut self.scratch.u);
        self.tangent.u = along;
        self.add_transposed(&self.scratch.u, u);
        if self.bend(tangent) {
            self.add_bends(u, |slopes, slope| slopes.initial_pull_back(q, v, &mut slope.u));
        }
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        self.take_tangent(tangent);
        self.add(cotangent, |inner, along, own| inner.output_curvature(x, y, along, own));
        if self.bend(&tangent.u) {
            self.add_bends(&mut cotangent.u, |slopes, slope| {
                slopes.linearise_output(x);
                slopes.output_pull_back(y, slope);
            });
        }
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        let mut all = Blocks::zeros(self.of.inner.signature());
        self.inner.blocks(x, &mut all);
        let by_own = |by: &Matrix<f64>| {
            let mut own = Matrix::filled(by.rows(), self.p.len(), 0.0);
            for row in 0..by.rows() {
                self.of.kept.iter().enumerate().for_each(|(k, &i)| own[(row, k)] += by[(row, i)]);
                self.jacobian.iter().for_each(|&(i, k, slope)| own[(row, k)] += slope * by[(row, i)]);
            }
            own
        };
        *blocks = Blocks {
            force_by_parameter: by_own(&all.force_by_parameter),
            inertia_by_parameter: by_own(&all.inertia_by_parameter),
            constraint_force_by_parameter: by_own(&all.constraint_force_by_parameter),
            constraint_by_parameter: by_own(&all.constraint_by_parameter),
            ..all
        };
    }
}
