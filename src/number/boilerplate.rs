//! The part of a number type's interface that follows from its arithmetic by value.

/// Given `Add`, `Sub`, `Mul`, `Div`, `Neg` by value, `Add<f64>` ... by value, `From<f64>`, `PartialEq`, `PartialOrd`, a field
/// `re` and `Copy`: everything else that [`num_dual::DualNum`] asks for except its functions.
macro_rules! number_boilerplate {
    ([$($generics:tt)*] $number:ty, inner $inner:ty) => {
        number_boilerplate!(@binary [$($generics)*] $number, Add, add, AddAssign, add_assign);
        number_boilerplate!(@binary [$($generics)*] $number, Sub, sub, SubAssign, sub_assign);
        number_boilerplate!(@binary [$($generics)*] $number, Mul, mul, MulAssign, mul_assign);
        number_boilerplate!(@binary [$($generics)*] $number, Div, div, DivAssign, div_assign);
        number_boilerplate!(@binary [$($generics)*] $number, Rem, rem, RemAssign, rem_assign);

        impl<$($generics)*> Rem for $number {
            type Output = Self;
            /// The remainder of `f64`, with the slope of `x - y q` for its whole quotient q.
            #[inline]
            fn rem(self, divisor: Self) -> Self {
                let (x, y) = (value_of(&self), value_of(&divisor));
                let quotient = ((x - x % y) / y).round();
                let line = self - divisor * quotient;
                (line - value_of(&line)) + x % y
            }
        }
        impl<$($generics)*> Rem<f64> for $number {
            type Output = Self;
            #[inline]
            fn rem(self, divisor: f64) -> Self {
                (self - value_of(&self)) + value_of(&self) % divisor
            }
        }
        impl<$($generics)*> Neg for &$number {
            type Output = $number;
            #[inline]
            fn neg(self) -> $number {
                -*self
            }
        }
        impl<$($generics)*> Zero for $number {
            #[inline]
            fn zero() -> Self {
                Self::from(0.0)
            }
            #[inline]
            fn is_zero(&self) -> bool {
                *self == 0.0
            }
        }
        impl<$($generics)*> One for $number {
            #[inline]
            fn one() -> Self {
                Self::from(1.0)
            }
        }
        impl<$($generics)*> Num for $number {
            type FromStrRadixErr = <f64 as Num>::FromStrRadixErr;
            fn from_str_radix(text: &str, radix: u32) -> Result<Self, Self::FromStrRadixErr> {
                f64::from_str_radix(text, radix).map(Self::from)
            }
        }
        impl<$($generics)*> Signed for $number {
            #[inline]
            fn abs(&self) -> Self {
                self.absolute()
            }
            #[inline]
            fn abs_sub(&self, other: &Self) -> Self {
                if *self > *other { *self - *other } else { Self::zero() }
            }
            #[inline]
            fn signum(&self) -> Self {
                // as f64 does: the sign of a zero counts
                Self::from(value_of(self).signum())
            }
            #[inline]
            fn is_positive(&self) -> bool {
                value_of(self).is_sign_positive()
            }
            #[inline]
            fn is_negative(&self) -> bool {
                value_of(self).is_sign_negative()
            }
        }
        impl<$($generics)*> Inv for $number {
            type Output = Self;
            #[inline]
            fn inv(self) -> Self {
                num_dual::DualNum::recip(&self)
            }
        }
        impl<$($generics)*> Sum for $number {
            #[inline]
            fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
                numbers.fold(Self::zero(), |total, x| total + x)
            }
        }
        impl<'number, $($generics)*> Sum<&'number $number> for $number {
            #[inline]
            fn sum<I: Iterator<Item = &'number Self>>(numbers: I) -> Self {
                numbers.fold(Self::zero(), |total, x| total + *x)
            }
        }
        impl<$($generics)*> Product for $number {
            #[inline]
            fn product<I: Iterator<Item = Self>>(numbers: I) -> Self {
                numbers.fold(Self::one(), |total, x| total * x)
            }
        }
        impl<'number, $($generics)*> Product<&'number $number> for $number {
            #[inline]
            fn product<I: Iterator<Item = &'number Self>>(numbers: I) -> Self {
                numbers.fold(Self::one(), |total, x| total * *x)
            }
        }
        impl<$($generics)*> FromPrimitive for $number {
            #[inline]
            fn from_i64(n: i64) -> Option<Self> {
                f64::from_i64(n).map(Self::from)
            }
            #[inline]
            fn from_u64(n: u64) -> Option<Self> {
                f64::from_u64(n).map(Self::from)
            }
            #[inline]
            fn from_f64(n: f64) -> Option<Self> {
                Some(Self::from(n))
            }
        }
        impl<$($generics)*> num_dual::DualStruct for $number {
            type Real = f64;
            type Inner = $inner;
            #[inline]
            fn re(&self) -> f64 {
                self.real_part()
            }
            #[inline]
            fn from_inner(inner: &$inner) -> Self {
                <Self as num_dual::DualNum>::from_re(*inner)
            }
        }
        impl<$($generics)*> num_dual::Mappable<Self> for $number {
            type Output<O> = O;
            #[inline]
            fn map_dual<G: Fn(Self) -> O, O>(self, map: G) -> O {
                map(self)
            }
        }
    };
    (@binary [$($generics:tt)*] $number:ty, $op:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl<$($generics)*> $op<&$number> for $number {
            type Output = $number;
            #[inline]
            fn $method(self, other: &$number) -> $number {
                $op::$method(self, *other)
            }
        }
        impl<$($generics)*> $op<$number> for &$number {
            type Output = $number;
            #[inline]
            fn $method(self, other: $number) -> $number {
                $op::$method(*self, other)
            }
        }
        impl<$($generics)*> $op<&$number> for &$number {
            type Output = $number;
            #[inline]
            fn $method(self, other: &$number) -> $number {
                $op::$method(*self, *other)
            }
        }
        impl<$($generics)*> $assign for $number {
            #[inline]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }
        impl<$($generics)*> $assign<f64> for $number {
            #[inline]
            fn $assign_method(&mut self, other: f64) {
                *self = $op::$method(*self, other);
            }
        }
    };
}

pub(super) use number_boilerplate;
