//! Balances about positions, velocities and accelerations alone, coordinate by coordinate.

/// How a balance sets Q, V, A and S, if it is about these alone: (Q, V, A, S) = known (Q, V, A, S) + unknown z, coordinate by coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    pub known: [[f64; 4]; 4],
    pub unknown: [f64; 4],
}

impl Transfer {
    /// known x, in place.
    #[inline]
    pub fn forwards(&self, [q, v, a, s]: [&mut [f64]; 4]) {
        let k = &self.known;
        for (((q, v), a), s) in q.iter_mut().zip(v).zip(a).zip(s) {
            let x = [*q, *v, *a, *s];
            let row = |row: &[f64; 4]| row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3];
            (*q, *v, *a, *s) = (row(&k[0]), row(&k[1]), row(&k[2]), row(&k[3]));
        }
    }

    /// known x, of a state whose first four blocks these are, into `base`, one behind the other.
    #[inline(always)]
    pub fn base(&self, n: usize, x: &[f64], base: &mut [f64]) {
        let (q, rest) = x[..4 * n].split_at(n);
        let (v, rest) = rest.split_at(n);
        let (a, s) = rest.split_at(n);
        for (k, row) in self.known.iter().enumerate() {
            let base = &mut base[k * n..(k + 1) * n];
            for ((((base, q), v), a), s) in base.iter_mut().zip(q).zip(v).zip(a).zip(s) {
                *base = row[0] * q + row[1] * v + row[2] * a + row[3] * s;
            }
        }
    }

    /// base + unknown z into the first `blocks` blocks of a state.
    #[inline(always)]
    pub fn update(&self, n: usize, blocks: usize, (base, z): (&[f64], &[f64]), x: &mut [f64]) {
        let z = &z[..n];
        for (k, factor) in self.unknown.iter().enumerate().take(blocks) {
            let (x, base) = (&mut x[k * n..(k + 1) * n], &base[k * n..(k + 1) * n]);
            for ((x, base), z) in x.iter_mut().zip(base).zip(z) {
                *x = base + factor * z;
            }
        }
    }

    /// knownᵀ x, in place.
    #[inline]
    pub fn backwards(&self, [q, v, a, s]: [&mut [f64]; 4]) {
        let k = &self.known;
        for (((q, v), a), s) in q.iter_mut().zip(v).zip(a).zip(s) {
            let x = [*q, *v, *a, *s];
            let column = |j: usize| k[0][j] * x[0] + k[1][j] * x[1] + k[2][j] * x[2] + k[3][j] * x[3];
            (*q, *v, *a, *s) = (column(0), column(1), column(2), column(3));
        }
    }

    /// unknownᵀ x
    #[inline]
    pub fn weigh(&self, [q, v, a, s]: [&[f64]; 4], z: &mut [f64]) {
        let b = &self.unknown;
        for ((((z, q), v), a), s) in z.iter_mut().zip(q).zip(v).zip(a).zip(s) {
            *z = b[0] * q + b[1] * v + b[2] * a + b[3] * s;
        }
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
