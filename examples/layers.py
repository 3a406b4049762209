"""A mechanism as a layer: a damper whose coefficient depends on the temperature, by a small network that is trained through the simulation.

    pip install costate torch        # or jax scipy
    python examples/layers.py torch  # or jax

Seven records of a Duffing oscillator, each at its own temperature. The network says k and d at a temperature; the cost is that of all records, and its gradient by the
network's weights goes through the exact gradients of the simulations.
"""

import sys
from pathlib import Path

import numpy as np

import costate

STEPS = 300


def truth(temperature):
    """Stiffness [N/m] and damping [N s/m] at a temperature [deg C]."""
    return 40.0 - 0.1 * (temperature - 20.0), 0.8 * np.exp(-(temperature - 20.0) / 30.0)


def problems():
    model = costate.load(Path(__file__).parent.parent / "models/files/duffing.toml")
    p = model.parameters()
    for name in p:
        p[name].vary = name in ("k", "d")
    t = np.linspace(0.0, 4.0, 401)
    force = 8.0 * np.sin(4.0 * t) + 5.0 * np.cos(9.1 * t)
    noise, made = np.random.default_rng(1), []
    for temperature in np.linspace(-10.0, 50.0, 7):
        k, d = truth(temperature)
        run = model.simulate(t, inputs={"F": force}, k=k, d=d)
        outputs = {"a": run["a"] + noise.normal(scale=0.1, size=len(t))}
        record = costate.Record(t, inputs={"F": force}, outputs=outputs, deviation=0.1)
        made.append((temperature, model.problem([record], p)))
    return made


def by_torch(made):
    import torch

    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    # logarithms of k and d, so that both are positive
    network = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    layers = [(torch.tensor([(temperature - 20.0) / 30.0]), problem.torch()) for temperature, problem in made]
    start = torch.log(torch.tensor(made[0][1].start))
    optimiser = torch.optim.LBFGS(network.parameters(), max_iter=STEPS, line_search_fn="strong_wolfe")

    def cost():
        optimiser.zero_grad()
        total = sum(layer(torch.exp(start + network(at))) for at, layer in layers)
        total.backward()
        return total

    print(f"cost {optimiser.step(cost).item():.6g}, in the end {cost().item():.6g}")
    return [torch.exp(start + network(at)).detach().numpy() for at, _ in layers]


def by_jax(made):
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree
    from scipy.optimize import minimize

    jax.config.update("jax_enable_x64", True)
    one, two = jax.random.split(jax.random.key(1))
    weights = [jax.random.normal(one, (1, 8)), jnp.zeros(8), 0.3 * jax.random.normal(two, (8, 2)), jnp.zeros(2)]
    layers = [(jnp.array([(temperature - 20.0) / 30.0]), problem.jax()) for temperature, problem in made]
    start = jnp.log(made[0][1].start)
    flat, shaped = ravel_pytree(weights)

    def network(flat, at):
        a, b, c, d = shaped(flat)
        return jnp.exp(start + jnp.tanh(at @ a + b) @ c + d)

    slope = jax.jit(jax.value_and_grad(lambda flat: sum(layer(network(flat, at)) for at, layer in layers)))
    found = minimize(lambda flat: tuple(map(np.asarray, slope(flat))), flat, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    print(f"cost {slope(flat)[0]:.6g}, in the end {found.fun:.6g}")
    return [np.asarray(network(found.x, at)) for at, _ in layers]


def main(library):
    made = problems()
    found = {"torch": by_torch, "jax": by_jax}[library](made)
    print("temperature      k (true)          d (true)")
    for (temperature, problem), own in zip(made, found, strict=True):
        k, d = dict(zip(problem.names, own, strict=True))["k"], dict(zip(problem.names, own, strict=True))["d"]
        print(f"{temperature:8.0f} C  {k:8.3f} ({truth(temperature)[0]:.3f})  {d:8.4f} ({truth(temperature)[1]:.4f})")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "torch")
