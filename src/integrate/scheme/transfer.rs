//! Balances about positions, velocities and accelerations alone, coordinate by coordinate.

/// Coefficients of a balance that sets Q, V, A and S from these alone: (Q, V, A, S) = known (Q, V, A, S) + unknown z, coordinate by
/// coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub known: [[f64; 4]; 4],
    pub unknown: [f64; 4],
}

/// Coordinates are gone through by so many at once.
const LANES: usize = 2;

/// The sum of four vectors of some coordinates, each times its factor.
#[inline(always)]
fn mix<const L: usize>(factors: [f64; 4], [q, v, a, s]: &[[f64; L]; 4]) -> [f64; L] {
    std::array::from_fn(|j| factors[0] * q[j] + factors[1] * v[j] + factors[2] * a[j] + factors[3] * s[j])
}

/// k x in place, of some coordinates at a time.
#[inline(always)]
fn apply_to<const L: usize>(k: &[[f64; 4]; 4], [q, v, a, s]: [&mut [[f64; L]]; 4]) {
    for (((q, v), a), s) in q.iter_mut().zip(v).zip(a).zip(s) {
        let x = [*q, *v, *a, *s];
        (*q, *v, *a, *s) = (mix(k[0], &x), mix(k[1], &x), mix(k[2], &x), mix(k[3], &x));
    }
}

/// k x in place.
#[inline(always)]
fn apply(k: &[[f64; 4]; 4], [q, v, a, s]: [&mut [f64]; 4]) {
    let ((q, q_rest), (v, v_rest)) = (q.as_chunks_mut::<LANES>(), v.as_chunks_mut::<LANES>());
    let ((a, a_rest), (s, s_rest)) = (a.as_chunks_mut::<LANES>(), s.as_chunks_mut::<LANES>());
    apply_to(k, [q, v, a, s]);
    let [(q, _), (v, _)] = [q_rest.as_chunks_mut::<1>(), v_rest.as_chunks_mut::<1>()];
    let [(a, _), (s, _)] = [a_rest.as_chunks_mut::<1>(), s_rest.as_chunks_mut::<1>()];
    apply_to(k, [q, v, a, s]);
}

/// The sum of four vectors, each times its factor.
#[inline(always)]
fn sum_into(factors: [f64; 4], [q, v, a, s]: [&[f64]; 4], sum: &mut [f64]) {
    let ((sum, sum_rest), (q, q_rest), (v, v_rest)) =
        (sum.as_chunks_mut::<LANES>(), q.as_chunks::<LANES>(), v.as_chunks::<LANES>());
    let ((a, a_rest), (s, s_rest)) = (a.as_chunks::<LANES>(), s.as_chunks::<LANES>());
    for ((((sum, q), v), a), s) in sum.iter_mut().zip(q).zip(v).zip(a).zip(s) {
        *sum = mix(factors, &[*q, *v, *a, *s]);
    }
    for ((((sum, q), v), a), s) in sum_rest.iter_mut().zip(q_rest).zip(v_rest).zip(a_rest).zip(s_rest) {
        [*sum] = mix(factors, &[[*q], [*v], [*a], [*s]]);
    }
}

impl Transfer {
    /// known x, in place.
    #[inline]
    pub fn forwards(&self, x: [&mut [f64]; 4]) {
        apply(&self.known, x);
    }

    /// known x, of a state whose first four blocks these are, into `base`, one behind the other.
    #[inline(always)]
    pub fn base(&self, n: usize, x: &[f64], base: &mut [f64]) {
        let (x, base) = (&x[..4 * n], &mut base[..4 * n]);
        let (q, rest) = x.split_at(n);
        let (v, rest) = rest.split_at(n);
        let (a, s) = rest.split_at(n);
        for (k, row) in self.known.iter().enumerate() {
            sum_into(*row, [q, v, a, s], &mut base[k * n..(k + 1) * n]);
        }
    }

    /// base + unknown z into the first `blocks` blocks of a state.
    #[inline(always)]
    pub fn update(&self, n: usize, blocks: usize, (base, z): (&[f64], &[f64]), x: &mut [f64]) {
        // cut once, they need no look at their ends any more
        let (base, z, x) = (&base[..4 * n], &z[..n], &mut x[..4 * n]);
        for (k, factor) in self.unknown.iter().enumerate().take(blocks) {
            let (x, base) = (&mut x[k * n..(k + 1) * n], &base[k * n..(k + 1) * n]);
            for ((x, base), z) in x.iter_mut().zip(base).zip(z) {
                *x = base + factor * z;
            }
        }
    }

    /// knownᵀ x, in place.
    #[inline(always)]
    pub fn backwards(&self, x: [&mut [f64]; 4]) {
        let k = &self.known;
        apply(&std::array::from_fn(|j| [k[0][j], k[1][j], k[2][j], k[3][j]]), x);
    }

    /// unknownᵀ x
    #[inline(always)]
    pub fn weigh(&self, x: [&[f64]; 4], z: &mut [f64]) {
        sum_into(self.unknown, x, z);
    }

    /// Adds unknown z.
    #[inline]
    pub fn add(&self, [q, v, a, s]: [&mut [f64]; 4], z: &[f64]) {
        let b = &self.unknown;
        for ((((q, v), a), s), z) in q.iter_mut().zip(v).zip(a).zip(s).zip(z) {
            *q += b[0] * z;
            *v += b[1] * z;
            *a += b[2] * z;
            *s += b[3] * z;
        }
    }
}
