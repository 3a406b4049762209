//! The engine against itself: structured derivatives with shared directions, against one direction at a time.

use super::CheckOptions;
use super::hand::Variable;
use super::report::{BlockName, Place, ProductReport, Tally};
use super::sample::{Draws, Sample, equation_sizes, visit_points};
use costate::random::SplitMix64;
use costate::system::{Blocks, Equations, Evaluator, StateVector, System, Weights};
use costate::{Matrix, Result, Signature};

const VARIABLES: [Variable; 5] =
    [Variable::Position, Variable::Velocity, Variable::Acceleration, Variable::Multiplier, Variable::Parameter];

fn part(vector: &mut StateVector, variable: Variable) -> &mut Vec<f64> {
    match variable {
        Variable::Position => &mut vector.q,
        Variable::Velocity => &mut vector.v,
        Variable::Acceleration => &mut vector.a,
        Variable::Multiplier => &mut vector.lambda,
        Variable::Parameter => &mut vector.u,
    }
}

/// Names of the products, pushed forward and pulled back.
fn product_names(variable: Variable) -> [BlockName; 2] {
    let name = |symbol, words| BlockName { symbol, words };
    match variable {
        Variable::Position => [
            name("∂(D, C)/∂q", "equations by position, pushed forward"),
            name("(∂(D, C)/∂q)ᵀ", "equations by position, pulled back"),
        ],
        Variable::Velocity => [
            name("∂(D, C)/∂v", "equations by velocity, pushed forward"),
            name("(∂(D, C)/∂v)ᵀ", "equations by velocity, pulled back"),
        ],
        Variable::Acceleration => [
            name("∂(D, C)/∂a", "equations by acceleration, pushed forward"),
            name("(∂(D, C)/∂a)ᵀ", "equations by acceleration, pulled back"),
        ],
        Variable::Multiplier => [
            name("∂(D, C)/∂λ", "equations by multiplier, pushed forward"),
            name("(∂(D, C)/∂λ)ᵀ", "equations by multiplier, pulled back"),
        ],
        Variable::Parameter => [
            name("∂(D, C)/∂u", "equations by parameter, pushed forward"),
            name("(∂(D, C)/∂u)ᵀ", "equations by parameter, pulled back"),
        ],
    }
}

/// K z and Kᵀ z of the solutions, after both ways to the factors.
const SOLVES: [BlockName; 4] = [
    BlockName { symbol: "K z = b", words: "solved after factorise" },
    BlockName { symbol: "Kᵀ z = b", words: "solved after factorise" },
    BlockName { symbol: "K z = b", words: "solved after linearise" },
    BlockName { symbol: "Kᵀ z = b", words: "solved after linearise" },
];

/// Compares what the time loop and the adjoint use ([`Evaluator::linearise`] with products, [`Evaluator::factorise`] with
/// solves) with the dense [`Evaluator::blocks`], which take one direction at a time and know nothing of structure.
///
/// Products with unit vectors are compared entry by entry, pushed forward and pulled back; residuals with those of
/// `factorise`; solutions z of K z = b by K z, with K from the blocks, in the unit of each equation. The mass matrix is compared with
/// its transposed.
///
/// # Errors
/// Options that make no sense, or a model whose derivatives are nowhere finite around its initial state.
pub fn check_products(system: &dyn System, options: &CheckOptions) -> Result<ProductReport> {
    let signature = system.signature();
    let size = signature.unknown_count() + signature.constraints.len();
    let rows: Vec<String> = (0..size).map(|row| signature.equation_name(row)).collect();
    let tally = |name, columns| Tally::new(name, rows.clone(), columns, options.tolerance);
    let variables: Vec<Variable> = VARIABLES.into_iter().filter(|v| !v.names(signature).is_empty()).collect();
    let mut products: Vec<[Tally; 2]> =
        variables.iter().map(|v| product_names(*v).map(|name| tally(name, v.names(signature)))).collect();
    let values = BlockName { symbol: "(D, C)", words: "residual by factorise" };
    let mut values = tally(values, vec!["value".to_string()]);
    let transposed = BlockName { symbol: "M = Mᵀ", words: "mass matrix against its transposed" };
    let n = signature.unknown_count();
    let mut symmetry =
        Tally::new(transposed, rows[..n].to_vec(), Variable::Acceleration.names(signature), options.tolerance);
    let mut solves = SOLVES.map(|name| tally(name, vec!["K z".to_string()]));
    visit_points(system, options, &mut |sample, evaluator, blocks, random| {
        let place = Place { time: sample.t, point: sample.number };
        let (mut terms, of_constraints) = equation_sizes(blocks, &sample.sizes);
        terms.extend(of_constraints);
        let step = 0.1f64.powi((sample.number % 4) as i32);
        let weights = Weights {
            acceleration: 1.1,
            position: 0.3 * step * step,
            velocity: 0.6 * step,
            state: 0.5 * step,
            compliance: 0.0,
            equations: Equations::MOTION,
        };
        let dense = Dense::new(signature, blocks, evaluator.left_out().to_vec());
        symmetry.compare(&blocks.mass, &mirrored(&blocks.mass), &terms[..n], &sample.sizes.a, place);
        compare_values(evaluator, sample, weights, &terms, &mut values, place);
        let (after_factorise, after_linearise) = solves.split_at_mut(2);
        let (mut d, mut c) = residuals(signature);
        if evaluator.factorise(&sample.point(), weights, &mut d, &mut c).is_ok() {
            compare_solves(evaluator, &dense.newton(weights), random, after_factorise, place);
        }
        if evaluator.linearise(&sample.point(), weights).is_ok() {
            compare_solves(evaluator, &dense.newton(weights), random, after_linearise, place);
        }
        for (variable, [pushed, pulled]) in variables.iter().zip(&mut products) {
            let (exact, sizes) = (dense.by(*variable), sizes_of(sample, *variable));
            let [forward, backward] = products_of(evaluator, signature, *variable);
            pushed.compare(&forward, &exact, &terms, sizes, place);
            pulled.compare(&backward, &exact, &terms, sizes, place);
        }
        Ok(())
    })?;
    let tallies = products.into_iter().flatten().chain([symmetry, values]).chain(solves).collect();
    Ok(ProductReport::new(&signature.name, options, ["structured", "one by one"], tallies))
}

fn mirrored(matrix: &Matrix<f64>) -> Matrix<f64> {
    let mut mirrored = Matrix::filled(matrix.columns(), matrix.rows(), 0.0);
    for i in 0..matrix.rows() {
        (0..matrix.columns()).for_each(|j| mirrored[(j, i)] = matrix[(i, j)]);
    }
    mirrored
}

fn residuals(signature: &Signature) -> (Vec<f64>, Vec<f64>) {
    (vec![0.0; signature.unknown_count()], vec![0.0; signature.constraints.len()])
}

fn sizes_of(sample: &Sample, variable: Variable) -> &[f64] {
    match variable {
        Variable::Position => &sample.sizes.q,
        Variable::Velocity => &sample.sizes.v,
        Variable::Acceleration => &sample.sizes.a,
        Variable::Multiplier => &sample.sizes.lambda,
        Variable::Parameter => &sample.sizes.u,
    }
}

/// The derivative of (D, C) by `variable`, column by column and row by row, from the last `linearise`.
fn products_of(evaluator: &mut dyn Evaluator, signature: &Signature, variable: Variable) -> [Matrix<f64>; 2] {
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let mut vector = StateVector::zeros(signature);
    let columns = part(&mut vector, variable).len();
    let mut forward = Matrix::filled(n + m, columns, 0.0);
    for j in 0..columns {
        let (mut d, mut c) = residuals(signature);
        part(&mut vector, variable)[j] = 1.0;
        evaluator.push_forward(&vector, &mut d, &mut c);
        part(&mut vector, variable)[j] = 0.0;
        d.iter().chain(&c).enumerate().for_each(|(i, value)| forward[(i, j)] = *value);
    }
    let mut backward = Matrix::filled(n + m, columns, 0.0);
    for i in 0..n + m {
        let (mut d, mut c) = residuals(signature);
        if i < n {
            d[i] = 1.0
        } else {
            c[i - n] = 1.0
        }
        let mut cotangent = StateVector::zeros(signature);
        // a scale other than one, so that it is not forgotten in one term
        evaluator.pull_back(0.5, &d, &c, &mut cotangent);
        part(&mut cotangent, variable).iter().enumerate().for_each(|(j, value)| backward[(i, j)] = 2.0 * value);
    }
    [forward, backward]
}

fn compare_values(
    evaluator: &mut dyn Evaluator,
    sample: &Sample,
    weights: Weights,
    terms: &[f64],
    tally: &mut Tally,
    place: Place,
) {
    let (n, m) = (sample.q.len(), sample.lambda.len());
    let column = |f: &mut dyn FnMut(&mut [f64], &mut [f64])| {
        let mut values = Matrix::filled(n + m, 1, 0.0);
        let (d, c) = values.as_mut_slice().split_at_mut(n);
        f(d, c);
        values
    };
    let x = sample.point();
    let by_factorise = column(&mut |d, c| {
        // whether K is regular does not matter to the values
        let _ = evaluator.factorise(&x, weights, d, c);
    });
    let by_residual = column(&mut |d, c| evaluator.residual(&x, Equations::MOTION, d, c));
    tally.compare(&by_factorise, &by_residual, terms, &[1.0], place);
}

/// Round-off of a solution, in units of that of one value: elimination mixes equations of different sizes.
const SOLUTION: f64 = 1e3;

fn compare_solves(
    evaluator: &mut dyn Evaluator,
    k: &Matrix<f64>,
    random: &mut SplitMix64,
    tallies: &mut [Tally],
    place: Place,
) {
    let size = k.rows();
    let b = random.vector(size, 1.0);
    for (tally, transposed) in tallies.iter_mut().zip([false, true]) {
        let mut z = b.clone();
        if transposed {
            evaluator.solve_transposed(&mut z)
        } else {
            evaluator.solve(&mut z)
        }
        let entry = |i, j| if transposed { k[(j, i)] } else { k[(i, j)] };
        let (mut product, mut exact) = (Matrix::filled(size, 1, 0.0), Matrix::filled(size, 1, 0.0));
        let mut terms = vec![0.0; size];
        for i in 0..size {
            product[(i, 0)] = (0..size).map(|j| entry(i, j) * z[j]).sum();
            exact[(i, 0)] = b[i];
            terms[i] = SOLUTION * (0..size).map(|j| (entry(i, j) * z[j]).abs()).sum::<f64>();
        }
        tally.compare(&product, &exact, &terms, &[1.0], place);
    }
}

/// Derivatives of (D, C), put together from the blocks.
struct Dense<'b> {
    blocks: &'b Blocks,
    /// Constraint rows that are left out: nothing depends on them, and their multipliers are unknowns of their own in K.
    left_out: Vec<usize>,
    n: usize,
    /// Number of unknowns that are coordinates, not states.
    coordinates: usize,
    m: usize,
    p: usize,
}

impl<'b> Dense<'b> {
    fn new(signature: &Signature, blocks: &'b Blocks, left_out: Vec<usize>) -> Self {
        let (n, m, p) = (signature.unknown_count(), signature.constraints.len(), signature.parameters.len());
        Dense { blocks, left_out, n, coordinates: signature.coordinates.len(), m, p }
    }

    /// C_q
    fn jacobian(&self, row: usize, j: usize) -> f64 {
        if self.left_out.contains(&row) { 0.0 } else { self.blocks.constraint_by_position[(row, j)] }
    }

    fn by(&self, variable: Variable) -> Matrix<f64> {
        let &Dense { blocks: b, n, m, p, .. } = self;
        let columns = match variable {
            Variable::Multiplier => m,
            Variable::Parameter => p,
            _ => n,
        };
        let mut matrix = Matrix::filled(n + m, columns, 0.0);
        for j in 0..columns {
            for i in 0..n {
                matrix[(i, j)] = match variable {
                    Variable::Position => {
                        b.inertia_by_position[(i, j)] + b.constraint_force_by_position[(i, j)]
                            - b.force_by_position[(i, j)]
                    }
                    Variable::Velocity => -b.force_by_velocity[(i, j)],
                    Variable::Acceleration => b.mass[(i, j)],
                    Variable::Multiplier => self.jacobian(j, i),
                    Variable::Parameter => {
                        b.inertia_by_parameter[(i, j)] + b.constraint_force_by_parameter[(i, j)]
                            - b.force_by_parameter[(i, j)]
                    }
                };
            }
            for row in 0..m {
                matrix[(n + row, j)] = match variable {
                    Variable::Position => self.jacobian(row, j),
                    Variable::Parameter if self.left_out.contains(&row) => 0.0,
                    Variable::Parameter => b.constraint_by_parameter[(row, j)],
                    _ => 0.0,
                };
            }
        }
        matrix
    }

    /// K, see [`Weights`].
    fn newton(&self, weights: Weights) -> Matrix<f64> {
        let &Dense { blocks: b, n, m, .. } = self;
        let (by_q, by_v) = (self.by(Variable::Position), self.by(Variable::Velocity));
        let mut k = Matrix::filled(n + m, n + m, 0.0);
        for i in 0..n {
            for j in 0..n {
                let velocity = if j < self.coordinates { weights.velocity } else { weights.state };
                k[(i, j)] =
                    weights.acceleration * b.mass[(i, j)] + weights.position * by_q[(i, j)] + velocity * by_v[(i, j)];
            }
            for row in 0..m {
                k[(i, n + row)] = self.jacobian(row, i);
                k[(n + row, i)] = self.jacobian(row, i);
            }
        }
        self.left_out.iter().for_each(|row| k[(n + row, n + row)] = 1.0);
        k
    }
}
