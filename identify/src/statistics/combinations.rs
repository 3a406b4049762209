//! What the data determine where they do not determine single parameters: independent combinations, as the base parameters of robots
//! (Gautier & Khalil 1990; by QR, Gautier 1991).

use super::Statistics;
use super::identifiability::Identifiability;
use costate::shown::rounded;
use nalgebra::{DMatrix, DVector};
use serde_json::{Value, json};

/// A combination of parameters that the data determine, while they do not determine each of them: to first order, and exactly where residuals are
/// linear in the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Parameters that take part, by their places among all of the model, with factors in their units; the first one's is 1.
    pub terms: Vec<(usize, f64)>,
    /// The same with the parts that are round-off.
    pub(super) all: Vec<(usize, f64)>,
    names: Vec<String>,
    /// Units of those parameters.
    units: Vec<String>,
    /// Unit of the combination: that of the first parameter.
    pub unit: String,
    /// Value at the point of the analysis.
    pub value: f64,
}

impl std::fmt::Display for Combination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = self.names.iter().zip(&self.units);
        for (number, ((_, factor), (name, unit))) in self.terms.iter().zip(named).enumerate() {
            // kilograms are not added to metres: factors have units
            let unit = if *unit == self.unit { String::new() } else { format!(" [{}]", quotient(&self.unit, unit)) };
            let sign = match (number, *factor < 0.0) {
                (0, _) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            match rounded(factor.abs(), 4).as_str() {
                "1" if unit.is_empty() => write!(f, "{sign}{name}")?,
                factor => write!(f, "{sign}{factor}{unit} {name}")?,
            }
        }
        Ok(())
    }
}

/// The unit of what makes one unit of another: `m` of kg m and kg.
fn quotient(unit: &str, of: &str) -> String {
    let mut powers: Vec<(&str, i32)> = Vec::new();
    for (text, side) in [(unit, 1), (of, -1)] {
        for (k, part) in text.split('/').enumerate() {
            for word in part.split([' ', '*']).filter(|word| !["", "1"].contains(word)) {
                let (name, power) = word.split_once('^').unwrap_or((word, "1"));
                let Ok(power) = power.parse::<i32>() else { return format!("({unit})/({of})") };
                let power = if k == 0 { side * power } else { -side * power };
                match powers.iter_mut().find(|(own, _)| *own == name) {
                    Some((_, sum)) => *sum += power,
                    None => powers.push((name, power)),
                }
            }
        }
    }
    let written = |sign: i32| -> Vec<String> {
        let own = powers.iter().filter(|(_, power)| power * sign > 0);
        own.map(|(name, power)| if power.abs() == 1 { name.to_string() } else { format!("{name}^{}", power.abs()) })
            .collect()
    };
    let [above, below] = [1, -1].map(written);
    let above = if above.is_empty() { "1".to_string() } else { above.join(" ") };
    std::iter::once(above).chain(below).collect::<Vec<_>>().join("/")
}

impl Combination {
    /// The combination for programs.
    pub(super) fn json(&self) -> Value {
        let terms = self.terms.iter().zip(&self.names);
        let terms: Vec<Value> = terms.map(|((_, factor), name)| json!({"name": name, "factor": factor})).collect();
        json!({"terms": terms, "unit": self.unit, "value": self.value})
    }
}

/// A combination with its standard error.
#[derive(Debug, Clone, PartialEq)]
pub struct CombinationStatistics {
    /// The combination, with its value.
    pub combination: Combination,
    /// Its standard error.
    pub standard_error: f64,
}

/// Parts of a column that earlier ones do not make up, from which on it counts as independent of them: the largest by which their number is right.
const INDEPENDENT: [f64; 7] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];

/// Factors, of columns of unit length, that are round-off.
const ROUND_OFF: f64 = 1e-6;

impl Identifiability {
    /// Combinations that are determined, as many as there are independent ones of those parameters that are not determined alone: of the first of
    /// them in the model's order, each with what of the others cannot be told from it. None where single parameters are determined all, or none of
    /// them is; and none of parameters that are scaled by their logarithms.
    pub fn combinations(&self) -> Vec<Combination> {
        let places: Vec<usize> = (0..self.active.len()).filter(|i| self.involved.contains(&self.active[*i])).collect();
        let is_log = places.iter().any(|&i| self.parameters[self.active[i]].log);
        let wanted = places.len().saturating_sub(self.undetermined.len());
        if wanted == 0 || is_log || self.undetermined.is_empty() {
            return Vec::new();
        }
        // what is told poorly counts as much as what is told well: by residuals, round-off would decide where it is in all combinations
        let column = |i: usize| DVector::from_fn(self.rank, |j, _| self.vectors[(i, j)]);
        let columns: Vec<DVector<f64>> = places.iter().map(|&i| column(i)).collect();
        let Some((kept, basis)) =
            INDEPENDENT.iter().map(|least| independent(&columns, *least)).find(|(kept, _)| kept.len() == wanted)
        else {
            return Vec::new();
        };
        let rest: Vec<usize> = (0..columns.len()).filter(|k| !kept.contains(k)).collect();
        // columns of the first are Q R, those of the others Q b: R K = b
        let along = |k: usize| DVector::from_fn(wanted, |j, _| basis[j].dot(&columns[k]));
        let triangle = DMatrix::from_columns(&kept.iter().map(|k| along(*k)).collect::<Vec<_>>());
        let solved: Vec<DVector<f64>> =
            rest.iter().filter_map(|k| triangle.solve_upper_triangular(&along(*k))).collect();
        if solved.len() < rest.len() {
            return Vec::new();
        }
        let size = |k: usize| self.lengths[places[k]] / self.parameters[self.active[places[k]]].size;
        let own = |k: usize| &self.parameters[self.active[places[k]]];
        let combination = |(row, &lead): (usize, &usize)| {
            let others = || rest.iter().zip(&solved).map(|(&k, solved)| (k, solved[row]));
            let factor = |(k, scaled): (usize, f64)| (own(k).index, scaled * size(k) / size(lead));
            let shown: Vec<(usize, f64)> = others().filter(|(_, scaled)| scaled.abs() > ROUND_OFF).collect();
            let part = || std::iter::once(lead).chain(shown.iter().map(|(k, _)| *k)).map(own);
            let (names, units) = part().map(|own| (own.name.clone(), own.unit.clone())).unzip();
            let first = (own(lead).index, 1.0);
            let all: Vec<(usize, f64)> = std::iter::once(first).chain(others().map(factor)).collect();
            let value = |(place, factor): &(usize, f64)| {
                let own = self.parameters.iter().find(|own| own.index == *place);
                own.map_or(0.0, |own| factor * own.value)
            };
            Combination {
                terms: std::iter::once(first).chain(shown.into_iter().map(factor)).collect(),
                value: all.iter().map(value).sum(),
                all,
                names,
                units,
                unit: own(lead).unit.clone(),
            }
        };
        kept.iter().enumerate().map(combination).collect()
    }

    /// Lines on the combinations that are determined.
    pub(super) fn combination_lines(&self) -> Vec<String> {
        let all = self.combinations();
        if all.is_empty() {
            return Vec::new();
        }
        let alone = self.parameters.len() - self.involved.len() - self.without_influence.len();
        let mut lines = vec![format!(
            "\n{} of {} parameters are determined alone, and {} combinations of {} others (to first order):",
            alone,
            self.parameters.len(),
            all.len(),
            self.involved.len()
        )];
        lines.extend(all.iter().map(|own| format!("  {own}")));
        lines
    }
}

/// Places of the columns that are independent of those before them, and an orthonormal basis of these.
fn independent(columns: &[DVector<f64>], least: f64) -> (Vec<usize>, Vec<DVector<f64>>) {
    let (mut kept, mut basis) = (Vec::new(), Vec::<DVector<f64>>::new());
    for (k, column) in columns.iter().enumerate() {
        let mut rest = column.clone();
        // twice is enough
        for _ in 0..2 {
            for own in &basis {
                let along = own.dot(&rest);
                rest.axpy(-along, own, 1.0);
            }
        }
        let norm = rest.norm();
        if norm > least * column.norm() {
            kept.push(k);
            basis.push(rest / norm);
        }
    }
    (kept, basis)
}

impl Statistics {
    /// Combinations with their standard errors; `root`: that of the covariance of determined directions.
    pub(super) fn of_combinations(&self, count: usize, root: &DMatrix<f64>) -> Vec<CombinationStatistics> {
        let with_error = |combination: Combination| {
            let mut slope = vec![0.0; count];
            combination.all.iter().for_each(|(place, factor)| slope[*place] = *factor);
            let standard_error = self.error_along(&slope, root);
            CombinationStatistics { combination, standard_error }
        };
        self.identifiability.combinations().into_iter().map(with_error).collect()
    }

    /// Lines on the combinations that are determined.
    pub(in super::super) fn combination_lines(&self) -> Vec<String> {
        if self.combinations.is_empty() {
            return Vec::new();
        }
        let line = |own: &CombinationStatistics| {
            let Combination { value, unit, .. } = &own.combination;
            let unit = if unit == "1" { String::new() } else { format!(" {unit}") };
            match !self.noisy(own.standard_error).is_null() {
                true => {
                    let error = rounded(own.standard_error, 2);
                    format!("  {} = {}{unit} +/- {error}", own.combination, rounded(*value, 6))
                }
                false => format!("  {} = {}{unit}", own.combination, rounded(*value, 6)),
            }
        };
        let head = "combinations of parameters that are not determined alone (to first order):".to_string();
        std::iter::once(head).chain(self.combinations.iter().map(line)).collect()
    }

    /// The combinations for programs.
    pub(in super::super) fn combinations_json(&self) -> Value {
        let one = |own: &CombinationStatistics| {
            let mut combination = own.combination.json();
            combination["standard_error"] = json!(self.noisy(own.standard_error));
            combination
        };
        self.combinations.iter().map(one).collect()
    }
}
