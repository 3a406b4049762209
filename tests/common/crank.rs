//! The slider-crank in its one coordinate, the crank's angle φ: M q'' + C_qᵀ λ = Q times q_φ, with q = q(φ); and its joint
//! forces by Newton's law, one body after another. Shares nothing with the model but the order of its parameters.

/// q, dq/dφ, d²q/dφ² of the eight coordinates.
pub fn motion(u: &[f64], angle: f64) -> [[f64; 8]; 3] {
    let (l, r, s_crank, s_rod) = (u[5], u[6], u[7], u[8]);
    let (sin, cos) = angle.sin_cos();
    // r sin ψ = -l sin φ, differentiated twice
    let sin_rod = -l * sin / r;
    let cos_rod = (1.0 - sin_rod * sin_rod).sqrt();
    let rate = -l * cos / (r * cos_rod);
    let bend = (l * sin / r + sin_rod * rate * rate) / cos_rod;
    let along = |s: f64| {
        [
            [l * cos + s * cos_rod, l * sin + s * sin_rod],
            [-l * sin - s * sin_rod * rate, l * cos + s * cos_rod * rate],
            [
                -l * cos - s * (cos_rod * rate * rate + sin_rod * bend),
                -l * sin - s * (sin_rod * rate * rate - cos_rod * bend),
            ],
        ]
    };
    let (rod, slider) = (along(s_rod), along(r));
    let crank = [[cos, sin], [-sin, cos], [-cos, -sin]];
    let angles = [[angle, sin_rod.asin()], [1.0, rate], [0.0, bend]];
    std::array::from_fn(|k| {
        let ([x1, y1], [x2, y2], [x3, _], [phi1, phi2]) = (crank[k], rod[k], slider[k], angles[k]);
        [s_crank * x1, s_crank * y1, phi1, x2, y2, phi2, x3, 0.0]
    })
}

pub fn inertias(u: &[f64]) -> [f64; 8] {
    [u[0], u[0], u[3], u[1], u[1], u[4], u[2], u[2]]
}

pub fn acceleration(u: &[f64], torque: f64, [angle, rate]: [f64; 2]) -> f64 {
    let [q, slope, bend] = motion(u, angle);
    let (k, x_free, d, g) = (u[9], u[10], u[11], u[12]);
    let force = [0.0, -u[0] * g, torque, 0.0, -u[1] * g, 0.0, -k * (q[6] - x_free) - d * slope[6] * rate, -u[2] * g];
    let (mut inertia, mut sum) = (0.0, 0.0);
    for (j, m) in inertias(u).into_iter().enumerate() {
        inertia += m * slope[j] * slope[j];
        sum += slope[j] * (force[j] - m * bend[j] * rate * rate);
    }
    sum / inertia
}

/// Forces of the bearing on the crank and of the rod on the slider, given positions, velocities and accelerations.
pub fn forces(u: &[f64], q: &[f64], v: &[f64], a: &[f64]) -> [[f64; 2]; 2] {
    let (r, s_rod, k, x_free, d, g) = (u[6], u[8], u[9], u[10], u[11], u[12]);
    let [m1, _, _, m2, _, i2, m3, _] = inertias(u);
    let (sin, cos) = q[5].sin_cos();
    // slider
    let wrist_x = m3 * a[6] + k * (q[6] - x_free) + d * v[6];
    // moments about the rod's centre of mass, with the crank's force from its momentum
    let lever = s_rod * m2 * (sin * a[3] - cos * (a[4] + g));
    let wrist_y = (lever + r * sin * wrist_x - i2 * a[5]) / (r * cos);
    let pin = [m2 * a[3] + wrist_x, m2 * (a[4] + g) + wrist_y];
    [[m1 * a[0] + pin[0], m1 * (a[1] + g) + pin[1]], [wrist_x, wrist_y]]
}
