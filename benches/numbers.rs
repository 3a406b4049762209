//! Number types: a model's force with its derivatives by four variables on the engine's numbers and on num-dual's.
//!
//! `cargo bench -p costate-benches --bench numbers`; with `-- none` behind it only the table.

use costate::number::Jet;
use costate::{Model, Number, Result};
use costate_benches::{Contestant, measuring, medians};
use costate_models::cart_pole::CartPole;
use costate_models::engine_mount::EngineMount;
use num_dual::DualSVec64;
use std::hint::black_box;

/// Evaluations in one measurement.
const COUNT: usize = 10_000;

/// The force of a model at moving states, on numbers that `seed` makes of a value and, for variables, the place of its direction.
fn force<M: Model, D: Number>(model: &M, seed: impl Fn(f64, Option<usize>) -> D) -> impl FnMut() {
    let signature = model.signature();
    let n = signature.unknown_count();
    let constants = |values: Vec<f64>| values.into_iter().map(|x| seed(x, None)).collect::<Vec<D>>();
    let (v, w) = (constants(vec![0.3; n]), constants(vec![0.1; signature.inputs.len()]));
    let u = constants(signature.nominal());
    let q: Vec<D> = (0..n).map(|k| seed(0.1, (k < 4).then_some(k))).collect();
    let mut found = vec![seed(0.0, None); n];
    move || {
        for _ in 0..COUNT {
            model.force(black_box(seed(0.0, None)), black_box(&q), black_box(&v), &w, &u, &mut found);
            black_box(&mut found);
        }
    }
}

fn compare<M: Model>(name: &str, model: &M, table: &mut Vec<String>, criterion: &mut criterion::Criterion) {
    let jet = |re: f64, place: Option<usize>| {
        let mut eps = [0.0; 4];
        place.into_iter().for_each(|k| eps[k] = 1.0);
        Jet { re, eps }
    };
    let dual = |re: f64, place: Option<usize>| match place {
        Some(k) => DualSVec64::<4>::from_re(re).derivative(k),
        None => DualSVec64::from_re(re),
    };
    let mut contestants: Vec<Contestant<'_>> = vec![
        ("values alone", Box::new(force(model, |re: f64, _| re))),
        ("engine's Jet<f64, 4>", Box::new(force(model, jet))),
        ("num-dual's DualSVec64<4>", Box::new(force(model, dual))),
    ];
    let mut group = criterion.benchmark_group(name);
    group.throughput(criterion::Throughput::Elements(COUNT as u64));
    for (work_name, work) in &mut contestants {
        group.bench_function(*work_name, |b| b.iter(&mut *work));
    }
    group.finish();
    if measuring() {
        let times: Vec<f64> = medians(&mut contestants, 51).iter().map(|time| time / COUNT as f64 * 1e9).collect();
        let [values, jet, dual] = [times[0], times[1], times[2]];
        table.push(format!("{name:12} {values:12.1} {jet:12.1} {dual:12.1} {:10.2}", dual / jet));
    }
}

fn main() -> Result<()> {
    let (mut criterion, mut table) = (costate_benches::criterion(), Vec::new());
    compare("cart_pole", &CartPole, &mut table, &mut criterion);
    compare("engine_mount", &EngineMount, &mut table, &mut criterion);
    criterion.final_summary();
    if measuring() {
        println!("\nns a force         values          Jet     num-dual   num-dual / Jet");
        table.iter().for_each(|row| println!("{row}"));
    }
    Ok(())
}
