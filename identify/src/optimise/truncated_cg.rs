//! Conjugate gradients on a quadratic model, truncated at the trust region's boundary (Steihaug 1983), within bounds.
//!
//! From d = 0 the iterates go down the model over the variables that no bound holds. An iterate that would leave the box is
//! projected onto it if the model agrees, else cut at the first bound; variables on bounds then stay, and the others restart
//! from there (Lin & Moré 1999; Nocedal & Wright, sections 7.1 and 16.7). Negative curvature is followed to the boundary.
//! The way is kept: a smaller trust region takes less of it and needs no further products.

use super::evaluation::{Step, dot, norm};
use super::outcome::Curvature;

/// Curvature below this part of what the product's length would permit is none.
const FLAT: f64 = 1e-15;
/// Bisections for a length.
const MAX_SEARCH: usize = 60;

/// Quadratic problem in a trust region: minimise gᵀd + ½ dᵀH d.
pub(crate) struct Subproblem<'a> {
    pub gradient: &'a [f64],
    /// Least and largest step of each variable.
    pub ranges: &'a [(f64, f64)],
    /// Variables that stay.
    pub held: &'a [bool],
    /// The slopes of the free variables are to fall by this factor.
    pub tolerance: f64,
    /// Most products with H.
    pub most_products: usize,
}

/// Place that the way passes, with H times that.
struct Place {
    d: Vec<f64>,
    product: Vec<f64>,
}

/// The way down the model.
pub(crate) struct Path {
    places: Vec<Place>,
    /// Curvature of H that was seen.
    pub curvature: Curvature,
    /// Cut by the trust region.
    is_cut: bool,
}

/// A step along the way.
pub(crate) struct PathStep {
    pub d: Vec<f64>,
    /// The model's decrease.
    pub promise: f64,
    /// Cut by the trust region.
    pub is_cut: bool,
}

impl Path {
    /// Goes down as far as `size` of the step is at most 1; `size` grows with each component. `times` multiplies with H, or
    /// fails.
    pub fn follow(
        subproblem: &Subproblem<'_>,
        size: &impl Fn(&[f64]) -> f64,
        times: &mut impl FnMut(&[f64]) -> Step<Option<Vec<f64>>>,
    ) -> Step<Path> {
        let n = subproblem.gradient.len();
        let origin = Place { d: vec![0.0; n], product: vec![0.0; n] };
        let path = Path { places: vec![origin], curvature: Curvature::Positive, is_cut: false };
        let (held, left) = (subproblem.held.to_vec(), subproblem.most_products);
        let mut walk = Walk { subproblem, size, times, path, held, enough: 0.0, round_off: 0.0, left };
        let first = walk.free_norm(subproblem.gradient);
        (walk.enough, walk.round_off) = (subproblem.tolerance * first, f64::EPSILON * first);
        while walk.cross_face()? {}
        Ok(walk.path)
    }

    /// The last step on the way for which `size` is at most 1.
    pub fn within(&self, gradient: &[f64], size: &impl Fn(&[f64]) -> f64) -> PathStep {
        // the origin always is
        let last =
            self.places.iter().position(|place| size(&place.d) > 1.0 + 1e-12).map_or(self.places.len(), |i| i) - 1;
        let from = &self.places[last];
        let (d, product, is_cut) = match self.places.get(last + 1) {
            None => (from.d.clone(), from.product.clone(), self.is_cut),
            Some(to) => {
                let along = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<f64>>();
                let (step, bend) = (along(&from.d, &to.d), along(&from.product, &to.product));
                let t = reach(size, &from.d, &step).min(1.0);
                let at = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + t * b).collect::<Vec<f64>>();
                (at(&from.d, &step), at(&from.product, &bend), true)
            }
        };
        PathStep { promise: -dot(gradient, &d) - 0.5 * dot(&d, &product), d, is_cut }
    }

    /// A straight way along one direction, as far as `size` and the bounds permit.
    pub fn straight(p: &[f64], product: &[f64], ranges: &[(f64, f64)], size: &impl Fn(&[f64]) -> f64) -> Path {
        let zero = vec![0.0; p.len()];
        let origin = Place { d: zero.clone(), product: zero.clone() };
        let mut path = Path { places: vec![origin], curvature: Curvature::Negative, is_cut: true };
        let t = reach(size, &zero, p).min(room(&zero, p, ranges, &vec![false; p.len()]));
        path.advance(t, p, product);
        path
    }

    fn end(&self) -> &Place {
        // there is the origin at least
        &self.places[self.places.len() - 1]
    }

    fn slopes(&self, gradient: &[f64]) -> Vec<f64> {
        gradient.iter().zip(&self.end().product).map(|(g, product)| g + product).collect()
    }

    fn advance(&mut self, t: f64, p: &[f64], product: &[f64]) {
        let at = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + t * b).collect::<Vec<f64>>();
        let end = self.end();
        let place = Place { d: at(&end.d, p), product: at(&end.product, product) };
        self.places.push(place);
    }

    /// Puts the end exactly here, a rounding error away.
    fn end_at(&mut self, d: Vec<f64>) {
        if let Some(place) = self.places.last_mut() {
            place.d = d;
        }
    }

    fn see(&mut self, curvature: f64, flat: f64) {
        self.curvature = match () {
            _ if curvature < -flat => Curvature::Negative,
            _ if curvature <= flat && self.curvature == Curvature::Positive => Curvature::Singular,
            _ => self.curvature,
        };
    }
}

/// The way while it is found.
struct Walk<'a, S, T> {
    subproblem: &'a Subproblem<'a>,
    size: &'a S,
    times: &'a mut T,
    path: Path,
    /// Variables that stay from here on.
    held: Vec<bool>,
    /// Slopes of free variables as small as this end the way; and so do those that are no more than round-off so far.
    enough: f64,
    round_off: f64,
    /// Products that are left.
    left: usize,
}

impl<S: Fn(&[f64]) -> f64, T: FnMut(&[f64]) -> Step<Option<Vec<f64>>>> Walk<'_, S, T> {
    fn free_norm(&self, r: &[f64]) -> f64 {
        norm(r.iter().zip(&self.held).map(|(r, held)| if *held { 0.0 } else { *r }))
    }

    /// Goes over the face of the box on which the held variables stay; says whether it met another bound, where a new face begins.
    fn cross_face(&mut self) -> Step<bool> {
        let Subproblem { gradient, ranges, .. } = *self.subproblem;
        let n = gradient.len();
        let mut r = self.path.slopes(gradient);
        let mut p: Vec<f64> = (0..n).map(|i| if self.held[i] { 0.0 } else { -r[i] }).collect();
        loop {
            let here = self.path.end().d.clone();
            let square = self.free_norm(&r).powi(2);
            if square.sqrt() <= self.enough.max(10.0 * self.round_off) || self.left == 0 {
                return Ok(false);
            }
            self.left -= 1;
            let Some(product) = (self.times)(&p)? else {
                self.go_by_gradient(&p);
                return Ok(false);
            };
            let curvature = dot(&p, &product);
            let flat = FLAT * norm(p.iter().copied()) * norm(product.iter().copied());
            self.path.see(curvature, flat);
            let farthest = reach(self.size, &here, &p);
            let t = if curvature > flat { square / curvature } else { f64::INFINITY };
            let (t, is_cut) = (t.min(farthest), t >= farthest);
            let first_bound = room(&here, &p, ranges, &self.held);
            if t >= first_bound {
                let cut_change = -first_bound * square + 0.5 * first_bound * first_bound * curvature;
                if !self.project(&p, t, &r, cut_change)? {
                    self.stop_at_bound(&p, first_bound, &product);
                }
                let end = &self.path.end().d;
                (0..n).for_each(|i| self.held[i] |= bound_room(end[i], p[i], ranges[i]) <= 0.0);
                return Ok(true);
            }
            self.path.advance(t, &p, &product);
            self.path.is_cut = is_cut;
            if is_cut {
                return Ok(false);
            }
            self.round_off += f64::EPSILON * t * norm(product.iter().copied());
            r = self.path.slopes(gradient);
            let beta = self.free_norm(&r).powi(2) / square;
            (0..n).filter(|&i| !self.held[i]).for_each(|i| p[i] = beta * p[i] - r[i]);
        }
    }

    /// Goes where the gradient alone points, without curvature at the start.
    fn go_by_gradient(&mut self, p: &[f64]) {
        if self.path.places.len() == 1 {
            self.path.curvature = Curvature::Unknown;
            let origin = &self.path.end().d;
            let t = reach(self.size, origin, p).min(room(origin, p, self.subproblem.ranges, &self.held));
            self.path.advance(t, p, &vec![0.0; p.len()]);
            self.path.is_cut = true;
        }
    }

    /// Goes t along p and from there onto the box, if the model agrees that this is better than the change by a cut at the first
    /// bound; says whether it did.
    fn project(&mut self, p: &[f64], t: f64, slopes: &[f64], cut_change: f64) -> Step<bool> {
        let ranges = self.subproblem.ranges;
        let (d, moved) = projected(&self.path.end().d, p, t, ranges);
        let slope = dot(&moved, slopes);
        let crossed = |i: usize| !self.held[i] && bound_room(d[i], p[i], ranges[i]) <= 0.0;
        // more than one bound is crossed: there is something to be gained
        let is_worth = (0..d.len()).filter(|&i| crossed(i)).count() > 1 && slope < 0.0;
        if !is_worth || self.left == 0 || (self.size)(&d) > 1.0 {
            return Ok(false);
        }
        self.left -= 1;
        match (self.times)(&moved)? {
            Some(product) if slope + 0.5 * dot(&moved, &product) < cut_change => {
                self.round_off += f64::EPSILON * norm(product.iter().copied());
                self.path.advance(1.0, &moved, &product);
                self.path.end_at(d);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Goes along p as far as the first bound, t away.
    fn stop_at_bound(&mut self, p: &[f64], t: f64, product: &[f64]) {
        self.round_off += f64::EPSILON * t * norm(product.iter().copied());
        self.path.advance(t, p, product);
        // rounding must not leave the variable a hair inside
        let mut d = self.path.end().d.clone();
        for i in (0..d.len()).filter(|&i| !self.held[i]) {
            let range = self.subproblem.ranges[i];
            if bound_room(d[i], p[i], range) <= 4.0 * f64::EPSILON * (d[i].abs() + t * p[i].abs()) {
                d[i] = if p[i] < 0.0 { range.0 } else { range.1 };
            }
        }
        self.path.end_at(d);
    }
}

/// The largest t for which the size of d + t p is at most 1.
fn reach(size: &impl Fn(&[f64]) -> f64, d: &[f64], p: &[f64]) -> f64 {
    let at = |t: f64| size(&d.iter().zip(p).map(|(d, p)| d + t * p).collect::<Vec<f64>>());
    let (mut low, mut high) = (0.0, 1.0);
    while at(high) <= 1.0 && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..MAX_SEARCH {
        let middle = if low == 0.0 && high > 1e-300 { 0.1 * high } else { 0.5 * (low + high) };
        if at(middle) <= 1.0 { low = middle } else { high = middle }
    }
    low
}

/// Distance from d to the bound ahead in direction p.
fn bound_room(d: f64, p: f64, (least, most): (f64, f64)) -> f64 {
    match p {
        p if p < 0.0 => d - least,
        p if p > 0.0 => most - d,
        _ => f64::INFINITY,
    }
}

/// The t at which the first free variable meets a bound.
fn room(d: &[f64], p: &[f64], ranges: &[(f64, f64)], held: &[bool]) -> f64 {
    let moving = (0..d.len()).filter(|&i| !held[i] && p[i] != 0.0);
    moving.map(|i| bound_room(d[i], p[i], ranges[i]).max(0.0) / p[i].abs()).fold(f64::INFINITY, f64::min)
}

/// d + t p, projected onto the box, and the move from d.
fn projected(d: &[f64], p: &[f64], t: f64, ranges: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let end = |i: usize| if p[i] == 0.0 { d[i] } else { (d[i] + t * p[i]).clamp(ranges[i].0, ranges[i].1) };
    let end: Vec<f64> = (0..d.len()).map(end).collect();
    let moved = end.iter().zip(d).map(|(end, d)| end - d).collect();
    (end, moved)
}
