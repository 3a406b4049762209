//! Many parameters, each in few equations: 20 masses in a row with 20 springs and 20 dampers, 40 parameters.
//!
//! `cargo bench -p costate-benches --bench chain`; with `-- none` behind it only the table.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::sensitivity::Method;
use costate::{
    Matrix, Model, Number, Parameter, Plain, Quantity, Result, Signal, Signature, Simulation, State, TimeGrid,
};
use costate_benches::{Contestant, measuring, medians};
use std::sync::Arc;

const MASSES: usize = 20;
const MASS: f64 = 0.5;
/// Share of a spring's force that grows with the cube of its elongation, 1/m².
const HARDENING: f64 = 40.0;
/// Masses whose motion is measured.
const MEASURED: [usize; 3] = [4, 11, 19];

/// Masses between springs and dampers in parallel, from a wall to the free end, where a force pulls.
struct Chain;

impl Model for Chain {
    fn signature(&self) -> Signature {
        let mut signature = Signature::new("chain").inputs([("F", "N")]);
        let quantity = |name: String, unit: &str| Quantity::new(name, unit);
        signature.coordinates = (1..=MASSES).map(|i| quantity(format!("x{i}"), "m")).collect();
        for i in MEASURED {
            signature.outputs.push(quantity(format!("x{}", i + 1), "m"));
            signature.outputs.push(quantity(format!("a{}", i + 1), "m/s^2"));
        }
        let stiffness = (0..MASSES).map(|i| {
            let nominal = 2000.0 + 300.0 * (1.3 * i as f64).sin();
            Parameter::new(format!("k{}", i + 1), "N/m", nominal).non_negative()
        });
        let damping = (0..MASSES).map(|i| {
            let nominal = 1.5 + 0.4 * (0.9 * i as f64).cos();
            Parameter::new(format!("d{}", i + 1), "N s/m", nominal).non_negative()
        });
        signature.parameters(stiffness.chain(damping))
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        (0..MASSES).for_each(|i| m[(i, i)] = D::from(MASS));
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let (stiffness, damping) = u.split_at(MASSES);
        for i in 0..MASSES {
            let (elongation, rate) = if i == 0 { (q[0], v[0]) } else { (q[i] - q[i - 1], v[i] - v[i - 1]) };
            let tension = stiffness[i] * (elongation * elongation * HARDENING + 1.0) * elongation + damping[i] * rate;
            force[i] -= tension;
            if i > 0 {
                force[i - 1] += tension;
            }
        }
        force[MASSES - 1] += w[0];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        for (place, i) in MEASURED.into_iter().enumerate() {
            y[2 * place] = x.q[i];
            y[2 * place + 1] = x.a[i];
        }
    }
}

/// Relative difference of two vectors, by the larger entry of each pair.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
}

fn main() -> Result<()> {
    let simulation = Simulation::new(
        Arc::new(Plain::new(Chain)?),
        Hht::new(-0.05)?,
        TimeGrid::uniform(0.0, 2.0, 1e-3)?,
        vec![Signal::function(|t| 40.0 * (9.0 * t).sin() + 20.0 * (23.0 * t).sin())],
    )?;
    let steps = simulation.grid().count();
    let signature = simulation.signature();
    let reference = simulation.run(&signature.nominal())?;
    let references = (0..signature.outputs.len())
        .map(|output| {
            let deviation = if output % 2 == 0 { 1e-3 } else { 0.5 };
            Reference { output, values: reference.output(output), deviation }
        })
        .collect();
    let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Rectangle)?;
    let start: Vec<f64> =
        signature.nominal().iter().enumerate().map(|(k, u)| u * (1.0 + 0.05 * (k as f64).sin())).collect();
    let count = start.len();

    let gradient = || costate::sensitivity::Gradient::new(&simulation, &cost);
    let (mut plain, mut adjoint, mut tangent, mut second) = (gradient()?, gradient()?, gradient()?, gradient()?);
    let (mut slope, mut product) = (vec![0.0; count], Vec::new());
    let (mut by_adjoint, mut by_tangent) = (vec![0.0; count], vec![0.0; count]);
    adjoint.cost_and_gradient(&start, Method::Adjoint, &mut by_adjoint)?;
    tangent.cost_and_gradient(&start, Method::Tangent, &mut by_tangent)?;
    let deviation = difference(&by_adjoint, &by_tangent);
    assert!(deviation < 1e-8, "adjoint and tangents differ by {deviation:e}");
    let iterations = adjoint.counters().iterations as f64 / steps as f64;

    let start = &start;
    let mut contestants: Vec<Contestant<'_>> = vec![
        ("cost", Box::new(move || drop(plain.cost(start)))),
        ("cost+adjoint", Box::new(move || drop(adjoint.cost_and_gradient(start, Method::Adjoint, &mut by_adjoint)))),
        ("Hessian-vector", Box::new(move || drop(second.hessian_vector(start, start, &mut slope, &mut product)))),
        ("cost+tangents", Box::new(move || drop(tangent.cost_and_gradient(start, Method::Tangent, &mut by_tangent)))),
    ];
    let mut criterion = costate_benches::criterion();
    let mut group = criterion.benchmark_group("chain");
    group.throughput(criterion::Throughput::Elements(steps as u64));
    for (name, work) in &mut contestants {
        group.bench_function(*name, |b| b.iter(&mut *work));
    }
    group.finish();
    criterion.final_summary();

    if measuring() {
        let medians = medians(&mut contestants, 31);
        println!("\nchain of {MASSES}, {count} parameters, {steps} steps, {iterations:.2} iterations a step");
        println!("adjoint and tangents agree to {deviation:.1e}; medians of 31 turns");
        for ((name, _), time) in contestants.iter().zip(&medians) {
            println!("{name:14} {:9.1} ns a step   {:5.2} x cost", time / steps as f64 * 1e9, time / medians[0]);
        }
    }
    Ok(())
}
