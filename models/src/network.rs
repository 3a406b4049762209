//! A small neural network as part of a mechanism: a force law whose weights are parameters.

use costate::{Model, Number, Parameter, Signature, State, unpack};

/// A network with two hidden layers of `H` neurons (tanh), `I` inputs and one output.
///
/// Weights, one behind the other: for each neuron of a layer its weights of what comes in, then its bias.
#[derive(Debug, Clone, Copy)]
pub struct Network<const I: usize, const H: usize>;

impl<const I: usize, const H: usize> Network<I, H> {
    /// Number of weights.
    pub const WEIGHTS: usize = H * (I + 1) + H * (H + 1) + H + 1;

    /// The output for these inputs. Missing weights are taken for zero.
    pub fn evaluate<D: Number>(x: &[D; I], weights: &[D]) -> D {
        let (first, rest) = weights.split_at(weights.len().min(H * (I + 1)));
        let (second, last) = rest.split_at(rest.len().min(H * (H + 1)));
        let hidden = layer::<I, H, D>(x, first);
        let hidden = layer::<H, H, D>(&hidden, second);
        last.chunks_exact(H + 1).next().map_or(D::from(0.0), |weights| sum(&hidden, weights))
    }

    /// Weights to begin with: no pattern, of the size at which no neuron is saturated by inputs of about 1.
    pub fn start() -> Vec<f64> {
        let of_layer = |inputs: usize, outputs: usize| (inputs + 1) * outputs;
        let sizes = [(I, of_layer(I, H)), (H, of_layer(H, H)), (H, of_layer(H, 1))];
        let places = sizes.into_iter().flat_map(|(inputs, count)| std::iter::repeat_n(inputs, count));
        // halves of a low-discrepancy sequence, centred
        let weight = |(k, inputs): (usize, usize)| {
            let fraction = ((k + 1) as f64 * 0.618_033_988_749_895).fract();
            (2.0 * fraction - 1.0) * (1.5 / inputs as f64).sqrt()
        };
        places.enumerate().map(weight).collect()
    }
}

/// Σ x_i w_i + bias
#[inline]
fn sum<const N: usize, D: Number>(x: &[D; N], weights: &[D]) -> D {
    D::dot(x, weights) + weights[N]
}

#[inline]
fn layer<const N: usize, const H: usize, D: Number>(x: &[D; N], weights: &[D]) -> [D; H] {
    let mut all = weights.chunks_exact(N + 1);
    std::array::from_fn(|_| all.next().map_or(D::from(0.0), |weights| sum(x, weights).tanh()))
}

/// A mass of 1 kg on a force law f(x, v) that is a network with `H` neurons in each of two layers, driven by a force.
///
/// Parameters: the weights. Output: the position. Input: the force.
#[derive(Debug, Clone, Copy)]
pub struct NeuralOscillator<const H: usize>;

impl<const H: usize> Model for NeuralOscillator<H> {
    fn signature(&self) -> Signature {
        let weights = Network::<2, H>::start().into_iter().enumerate();
        Signature::new("neural oscillator")
            .coordinates([("x", "m")])
            .inputs([("force", "N")])
            .outputs([("x", "m"), ("acceleration", "m/s^2")])
            .parameters(weights.map(|(k, weight)| Parameter::new(format!("w{k}"), "", weight)).collect::<Vec<_>>())
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(0.5);
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut costate::Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let ([x], [v], [driving]) = (unpack(q), unpack(v), unpack(w));
        force[0] = driving - x * 4.0 - Network::<2, H>::evaluate(&[x, v], u);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
        y[1] = x.a[0];
    }
}
