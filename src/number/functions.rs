//! Functions of numbers that know the chain rule, written once for all of them.
//!
//! They are written so that values and derivatives stay finite wherever the mathematical ones are (`tanh` of a large number, powers at
//! zero).

/// Given `chain(value, slope)`, a value `re` that is a number itself, and `real_part`: the functions of one argument that
/// [`num_dual::DualNum`] asks for.
macro_rules! chain_rule_functions {
    () => {
        #[inline]
        fn recip(&self) -> Self {
            let inverse = self.re.recip();
            self.chain(inverse, -inverse * inverse)
        }
        #[inline]
        fn powi(&self, n: i32) -> Self {
            match n {
                0 => Self::one(),
                1 => *self,
                2 => *self * *self,
                _ => self.chain(self.re.powi(n), self.re.powi(n - 1) * f64::from(n)),
            }
        }
        #[inline]
        fn powf(&self, n: f64) -> Self {
            if n == 0.0 {
                Self::one()
            } else if n == 1.0 {
                *self
            } else {
                self.chain(self.re.powf(n), self.re.powf(n - 1.0) * n)
            }
        }
        #[inline]
        fn sqrt(&self) -> Self {
            let root = self.re.sqrt();
            self.chain(root, root.recip() * 0.5)
        }
        #[inline]
        fn cbrt(&self) -> Self {
            let root = self.re.cbrt();
            self.chain(root, (root * root * 3.0).recip())
        }
        #[inline]
        fn exp(&self) -> Self {
            let value = self.re.exp();
            self.chain(value, value)
        }
        #[inline]
        fn exp2(&self) -> Self {
            let value = self.re.exp2();
            self.chain(value, value * std::f64::consts::LN_2)
        }
        #[inline]
        fn exp_m1(&self) -> Self {
            self.chain(self.re.exp_m1(), self.re.exp())
        }
        #[inline]
        fn ln(&self) -> Self {
            self.chain(self.re.ln(), self.re.recip())
        }
        #[inline]
        fn log(&self, base: f64) -> Self {
            self.chain(self.re.log(base), (self.re * base.ln()).recip())
        }
        #[inline]
        fn log2(&self) -> Self {
            self.chain(self.re.log2(), (self.re * std::f64::consts::LN_2).recip())
        }
        #[inline]
        fn log10(&self) -> Self {
            self.chain(self.re.log10(), (self.re * std::f64::consts::LN_10).recip())
        }
        #[inline]
        fn ln_1p(&self) -> Self {
            self.chain(self.re.ln_1p(), (self.re + 1.0).recip())
        }
        #[inline]
        fn sin(&self) -> Self {
            let (sin, cos) = self.re.sin_cos();
            self.chain(sin, cos)
        }
        #[inline]
        fn cos(&self) -> Self {
            let (sin, cos) = self.re.sin_cos();
            self.chain(cos, -sin)
        }
        #[inline]
        fn sin_cos(&self) -> (Self, Self) {
            let (sin, cos) = self.re.sin_cos();
            (self.chain(sin, cos), self.chain(cos, -sin))
        }
        #[inline]
        fn tan(&self) -> Self {
            let tan = self.re.tan();
            self.chain(tan, tan * tan + 1.0)
        }
        #[inline]
        fn asin(&self) -> Self {
            self.chain(self.re.asin(), (-self.re * self.re + 1.0).sqrt().recip())
        }
        #[inline]
        fn acos(&self) -> Self {
            self.chain(self.re.acos(), -(-self.re * self.re + 1.0).sqrt().recip())
        }
        #[inline]
        fn atan(&self) -> Self {
            self.chain(self.re.atan(), (self.re * self.re + 1.0).recip())
        }
        #[inline]
        fn sinh(&self) -> Self {
            self.chain(self.re.sinh(), self.re.cosh())
        }
        #[inline]
        fn cosh(&self) -> Self {
            self.chain(self.re.cosh(), self.re.sinh())
        }
        #[inline]
        fn tanh(&self) -> Self {
            let tanh = self.re.tanh();
            self.chain(tanh, -tanh * tanh + 1.0)
        }
        #[inline]
        fn asinh(&self) -> Self {
            self.chain(self.re.asinh(), (self.re * self.re + 1.0).sqrt().recip())
        }
        #[inline]
        fn acosh(&self) -> Self {
            self.chain(self.re.acosh(), (self.re * self.re - 1.0).sqrt().recip())
        }
        #[inline]
        fn atanh(&self) -> Self {
            self.chain(self.re.atanh(), (-self.re * self.re + 1.0).recip())
        }
        #[inline]
        fn sph_j0(&self) -> Self {
            crate::number::bessel::spherical_bessel(0, *self)
        }
        #[inline]
        fn sph_j1(&self) -> Self {
            crate::number::bessel::spherical_bessel(1, *self)
        }
        #[inline]
        fn sph_j2(&self) -> Self {
            crate::number::bessel::spherical_bessel(2, *self)
        }
    };
}

pub(super) use chain_rule_functions;
