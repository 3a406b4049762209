//! The damped quadratic model of a function that works its own Gauss-Newton steps out.

use super::DampedSteps;
use super::bounded_step::Quadratic;
use super::evaluation::{Point, dot, norm};
use crate::{Error, Result};

/// ½|r + J d|² in scaled variables.
pub(super) struct BandModel<'a> {
    objective: &'a mut dyn DampedSteps,
    point: &'a Point,
    /// Derivatives du/dx.
    slopes: Vec<f64>,
    /// JᵀJ d for the d that was found last.
    product: Vec<f64>,
    /// First error; the steps after it are zero.
    pub error: Option<Error>,
}

impl<'a> BandModel<'a> {
    pub fn new(objective: &'a mut dyn DampedSteps, point: &'a Point, slopes: Vec<f64>) -> Self {
        BandModel { objective, point, product: vec![0.0; slopes.len()], slopes, error: None }
    }

    fn try_solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) -> Result<()> {
        let (root, slopes) = (damping.sqrt(), &self.slopes);
        let roots: Vec<f64> = slopes.iter().map(|slope| root / slope).collect();
        let given: Vec<Option<f64>> = (0..d.len()).map(|i| staying[i].then(|| d[i] * slopes[i])).collect();
        let mut step = vec![0.0; d.len()];
        self.objective.damped_step(&self.point.u, &roots, &given, &mut step)?;
        self.objective.normal_product(&self.point.u, &step, &mut self.product)?;
        self.product.iter_mut().zip(slopes).for_each(|(product, slope)| *product *= slope);
        for i in (0..d.len()).filter(|&i| !staying[i]) {
            d[i] = step[i] / slopes[i];
        }
        Ok(())
    }
}

impl Quadratic for BandModel<'_> {
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) {
        let outcome = if self.error.is_none() { self.try_solve(staying, damping, d) } else { Ok(()) };
        if let Err(error) = outcome {
            self.error = Some(error);
        }
        if self.error.is_some() {
            d.fill(0.0);
            self.product.fill(0.0);
        }
    }

    fn weighted_slopes(&self, d: &[f64], damping: f64) -> Vec<f64> {
        let gradient = &self.point.scaled_gradient;
        (0..d.len()).map(|i| gradient[i] + self.product[i] + damping * d[i]).collect()
    }

    fn slope_size(&self) -> f64 {
        norm(self.point.scaled_gradient.iter().copied())
    }

    fn bend(&self, d: &[f64]) -> f64 {
        dot(d, &self.product)
    }
}
