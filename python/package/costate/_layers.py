"""Costs and residuals as functions of torch and jax, with exact gradients: a mechanism as a layer."""

import numpy as np


def torch_function(problem, residuals):
    """A function of a tensor of free parameters."""
    import torch

    def values(theta):
        return theta.detach().cpu().to(torch.float64).numpy()

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, theta):
            found, slope = (problem.residuals if residuals else problem.cost_and_gradient)(values(theta))
            ctx.save_for_backward(torch.as_tensor(slope.copy()).to(theta))
            return torch.as_tensor(found).to(theta)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, bar):
            [slope] = ctx.saved_tensors
            return bar @ slope if residuals else bar * slope

    return Function.apply


def jax_function(problem, residuals):
    """A function of an array of free parameters."""
    import jax

    count = len(problem.residuals(problem.start)[0]) if residuals else None

    def found(theta):
        value, slope = (problem.residuals if residuals else problem.cost_and_gradient)(np.asarray(theta, dtype=float))
        return np.asarray(value, dtype=theta.dtype), np.asarray(slope, dtype=theta.dtype)

    def with_slope(theta):
        size = theta.shape[-1]
        shapes = [(count,), (count, size)] if residuals else [(), (size,)]
        wanted = tuple(jax.ShapeDtypeStruct(shape, theta.dtype) for shape in shapes)
        return jax.pure_callback(found, wanted, theta, vmap_method="sequential")

    @jax.custom_vjp
    def function(theta):
        return with_slope(theta)[0]

    function.defvjp(with_slope, lambda slope, bar: (bar @ slope if residuals else bar * slope,))
    return function
