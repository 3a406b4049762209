"""Three fits by scipy, by lmfit and by costate, of the same records: optima, standard errors and times beside each other.

    python3 -m venv compare && compare/bin/pip install costate scipy lmfit      # or ./python in the place of costate
    compare/bin/python examples/beside_scipy.py

scipy and lmfit integrate by `solve_ivp` and differentiate by differences; steps of costate are so small that its error of integration does not matter here.
"""

import time

import lmfit
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import costate

P = costate.Parameter
# Of parameters beside their size, for derivatives by differences: smaller ones drown in the errors of `solve_ivp`.
DIFFERENCE = 1e-3


def duffing():
    m = costate.mechanism(
        "duffing",
        coordinates={"x": "m"},
        inputs={"F": "N"},
        parameters={"m": P("m", "kg", 2.0, vary=False), "k": ("N/m", 40.0), "k3": ("N/m^3", 25.0), "d": ("N s/m", 0.8)},
        outputs={"a": "m/s^2"},
        mass=lambda u: u.m,
        force=lambda q, v, w, u: w.F - u.d * v.x - u.k * q.x - u.k3 * q.x**3,
        output=lambda a: a.x,
    )

    def rate(x, v, w, k, k3, d):
        return [(w[0] - d * v[0] - k * x[0] - k3 * x[0] ** 3) / 2.0]

    return m, rate, [0.0], {"k": 30.0, "k3": 18.0, "d": 1.1}, {"F": lambda t: 8 * np.sin(3 * t) + 5 * np.cos(7.1 * t)}, 0.05


def pendulum():
    m = costate.mechanism(
        "pendulum",
        coordinates={"phi": "rad"},
        inputs={"M": "N m"},
        parameters={"J": ("kg m^2", 0.02), "c": ("N m", 1.5), "d": ("N m s/rad", 0.02), "F": ("N m", 0.05)},
        outputs={"a": "rad/s^2"},
        mass=lambda u: u.J,
        force=lambda q, v, w, u: w.M - u.c * np.sin(q.phi) - u.d * v.phi - u.F * np.tanh(v.phi / 0.5),
        output=lambda a: a.phi,
        units=False,
    )

    def rate(x, v, w, J, c, d, F):
        return [(w[0] - c * np.sin(x[0]) - d * v[0] - F * np.tanh(v[0] / 0.5)) / J]

    return m, rate, [0.0], {"J": 0.024, "c": 1.3, "d": 0.015, "F": 0.06}, {"M": lambda t: 0.6 * np.sin(2.3 * t) + 0.2 * np.sin(5.9 * t)}, 0.3


def drive():
    m = costate.mechanism(
        "drive",
        coordinates={"motor": "rad", "load": "rad"},
        inputs={"M": "N m"},
        parameters={"J1": ("kg m^2", 0.01), "J2": ("kg m^2", 0.03), "k": ("N m/rad", 4.0), "d": ("N m s/rad", 0.02), "b": ("N m s/rad", 0.02)},
        outputs={"a": "rad/s^2"},
        mass=lambda u: [u.J1, u.J2],
        force=lambda q, v, w, u: [
            w.M - u.k * (q.motor - q.load) - u.d * (v.motor - v.load) - u.b * v.motor,
            u.k * (q.motor - q.load) + u.d * (v.motor - v.load),
        ],
        output=lambda a: a.motor,
    )

    def rate(x, v, w, J1, J2, k, d, b):
        twist = k * (x[0] - x[1]) + d * (v[0] - v[1])
        return [(w[0] - twist - b * v[0]) / J1, twist / J2]

    truth = {"J1": 0.012, "J2": 0.025, "k": 4.6, "d": 0.015, "b": 0.03}
    return m, rate, [0.0, 0.0], truth, {"M": lambda t: 2 * np.sin(5 * t) + np.sin(17.0 * t) + np.sin(23.0 * t)}, 2.0


def main():
    t = np.linspace(0.0, 3.0, 301)
    print(f"{'fit':10}{'by':10}{'time':>10}{'runs':>7}   largest difference from costate: of values, of standard errors (beside each)")
    for problem in (duffing, pendulum, drive):
        m, rate, start, truth, drivers, deviation = problem()
        samples = {name: own(t) for name, own in drivers.items()}
        (output,) = m.outputs
        clean = m.simulate(t, samples, **truth, scheme="generalized-alpha")[output]
        data = clean + deviation * np.random.default_rng(3).normal(size=len(t))
        names, count = list(truth), len(start)
        nominal = [m.parameters()[name].value for name in names]

        began = time.perf_counter()
        fit = m.fit([costate.Record(t, samples, {output: data}, deviation)], noise="given", substeps=64)
        ours = [time.perf_counter() - began, fit.nfev]
        values = np.array([fit.params[name].value for name in names])
        errors = np.array([fit.params[name].stderr for name in names])

        def residuals(u):
            # inputs are straight lines between samples, for all three
            inputs = lambda time: [np.interp(time, t, own) for own in samples.values()]
            run = lambda time, y: np.concatenate([y[count:], rate(y[:count], y[count:], inputs(time), *u)])
            y = solve_ivp(run, (t[0], t[-1]), np.concatenate([start, np.zeros(count)]), "DOP853", t, rtol=1e-10, atol=1e-12, max_step=0.01).y
            return np.array([rate(y[:count, i], y[count:, i], inputs(t[i]), *u)[0] for i in range(len(t))] - data) / deviation

        began = time.perf_counter()
        by_scipy = least_squares(residuals, nominal, x_scale=np.abs(nominal), jac="3-point", diff_step=DIFFERENCE)
        scipy_took = [time.perf_counter() - began, by_scipy.nfev]
        own_errors = np.sqrt(np.diag(np.linalg.inv(by_scipy.jac.T @ by_scipy.jac)))

        parameters = lmfit.Parameters()
        for name, value in zip(names, nominal, strict=True):
            parameters.add(name, value=value)
        began = time.perf_counter()
        by_lmfit = lmfit.minimize(lambda p: residuals([p[name].value for name in names]), parameters, scale_covar=False, epsfcn=DIFFERENCE**2)
        lmfit_took = [time.perf_counter() - began, by_lmfit.nfev]
        theirs = [by_lmfit.params[name] for name in names]

        def line(by, took, values_there, errors_there):
            there = max(abs(np.array(values_there) / values - 1)), max(abs(np.array(errors_there) / errors - 1))
            print(f"{m.name:10}{by:10}{took[0]:9.3f}s{took[1]:7}   {there[0]:.1e}, {there[1]:.1e}", flush=True)

        line("costate", ours, values, errors)
        line("scipy", scipy_took, by_scipy.x, own_errors)
        line("lmfit", lmfit_took, [own.value for own in theirs], [own.stderr or np.nan for own in theirs])


if __name__ == "__main__":
    main()
