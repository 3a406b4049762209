//! Frames in frames, and inertias that move with them.

/// A matrix by its rows.
pub(super) type Rows = [[f64; 3]; 3];

const IDENTITY: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A frame in another one: p -> rotation p + origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub rotation: Rows,
    pub origin: [f64; 3],
}

pub(super) fn times(matrix: &Rows, v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

fn product(a: &Rows, b: &Rows) -> Rows {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed(a: &Rows) -> Rows {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

impl Frame {
    pub const SAME: Frame = Frame { rotation: IDENTITY, origin: [0.0; 3] };

    /// A frame by its origin, and turns about the fixed axes x, y and z one after the other.
    pub fn by_angles(origin: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Self {
        let [(sr, cr), (sp, cp), (sy, cy)] = [roll, pitch, yaw].map(f64::sin_cos);
        let rotation = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ];
        Frame { rotation, origin }
    }

    /// A turn about an axis of length one.
    pub fn turned(axis: [f64; 3], angle: f64) -> Self {
        let ((sin, cos), [x, y, z]) = (angle.sin_cos(), axis);
        let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
        let entry = |i: usize, j: usize| cos * IDENTITY[i][j] + sin * cross[i][j] + (1.0 - cos) * axis[i] * axis[j];
        Frame { rotation: std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))), origin: [0.0; 3] }
    }

    pub fn moved(origin: [f64; 3]) -> Self {
        Frame { origin, ..Frame::SAME }
    }

    pub fn vector(&self, v: [f64; 3]) -> [f64; 3] {
        times(&self.rotation, v)
    }

    pub fn point(&self, p: [f64; 3]) -> [f64; 3] {
        let turned = self.vector(p);
        std::array::from_fn(|k| turned[k] + self.origin[k])
    }

    /// A frame that is in this one, in the frame that this one is in.
    pub fn of(&self, inner: &Frame) -> Self {
        Frame { rotation: product(&self.rotation, &inner.rotation), origin: self.point(inner.origin) }
    }

    /// The outer frame in this one.
    pub fn inverse(&self) -> Self {
        let rotation = transposed(&self.rotation);
        Frame { rotation, origin: times(&rotation, self.origin).map(|x| -x) }
    }
}

/// Mass, first moments, and entries xx, yy, zz, xy, xz, yz of the tensor about the origin of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moments {
    pub mass: f64,
    pub first: [f64; 3],
    pub tensor: [f64; 6],
}

/// Places of the entries in a matrix.
const ENTRIES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

impl Moments {
    /// A mass whose centre is the origin of a frame, with a tensor about it in the axes of that frame.
    pub fn at(frame: &Frame, mass: f64, [xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Self {
        let tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        let turned = product(&product(&frame.rotation, &tensor), &transposed(&frame.rotation));
        let center = frame.origin;
        let square: f64 = center.iter().map(|x| x * x).sum();
        let entry = |[i, j]: [usize; 2]| turned[i][j] + mass * (square * IDENTITY[i][j] - center[i] * center[j]);
        Moments { mass, first: center.map(|x| mass * x), tensor: ENTRIES.map(entry) }
    }

    pub fn add(&mut self, other: &Moments) {
        self.mass += other.mass;
        self.first.iter_mut().zip(other.first).for_each(|(own, other)| *own += other);
        self.tensor.iter_mut().zip(other.tensor).for_each(|(own, other)| *own += other);
    }

    /// All ten, the mass first.
    pub fn numbers(&self) -> [f64; 10] {
        let ([x, y, z], [xx, yy, zz, xy, xz, yz]) = (self.first, self.tensor);
        [self.mass, x, y, z, xx, yy, zz, xy, xz, yz]
    }

    /// Ten numbers, the mass first.
    pub fn of([mass, x, y, z, xx, yy, zz, xy, xz, yz]: [f64; 10]) -> Self {
        Moments { mass, first: [x, y, z], tensor: [xx, yy, zz, xy, xz, yz] }
    }

    /// The same body, seen from a frame that is in this one.
    pub fn seen_from(&self, frame: &Frame) -> Self {
        if self.mass == 0.0 {
            return *self;
        }
        let center = self.first.map(|first| first / self.mass);
        let about_center = self.about(&Frame::moved(center));
        let inverse = frame.inverse();
        Moments::at(&Frame { origin: inverse.point(center), ..inverse }, self.mass, about_center)
    }

    /// Entries of the tensor about the origin of a frame at the centre of mass, in its axes.
    pub fn about(&self, frame: &Frame) -> [f64; 6] {
        let [xx, yy, zz, xy, xz, yz] = self.tensor;
        let (whole, center) = ([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], frame.origin);
        let square: f64 = center.iter().map(|x| x * x).sum();
        let less = |i: usize, j: usize| whole[i][j] - self.mass * (square * IDENTITY[i][j] - center[i] * center[j]);
        let about: Rows = std::array::from_fn(|i| std::array::from_fn(|j| less(i, j)));
        let turned = product(&product(&transposed(&frame.rotation), &about), &frame.rotation);
        ENTRIES.map(|[i, j]| turned[i][j])
    }
}
