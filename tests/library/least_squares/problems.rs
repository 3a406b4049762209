//! Residuals of standard problems (Moré, Garbow & Hillstrom 1981).

use super::Row;
use costate_identify::Result;

pub fn rosenbrock(u: &[f64]) -> Result<Vec<Row>> {
    Ok(vec![(10.0 * (u[1] - u[0] * u[0]), vec![-20.0 * u[0], 10.0]), (1.0 - u[0], vec![-1.0, 0.0])])
}

pub fn powell_singular(u: &[f64]) -> Result<Vec<Row>> {
    let (a, b, c, d) = (u[0], u[1], u[2], u[3]);
    let (s5, s10, bc, ad) = (5f64.sqrt(), 10f64.sqrt(), b - 2.0 * c, a - d);
    Ok(vec![
        (a + 10.0 * b, vec![1.0, 10.0, 0.0, 0.0]),
        (s5 * (c - d), vec![0.0, 0.0, s5, -s5]),
        (bc * bc, vec![0.0, 2.0 * bc, -4.0 * bc, 0.0]),
        (s10 * ad * ad, vec![2.0 * s10 * ad, 0.0, 0.0, -2.0 * s10 * ad]),
    ])
}

pub fn brown_badly_scaled(u: &[f64]) -> Result<Vec<Row>> {
    let (x, y) = (u[0], u[1]);
    Ok(vec![(x - 1e6, vec![1.0, 0.0]), (y - 2e-6, vec![0.0, 1.0]), (x * y - 2.0, vec![y, x])])
}

pub fn freudenstein_roth(u: &[f64]) -> Result<Vec<Row>> {
    let (x, y) = (u[0], u[1]);
    Ok(vec![
        (-13.0 + x + ((5.0 - y) * y - 2.0) * y, vec![1.0, 10.0 * y - 3.0 * y * y - 2.0]),
        (-29.0 + x + ((y + 1.0) * y - 14.0) * y, vec![1.0, 3.0 * y * y + 2.0 * y - 14.0]),
    ])
}

pub fn bard(u: &[f64]) -> Result<Vec<Row>> {
    let y = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39];
    let row = |(i, y): (usize, &f64)| {
        let a = (i + 1) as f64;
        let (b, c) = (16.0 - a, a.min(16.0 - a));
        let denominator = b * u[1] + c * u[2];
        let slope = a / (denominator * denominator);
        (y - u[0] - a / denominator, vec![-1.0, slope * b, slope * c])
    };
    Ok(y.iter().enumerate().map(row).collect())
}

pub fn kowalik_osborne(u: &[f64]) -> Result<Vec<Row>> {
    let y = [0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246];
    let x = [4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625];
    let row = |(y, x): (&f64, &f64)| {
        let (above, below) = (x * (x + u[1]), x * (x + u[2]) + u[3]);
        let q = u[0] * above / (below * below);
        (y - u[0] * above / below, vec![-above / below, -u[0] * x / below, q * x, q])
    };
    Ok(y.iter().zip(&x).map(row).collect())
}

pub fn meyer(u: &[f64]) -> Result<Vec<Row>> {
    let y = [
        34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0, 6005.0, 5147.0, 4427.0,
        3820.0, 3307.0, 2872.0,
    ];
    let row = |(i, y): (usize, &f64)| {
        let t = 45.0 + 5.0 * (i + 1) as f64 + u[2];
        let e = (u[1] / t).exp();
        (u[0] * e - y, vec![e, u[0] * e / t, -u[0] * e * u[1] / (t * t)])
    };
    Ok(y.iter().enumerate().map(row).collect())
}

pub fn box_3d(u: &[f64]) -> Result<Vec<Row>> {
    let row = |i: usize| {
        let t = 0.1 * i as f64;
        let (e1, e2, e3) = ((-t * u[0]).exp(), (-t * u[1]).exp(), (-t).exp() - (-10.0 * t).exp());
        (e1 - e2 - u[2] * e3, vec![-t * e1, t * e2, -e3])
    };
    Ok((1..=10).map(row).collect())
}

pub fn osborne_1(u: &[f64]) -> Result<Vec<Row>> {
    let y = [
        0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603,
        0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411,
        0.406,
    ];
    let row = |(i, y): (usize, &f64)| {
        let t = 10.0 * i as f64;
        let (e4, e5) = ((-t * u[3]).exp(), (-t * u[4]).exp());
        (y - (u[0] + u[1] * e4 + u[2] * e5), vec![-1.0, -e4, -e5, t * u[1] * e4, t * u[2] * e5])
    };
    Ok(y.iter().enumerate().map(row).collect())
}

pub fn osborne_2(u: &[f64]) -> Result<Vec<Row>> {
    let y = [
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616, 0.606,
        0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495, 0.500, 0.423,
        0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668,
        0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098,
        0.054,
    ];
    let row = |(i, y): (usize, &f64)| {
        let t = 0.1 * i as f64;
        let decay = (-t * u[4]).exp();
        let mut slopes = vec![0.0; 11];
        (slopes[0], slopes[4]) = (-decay, t * u[0] * decay);
        let mut value = u[0] * decay;
        for k in 0..3 {
            let (height, width, centre) = (u[1 + k], u[5 + k], u[8 + k]);
            let off = t - centre;
            let bell = (-off * off * width).exp();
            value += height * bell;
            (slopes[1 + k], slopes[5 + k]) = (-bell, height * off * off * bell);
            slopes[8 + k] = -2.0 * height * off * width * bell;
        }
        (y - value, slopes)
    };
    Ok(y.iter().enumerate().map(row).collect())
}

pub fn brown_dennis(u: &[f64]) -> Result<Vec<Row>> {
    let row = |i: usize| {
        let t = 0.2 * i as f64;
        let (a, b) = (u[0] + t * u[1] - t.exp(), u[2] + t.sin() * u[3] - t.cos());
        (a * a + b * b, vec![2.0 * a, 2.0 * a * t, 2.0 * b, 2.0 * b * t.sin()])
    };
    Ok((1..=20).map(row).collect())
}

pub fn jennrich_sampson(u: &[f64]) -> Result<Vec<Row>> {
    let row = |i: usize| {
        let i = i as f64;
        let (a, b) = ((i * u[0]).exp(), (i * u[1]).exp());
        (2.0 + 2.0 * i - a - b, vec![-i * a, -i * b])
    };
    Ok((1..=10).map(row).collect())
}
