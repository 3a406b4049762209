//! All experiments of a problem, evaluated in parallel: sums are made in the experiments' order, so that their last bit does not depend on
//! the number of threads. Priors and measured modes of the problem are added to every sum.

use crate::beside::{Row, add_gradient, cost_of, with_rows};
use crate::problem::{Experiment, Problem};
use crate::{Error, Result};
use costate::cost::{Cost, LeastSquares, Reference};
use costate::least_squares::{Linearised, Reduction};
use costate::parallel::{in_parallel, threads};
use costate::scheme::Counters;
use costate::sensitivity::{Difference, Gradient, Method, Raw};
use costate::{Interrupt, Quantity};

/// Steps times coordinates of all experiments below which threads take longer to begin than they save.
const WORTH_THREADS: usize = 20_000;

/// Evaluates cost and derivatives of a problem with one experiment or several, by all its parameters.
pub struct Ensemble<'p> {
    problem: &'p Problem,
    members: Vec<Member<'p>>,
    /// Copies of a single experiment's member for each further thread: what is asked for many directions or parameters is divided.
    others: Vec<Member<'p>>,
    threads: usize,
    /// Places in the problem's parameters by which the last derivatives were not taken.
    left_out: Vec<usize>,
    /// The part of the last cost that is not the first experiment's: that of the others, of priors and of modes.
    beside_first: f64,
}

/// One experiment at work.
pub(crate) struct Member<'p> {
    pub experiment: &'p Experiment,
    pub gradient: Gradient<'p>,
    /// Values of the model's parameters, and derivatives by them.
    pub u: Vec<f64>,
    slope: Vec<f64>,
}

/// Which of an experiment's parameters, by their places in the problem, are among these.
fn own_places(places: &[usize], parameters: &[usize]) -> Vec<usize> {
    (0..places.len()).filter(|&k| parameters.contains(&places[k])).collect()
}

impl<'p> Ensemble<'p> {
    /// Evaluator of the costs that the experiments have.
    pub(crate) fn new(problem: &'p Problem) -> Result<Self> {
        Ensemble::around(problem, &*problem.first().cost, None)
    }

    /// Evaluator whose derivatives are by these parameters alone, as [`Gradient::by_parameters`].
    pub(crate) fn by_parameters(problem: &'p Problem, parameters: &[usize]) -> Result<Self> {
        Ensemble::around(problem, &*problem.first().cost, Some(parameters))
    }

    /// Evaluator with another cost for the first experiment, which has its constraints in it, by some parameters or by all.
    pub(crate) fn around(problem: &'p Problem, first: &'p dyn Cost, by: Option<&[usize]>) -> Result<Self> {
        let member = |(k, experiment): (usize, &'p Experiment)| {
            let cost = if k == 0 { first } else { &*experiment.cost };
            let zeros = vec![0.0; experiment.places.len()];
            let simulation = &experiment.simulation;
            let gradient = match by {
                Some(by) => Gradient::by_parameters(simulation, cost, &own_places(&experiment.places, by))?,
                None => Gradient::new(simulation, cost)?,
            };
            Ok(Member { experiment, gradient, u: zeros.clone(), slope: zeros })
        };
        let members = problem.experiments.iter().enumerate().map(member).collect::<Result<Vec<_>>>()?;
        let work = |member: &Member<'_>| {
            let simulation = &member.experiment.simulation;
            simulation.steps() * simulation.signature().unknown_count()
        };
        let work: usize = members.iter().map(work).sum();
        let threads = threads()?.max(1);
        // what is divided takes a sweep or a run for each free parameter
        let is_divided = members.len() == 1 && work * problem.free().len() > WORTH_THREADS;
        let others = if is_divided { 1..problem.at_once()? } else { 0..0 };
        let others = others.map(|_| member((0, &problem.experiments[0]))).collect::<Result<Vec<_>>>()?;
        let threads = if work > WORTH_THREADS { threads.min(members.len()) } else { 1 };
        Ok(Ensemble { problem, members, others, threads, left_out: Vec::new(), beside_first: 0.0 })
    }

    fn with(mut self, change: impl Fn(Gradient<'p>, &[usize]) -> Gradient<'p>) -> Self {
        let changed = |member: Member<'p>| {
            let gradient = change(member.gradient, &member.experiment.places);
            Member { gradient, ..member }
        };
        self.members = self.members.into_iter().map(changed).collect();
        self.others = self.others.into_iter().map(changed).collect();
        self
    }

    /// Restricts derivatives to these parameters, as [`Gradient::with_respect_to`].
    pub fn with_respect_to(self, parameters: &[usize]) -> Self {
        self.with(|gradient, places| gradient.with_respect_to(&own_places(places, parameters)))
    }

    pub(crate) fn leaving_out_inconsistent(self, may_be: impl Fn(usize) -> bool) -> Self {
        self.with(|gradient, places| gradient.leaving_out_inconsistent(|k| may_be(places[k])))
    }

    /// Lets runs stop at the next time step once `interrupt` is raised, as [`Gradient::interrupted_by`].
    pub fn interrupted_by(self, interrupt: &Interrupt) -> Self {
        self.with(|gradient, _| gradient.interrupted_by(interrupt))
    }

    /// Parameters without derivatives, as [`Gradient::left_out`].
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Number of threads that work on experiments.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The first experiment's evaluation: its parameters are the first ones of the problem.
    pub(crate) fn first(&mut self) -> &mut Gradient<'p> {
        // a problem has one experiment at least
        &mut self.members[0].gradient
    }

    /// Lets every experiment work at `u`; results in their order, or the error of the first one that failed.
    pub(crate) fn each<R: Send, E: Into<Error>>(
        &mut self,
        u: &[f64],
        work: impl Fn(usize, &mut Member<'p>) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>> {
        let expected = self.problem.parameters.len();
        if u.len() != expected {
            let problem = format!("{} values are given for {expected} parameters", u.len());
            return Err(Error::invalid("the parameters", problem, "give one value a parameter"));
        }
        let count = self.members.len();
        let run = |k: usize, member: &mut Member<'p>| {
            let Member { experiment, u: own, .. } = member;
            own.iter_mut().zip(&experiment.places).for_each(|(value, &place)| *value = u[place]);
            let result = work(k, member).map_err(|error| explained(error.into(), member.experiment));
            let named = |error: Error| error.in_experiment(&member.experiment.name);
            if count > 1 { result.map_err(named) } else { result }
        };
        let results = in_parallel(&mut self.members, self.threads, run);
        let mut left_out: Vec<usize> = Vec::new();
        for Member { experiment, gradient, .. } in &self.members {
            left_out.extend(gradient.left_out().iter().map(|&k| experiment.places[k]));
        }
        left_out.sort_unstable();
        left_out.dedup();
        self.left_out = left_out;
        results
    }

    /// Lets all threads work on parts of what is asked of a single experiment at `u`; results in the parts' order.
    fn divide<P: Send, R: Send, E: Into<Error>>(
        &mut self,
        u: &[f64],
        parts: Vec<P>,
        work: impl Fn(&mut Member<'p>, &P) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>> {
        let mut shares: Vec<(&mut Member<'p>, P)> =
            self.members.iter_mut().chain(&mut self.others).zip(parts).collect();
        let threads = shares.len();
        let results = in_parallel(&mut shares, threads, |_, (member, part)| {
            let Member { experiment, u: own, .. } = &mut **member;
            own.iter_mut().zip(&experiment.places).for_each(|(value, &place)| *value = u[place]);
            work(member, part).map_err(E::into)
        });
        let Member { experiment, gradient, .. } = &self.members[0];
        self.left_out = gradient.left_out().iter().map(|&k| experiment.places[k]).collect();
        results
    }

    /// Cost of all experiments, as [`Gradient::cost`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn cost(&mut self, u: &[f64]) -> Result<f64> {
        let costs = self.each(u, |_, Member { gradient, u, .. }| gradient.cost(u))?;
        let beside = self.problem.cost_beside(u)?;
        Ok(self.total(beside, costs))
    }

    /// Cost and gradient of all experiments, as [`Gradient::cost_and_gradient`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn cost_and_gradient(&mut self, u: &[f64], method: Method, gradient: &mut [f64]) -> Result<f64> {
        let costs =
            self.each(u, |_, Member { gradient, u, slope, .. }| gradient.cost_and_gradient(u, method, slope))?;
        self.sum_up(u, costs, gradient)
    }

    /// The sum of the experiments' costs, with what is `beside` them.
    fn total(&mut self, beside: f64, costs: Vec<f64>) -> f64 {
        let first = costs.first().copied().unwrap_or_default();
        self.beside_first = costs.iter().skip(1).sum::<f64>() + beside;
        // in the experiments' order, as ever
        if costs.len() > 1 { costs.into_iter().sum::<f64>() + beside } else { first + beside }
    }

    /// The part of the last cost that is not the first experiment's.
    pub(crate) fn beside_first(&self) -> f64 {
        self.beside_first
    }

    /// Gradient of all experiments by differences, as [`Gradient::differences`]; errors of several experiments add up.
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn differences(&mut self, u: &[f64]) -> Result<Vec<Difference>> {
        let found = match self.others.is_empty() {
            true => self.each(u, |_, Member { gradient, u, .. }| gradient.differences(u))?,
            false => vec![self.differences_of_single(u)?],
        };
        let mut sum = vec![Difference { value: 0.0, error: 0.0 }; u.len()];
        for (Member { experiment, .. }, own) in self.members.iter().zip(found) {
            for (&place, own) in experiment.places.iter().zip(own) {
                sum[place].value += own.value;
                sum[place].error += own.error;
            }
        }
        let mut exact = vec![0.0; u.len()];
        add_gradient(&self.problem.prior_rows(u), &mut exact);
        let beside = self.problem.differences_beside(u)?;
        for ((sum, exact), beside) in sum.iter_mut().zip(exact).zip(beside) {
            sum.value += exact + beside.value;
            sum.error += beside.error;
        }
        Ok(sum)
    }

    /// Differences of a single experiment, some parameters a thread.
    fn differences_of_single(&mut self, u: &[f64]) -> Result<Vec<Difference>> {
        let places: Vec<usize> = (0..self.members[0].experiment.places.len()).collect();
        let parts = places.chunks(places.len().div_ceil(1 + self.others.len()).max(1)).collect();
        let found =
            self.divide(u, parts, |Member { gradient, u, .. }, own: &&[usize]| gradient.differences_by(u, own))?;
        let found: Vec<Raw> = found.into_iter().flatten().collect();
        Ok(Raw::finish(&found))
    }

    /// Products of the Hessian of all experiments with vectors, as [`Gradient::hessian_vectors`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn hessian_vectors(
        &mut self,
        u: &[f64],
        along: &[Vec<f64>],
        gradient: &mut [f64],
        products: &mut [Vec<f64>],
    ) -> Result<f64> {
        self.problem.all_has_curvature()?;
        let work = |Member { experiment, gradient, u, slope }: &mut Member<'p>, numbers: &[usize]| {
            let places = &experiment.places;
            // directions that do not concern an experiment cost nothing there
            let of = |&k: &usize| (k, places.iter().map(|&place| along[k][place]).collect::<Vec<f64>>());
            let (numbers, own): (Vec<usize>, Vec<Vec<f64>>) =
                numbers.iter().map(of).filter(|(_, x)| x.iter().any(|x| *x != 0.0)).unzip();
            let mut products = vec![vec![0.0; u.len()]; own.len()];
            let all = along.iter().filter(|x| places.iter().any(|&place| x[place] != 0.0)).count();
            let cost = gradient.hessian_vectors_of(all, u, &own, slope, &mut products)?;
            Ok::<_, Error>((cost, numbers, products))
        };
        let numbers: Vec<usize> = (0..along.len()).collect();
        let crew = (1 + self.others.len()).min(along.len());
        let mut found = match crew {
            0 | 1 => self.each(u, |_, member| work(member, &numbers))?,
            crew => {
                let parts = numbers.chunks(along.len().div_ceil(crew)).collect();
                self.divide(u, parts, |member, numbers| work(member, numbers))?
            }
        };
        products.iter_mut().for_each(|product| product.fill(0.0));
        let owners = self.members.iter().chain(&self.others);
        for (Member { experiment, .. }, (_, numbers, found)) in owners.zip(&found) {
            for (&number, found) in numbers.iter().zip(found) {
                experiment.places.iter().zip(found).for_each(|(&place, entry)| products[number][place] += entry);
            }
        }
        // of a single experiment there is one cost, however many have found it
        found.truncate(self.members.len());
        let costs = found.into_iter().map(|(cost, ..)| cost).collect();
        for (product, direction) in products.iter_mut().zip(along) {
            self.problem.add_prior_curvature(u, direction, product);
        }
        self.sum_up(u, costs, gradient)
    }

    /// Gradient of all experiments by the continuous adjoint, as [`Gradient::continuous_adjoint`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn continuous_adjoint(&mut self, u: &[f64], order: usize, gradient: &mut [f64]) -> Result<f64> {
        let costs =
            self.each(u, |_, Member { gradient, u, slope, .. }| gradient.continuous_adjoint(u, order, slope))?;
        self.sum_up(u, costs, gradient)
    }

    /// Sums up the derivatives that the experiments have worked out, and those of priors and modes; returns the total of the cost.
    fn sum_up(&mut self, u: &[f64], costs: Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        let beside = self.problem.rows_beside(u)?;
        gradient.fill(0.0);
        for Member { experiment, slope, .. } in &self.members {
            experiment.places.iter().zip(slope).for_each(|(&place, slope)| gradient[place] += slope);
        }
        add_gradient(&beside, gradient);
        Ok(self.total(cost_of(&beside), costs))
    }

    /// The Hessian times `direction`; and the gradient, as [`Gradient::hessian_vector`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn hessian_vector(
        &mut self,
        u: &[f64],
        direction: &[f64],
        gradient: &mut [f64],
        product: &mut Vec<f64>,
    ) -> Result<f64> {
        self.hessian_vectors(u, &[direction.to_vec()], gradient, std::slice::from_mut(product))
    }

    /// The Hessian, as [`Gradient::hessian`].
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn hessian(&mut self, u: &[f64], gradient: &mut [f64], hessian: &mut [Vec<f64>]) -> Result<f64> {
        let unit = |k: usize| (0..u.len()).map(|j| if j == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let directions: Vec<Vec<f64>> = (0..u.len()).map(unit).collect();
        self.hessian_vectors(u, &directions, gradient, hessian)
    }

    /// Residuals and Jacobian of all experiments, as [`Gradient::linearise`], with the experiments' costs, in their order, and with the residuals of priors
    /// and modes.
    ///
    /// # Errors
    /// As there, with the experiment's name.
    pub fn linearise(&mut self, u: &[f64], costs: &[&LeastSquares]) -> Result<Linearised> {
        let found = self.each(u, |k, Member { gradient, u, .. }| gradient.linearise(u, costs[k]))?;
        let beside: Vec<Row> = self.problem.rows_beside(u)?;
        self.total(cost_of(&beside), found.iter().map(Linearised::cost).collect());
        Ok(with_rows(join(self.problem, found), &beside, 1.0))
    }

    /// All residuals that [`linearise`](Ensemble::linearise) reduces, half the sum of whose squares is the cost, and a row each of their derivatives by all
    /// parameters of the problem.
    ///
    /// # Errors
    /// As there.
    pub fn residuals(&mut self, u: &[f64], costs: &[&LeastSquares]) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
        Ok(self.residual_rows(u, costs)?.into_iter().map(|row| (row.residual, row.slope)).unzip())
    }

    /// All residuals that [`linearise`](Ensemble::linearise) reduces, with their derivatives by all parameters of the problem: those of
    /// experiments in the order of times, and then those of priors and modes.
    pub(crate) fn residual_rows(&mut self, u: &[f64], costs: &[&LeastSquares]) -> Result<Vec<Row>> {
        let count = self.problem.parameters.len();
        let found = self.each(u, |k, Member { gradient, u, experiment, .. }| {
            let mut rows = Vec::new();
            gradient.residual_rows(u, costs[k], &mut |row| {
                let (root, (residual, factor)) = (row.weight.sqrt(), row.rooted);
                let mut slope = vec![0.0; count];
                let own = experiment.places.iter().zip(row.derivatives);
                own.for_each(|(&place, derivative)| slope[place] = root * factor * derivative);
                rows.push(Row { residual: root * residual, slope });
            })?;
            Ok::<_, Error>(rows)
        })?;
        Ok(found.into_iter().flatten().chain(self.problem.rows_beside(u)?).collect())
    }

    /// Counters of the last evaluation, all experiments together.
    pub fn counters(&self) -> Counters {
        let add = |sum: Counters, own: Counters| Counters {
            steps: sum.steps + own.steps,
            iterations: sum.iterations + own.iterations,
            factorisations: sum.factorisations + own.factorisations,
        };
        self.members.iter().map(|member| member.gradient.counters()).fold(Counters::default(), add)
    }
}

impl Problem {
    /// Threads that may work on the problem as a whole, each with states of its own: together they take no more memory than one may.
    ///
    /// # Errors
    /// As [`threads`].
    pub fn at_once(&self) -> Result<usize> {
        let bytes: f64 = self.experiments.iter().map(|experiment| experiment.simulation.run_bytes()).sum();
        let room = self.experiments.iter().map(|experiment| experiment.simulation.room()).fold(f64::INFINITY, f64::min);
        // a float becomes the nearest whole number there is
        Ok(threads()?.min((room / bytes) as usize).max(1))
    }
}

/// Linearised residuals of several experiments as one, in all parameters of the problem; those of a single one are left as they are.
pub(crate) fn join(problem: &Problem, mut found: Vec<Linearised>) -> Linearised {
    if found.len() == 1
        && let Some(own) = found.pop()
    {
        return own;
    }
    let count = problem.parameters.len();
    let (mut reduction, mut row, mut rows) = (Reduction::new(count), vec![0.0; count], 0);
    for (own, experiment) in found.iter().zip(&problem.experiments) {
        for i in 0..own.dimension() {
            row.fill(0.0);
            experiment.places.iter().enumerate().for_each(|(k, &place)| row[place] = own.factor()[(i, k)]);
            reduction.add(&row, own.projected()[i]);
        }
        row.fill(0.0);
        reduction.add(&row, own.remainder());
        rows += own.rows;
    }
    let mut all = reduction.finish();
    all.rows = rows;
    all
}

/// Error of a cost whose squares overflow, with the output that is to blame, and what to do; any other error as it is.
fn explained(error: Error, experiment: &Experiment) -> Error {
    /// Beside its deviation, of what squares overflow soon.
    const HUGE: f64 = 1e140;
    let Error::Engine(costate::Error::NotFinite { quantity, value, time, step }) = error else { return error };
    let named = || {
        let cost = experiment.cost.as_least_squares().filter(|_| quantity == "the cost")?;
        let size = |reference: &Reference| reference.samples().fold(0.0f64, |most, y| most.max(y.abs()));
        let (reference, size) = (cost.references().iter().map(|reference| (reference, size(reference))))
            .max_by(|a, b| (a.1 / a.0.deviation).total_cmp(&(b.1 / b.0.deviation)))?;
        let Quantity { name, unit, .. } = &experiment.simulation.signature().outputs[reference.output];
        (size > HUGE * reference.deviation).then(|| {
            format!(
                "the cost (squares overflow: samples of `{name}` are up to {size:e} {unit}, beside a deviation of {:e} {unit}; give `{name}` a deviation of the size of \
                 its noise)",
                reference.deviation
            )
        })
    };
    costate::Error::NotFinite { quantity: named().unwrap_or(quantity), value, time, step }.into()
}
