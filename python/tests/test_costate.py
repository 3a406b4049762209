"""The package against the command, differences, scipy, and slips."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import costate

DUFFING = """
name = "duffing"
summary = "A mass on a spring that grows stiffer"
coordinates = { x = "m" }
inputs = { F = "N" }

[parameters]
m = { unit = "kg", nominal = 2.0, fixed = true }
k = { unit = "N/m", nominal = 40.0, lower = 0.0 }
k3 = { unit = "N/m^3", nominal = 25.0 }
d = { unit = "N s/m", nominal = 0.8 }

[mass]
x = "m"

[force]
x = "F - d*x' - k*x - k3*x^3"

[outputs]
a = { unit = "m/s^2", is = "x''" }

[scenario]
end = 1.0
step = 0.01
"""


@pytest.fixture
def duffing(tmp_path):
    file = tmp_path / "duffing.toml"
    file.write_text(DUFFING)
    return costate.load(file)


@pytest.fixture
def record(duffing):
    """Noisy accelerations of a run with other values than the nominal ones."""
    t = np.linspace(0.0, 5.0, 501)
    force = 8.0 * np.sin(3.0 * t) + 5.0 * np.cos(7.1 * t)
    run = duffing.simulate(t, inputs={"F": force}, k=30.0, k3=18.0, d=1.1)
    noise = np.random.default_rng(1).normal(size=len(t))
    return costate.Record(t, inputs={"F": force}, outputs={"a": run["a"] + 0.05 * noise}, deviation={"a": 0.05})


def test_a_fit_finds_what_made_the_record(duffing, record):
    p = duffing.parameters()
    p["k"].set(value=50.0, min=0.0)
    fit = duffing.fit([record], p, noise="given")
    assert fit.success, fit.message
    for name, truth in {"k": 30.0, "k3": 18.0, "d": 1.1}.items():
        own = fit.params[name]
        assert abs(own.value - truth) < 4 * own.stderr < 0.2 * truth, own
    assert fit.params["m"].value == 2.0 and fit.params["m"].stderr is None
    assert 0.045 < np.std(fit.residual["a"]) < 0.055
    assert np.allclose(fit.best_fit["a"] - fit.residual["a"], record.outputs["a"])
    assert fit.var_names == ["k", "k3", "d"] and fit.covar.shape == (3, 3)
    assert np.sqrt(fit.covar[0, 0]) == pytest.approx(fit.params["k"].stderr)
    assert -1 < fit.correl["k"]["k3"] < 0
    assert "converged" in fit.report() and "k3" in fit.report()
    assert "<table>" in fit._repr_html_()


def test_numbers_are_the_commands(duffing, record, tmp_path):
    """To the last bit, from the same file."""
    file = tmp_path / "record.csv"
    columns = [record.t, record.inputs["F"], record.outputs["a"]]
    rows = "\n".join(",".join(repr(float(x)) for x in row) for row in zip(*columns, strict=True))
    file.write_text("t,F,a\n" + rows)
    problem = tmp_path / "problem.toml"
    problem.write_text(f'model = "duffing.toml"\n[data]\nfile = "record.csv"\noutputs.a = {{ deviation = 0.05 }}\n')
    code = "import sys, costate._costate as c; sys.exit(c.run_command(['costate', *sys.argv[1:]]))"
    command = subprocess.run(
        [sys.executable, "-c", code, "identify", str(problem), "--json"], capture_output=True, text=True
    )
    assert command.returncode == 0, command.stderr
    theirs = {own["name"]: own["value"] for own in json.loads(command.stdout)["parameters"]}
    for own in (record, costate.Record(file=file, deviation={"a": 0.05})):
        fit = duffing.fit([own])
        assert {name: fit.params[name].value for name in theirs} == theirs
    fit.save(tmp_path / "monday", report=True)
    saved = {file.name for file in (tmp_path / "monday").iterdir()}
    assert {"result.json", "outputs.csv", "report.html"} <= saved


def test_derivatives(duffing, record):
    theta = np.array([33.0, 20.0, 0.9])
    cost, gradient = duffing.cost_and_gradient([record], theta)
    r, J = duffing.residuals([record], theta)
    assert cost == pytest.approx(0.5 * r @ r, rel=1e-13)
    assert np.allclose(gradient, J.T @ r, rtol=1e-9)
    H = duffing.hessian([record], theta)
    along = np.array([1.0, -2.0, 0.05])
    ratios = []
    for e in (0.2, 0.1):
        there, _ = duffing.cost_and_gradient([record], theta + e * along)
        ratios.append(abs(there - cost - e * gradient @ along - 0.5 * e * e * along @ H @ along))
    assert ratios[0] / ratios[1] == pytest.approx(8.0, abs=0.2)
    assert duffing.cost(record, {"k": 33.0, "k3": 20.0, "d": 0.9}) == cost
    theirs = pytest.importorskip("scipy.optimize").least_squares(
        lambda x: duffing.residuals([record], x)[0], theta, jac=lambda x: duffing.residuals([record], x)[1], xtol=1e-12
    )
    fit = duffing.fit([record], substeps=1)
    ours = [fit.params[name].value for name in fit.var_names]
    assert np.allclose(theirs.x, ours, rtol=1e-5)


def test_runs_and_jacobians():
    m = costate.load("slider_crank")
    run = m.simulate(step=1e-3)
    assert run.q.shape == (len(run.t), len(m.coordinates)) and run.lambda_.shape[1] == len(m.constraints)
    assert run.info["steps"] == len(run.t) - 1
    q, v, a = run.q[40], run.v[40], run.a[40]
    B = m.jacobians(q=q, v=v, a=a, lambda_=run.lambda_[40])
    assert B["C_q"].shape == (len(m.constraints), len(m.coordinates)) and "x1" in B["C_q"].columns[0]
    step = 1e-6
    for k in range(len(q)):
        moved = [m.jacobians(q=q + sign * step * np.eye(len(q))[k], v=v, a=a)["M"] for sign in (1, -1)]
        assert np.allclose((moved[0] - moved[1]) @ a / (2 * step), B["J_M"][:, k], atol=1e-6)


def test_formulas_and_further_parameters(duffing, record):
    p = duffing.parameters()
    p.add("ratio", 0.6, unit="1/m^2")
    p["k3"].set(expr="ratio*k")
    fit = duffing.fit(record, p)
    assert fit.success and "ratio" in fit.var_names and "k3" not in fit.var_names
    assert fit.params["ratio"].value == pytest.approx(0.6, rel=0.05)
    follows = fit.params["k3"]
    assert follows.value == pytest.approx(fit.params["ratio"].value * fit.params["k"].value)
    assert 0 < follows.stderr < 1 and not follows.vary


def test_estimated_deviations_and_missing_samples(duffing, record):
    samples = record.outputs["a"].copy()
    samples[100:110] = np.nan
    own = costate.Record(record.t, {"F": record.inputs["F"]}, {"a": samples}, deviation="estimated")
    fit = duffing.fit([own])
    found = fit.document["estimated_deviations"]["sensors"][0]["deviation"]
    assert 0.045 < found < 0.055
    assert len(fit.residual["a"]) == len(fit.best_fit["a"]) == 491


def test_profiles_and_bootstraps(duffing, record):
    fit = duffing.fit([record], noise="given")
    profile = fit.profile("k3")["k3"]
    own = fit.params["k3"]
    for end, sign in zip(profile["interval"], (-1, 1), strict=True):
        assert end == pytest.approx(own.value + sign * 1.96 * own.stderr, rel=2e-2)
    assert len(profile["points"]) > 4 and list(fit.profile()) == fit.var_names
    drawn = fit.bootstrap(60, seed=3)
    assert drawn["replicates"] == 60 and drawn["parameters"]["k3"]["bootstrap_error"] == pytest.approx(own.stderr, rel=0.4)
    assert fit.bootstrap(60, seed=3) == drawn
    with pytest.raises(costate.Error, match="`m`: the parameter is fixed"):
        fit.profile("m")
    with pytest.raises(costate.Error, match="replicates"):
        fit.bootstrap(3)


def test_an_interrupt_stops_a_long_fit(tmp_path):
    """Ctrl-C within an evaluation: the exception comes within two seconds."""
    code = """
import sys, threading, time, os, signal, numpy as np, costate
# whoever starts tests in the background has it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
m = costate.load("slider_crank")
t = np.linspace(0, 2, 100001)
run = m.simulate(step=0.35 / 14)
out = next(iter(m.outputs))
record = costate.Record(t, {name: 0 * t for name in m.inputs}, {out: np.sin(t)}, 1.0)
problem = m.problem([record])
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
began = time.time()
try:
    problem.fit()
except KeyboardInterrupt as told:
    print("interrupted", time.time() - began < 3.0, hasattr(told, "fit"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["interrupted", "True", "True"], done.stdout + done.stderr


def test_slips_are_told(duffing, record, tmp_path):
    t, force = record.t, record.inputs["F"]
    with pytest.raises(costate.Error, match="did you mean `k3`") as told:
        duffing.simulate(kk3=1.0)
    assert told.value.name == "kk3"
    with pytest.raises(costate.Error, match="slider_crank"):
        costate.load("slider_crunk")
    file = tmp_path / "wrong.toml"
    file.write_text(DUFFING.replace("k3*x^3", "k3*y^3"))
    with pytest.raises(costate.Error, match="`y`") as told:
        costate.load(file)
    assert told.value.line == 17 and told.value.path.endswith("wrong.toml")
    with pytest.raises(costate.Error, match="500 samples, and there are 501"):
        costate.Record(t, inputs={"F": force[:-1]})
    with pytest.raises(costate.Error, match="2 dimensions"):
        costate.Record(t, inputs={"F": np.zeros((501, 2))})
    with pytest.raises(costate.Error, match="not all of it is numbers"):
        costate.Record(t, outputs={"a": ["x"] * 501})
    with pytest.raises(costate.Error, match="no such output"):
        costate.Record(t, outputs={"a": force}, deviation={"b": 1.0})
    with pytest.raises(costate.Error, match="`b`"):
        duffing.fit([costate.Record(t, {"F": force}, {"b": force})])
    with pytest.raises(costate.Error, match="^input 'F' has no samples"):
        duffing.simulate(t)
    with pytest.raises(costate.Error, match="^input 'F' has no samples"):
        duffing.fit(costate.Record(t, {}, {"a": force}))
    with pytest.raises(costate.Error, match="^there is no input `G`") as told:
        duffing.simulate(t, {"F": force, "G": force})
    assert told.value.line is None and "costate-" not in str(told.value)
    with pytest.raises(costate.Error, match="^record 1: at value 2 of `t`"):
        duffing.simulate(t[::-1], {"F": force})
    with pytest.raises(costate.Error, match="not finite|NaN"):
        duffing.simulate(np.where(t > 2, np.nan, t), {"F": force})
    with pytest.raises(costate.Error, match="give 3"):
        duffing.cost([record], [1.0, 2.0])
    with pytest.raises(costate.Error, match="there is none"):
        duffing.fit([])
    with pytest.raises(TypeError, match="setting 'stepp'"):
        duffing.fit([record], stepp=1)
    with pytest.raises(KeyError, match="did you mean 'k3'"):
        duffing.parameters()["k33"]
    with pytest.raises(TypeError, match=r"\.value = 3"):
        duffing.parameters()["k"] = 3
    with pytest.raises(costate.Error, match="multipliers: 1 values are given"):
        duffing.jacobians(lambda_=[1.0])


def test_functions_are_traced(duffing, record):
    """A model by Python functions is the file's, and as fast; what stands twice is computed once."""
    P = costate.Parameter
    own = costate.mechanism(
        "duffing",
        coordinates={"x": "m"},
        inputs={"F": "N"},
        parameters={"m": P("m", "kg", 2.0, vary=False), "k": P("k", "N/m", 40.0, min=0), "k3": ("N/m^3", 25.0), "d": ("N s/m", 0.8)},
        outputs={"a": "m/s^2"},
        mass=lambda u: u.m,
        force=lambda q, v, w, u: w.F - u.d * v.x - u.k * q.x - u.k3 * q.x**3,
        output=lambda a: a.x,
    )
    theta = [33.0, 20.0, 0.9]
    ours, theirs = own.cost_and_gradient([record], theta), duffing.cost_and_gradient([record], theta)
    assert ours[0] == theirs[0] and np.array_equal(ours[1], theirs[1])
    again = pickle.loads(pickle.dumps(own))
    assert again.cost([record], theta) == ours[0] and again.text == own.text


def test_traced_constraints_energies_branches():
    """A pendulum in Cartesian coordinates, by a mass matrix and by energies, with a stop: against scipy's integrator."""
    integrate = pytest.importorskip("scipy.integrate")

    def stop(angle):
        return costate.where((angle > 0.3) & ~(angle > 2.0), -50.0 * (angle - 0.3), np.maximum(0.0 * angle, 0.0))

    common = dict(parameters={"L": ("m", 0.5), "m": ("kg", 1.0), "phi": ("rad", -0.8)}, units=False, scenario={"end": 2.0, "step": 5e-4})
    angle = costate.mechanism(
        "angle",
        coordinates={"phi_": "rad"},
        outputs={"y": "m", "power": "1"},
        kinetic=lambda q, v, u: 0.5 * u.m * np.square(u.L * v.phi_),
        potential=lambda q, u: -u.m * 9.81 * u.L * np.cos(q[0]),
        force=lambda q: stop(q.phi_),
        output=lambda q, v, u: [-u.L * np.cos(q.phi_), (v.phi_**2 + 1) ** -0.5],
        start=lambda u: [u.phi],
        **common,
    )
    point = costate.mechanism(
        "point",
        coordinates={"x": "m", "y": "m"},
        constraints={"rod": "m^2"},
        outputs={"force": "1", "power": "1"},
        mass=lambda u: [[u.m, 0], [0, u.m]],
        force=lambda q, u: np.array([0.0, -9.81 * u.m]) + stop(np.arctan2(q.x, -q.y)) / u.L**2 * np.array([-q.y, q.x]),
        constraint=lambda q, u: sum(x * x for x in q) - u.L**2,
        output=lambda q, v, a, u, lambda_: {"force": lambda_.rod, "power": abs(-a.x)},
        start=lambda u: {"x": u.L * np.sin(u.phi), "y": -u.L * np.cos(u.phi)},
        **common,
    )

    def pendulum(_, z):
        swing = -50.0 * (z[0] - 0.3) / 0.25 if 0.3 < z[0] <= 2.0 else 0.0
        return [z[1], -9.81 / 0.5 * np.sin(z[0]) + swing]

    exact = integrate.solve_ivp(pendulum, [0, 2], [-0.8, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    runs = [angle.simulate(), point.simulate()]
    assert abs(runs[0].q[-1, 0] - exact) < 2e-4
    assert np.allclose(runs[1].q[-1], [0.5 * np.sin(exact), -0.5 * np.cos(exact)], atol=2e-4)
    assert np.allclose(runs[0]["power"], (runs[0].v[:, 0] ** 2 + 1) ** -0.5)
    assert np.allclose(runs[1]["power"], abs(runs[1].a[:, 0])) and np.allclose(runs[1]["force"], runs[1].lambda_[:, 0])
    # a long sum, and a deep one, of what stands more than once
    def chain(q):
        sums, last = [], q.x
        for k in range(300):
            last = np.sin(last) + last * 0.5
            sums.append(last * k)
        return sum(sums)

    deep = costate.mechanism("deep", coordinates={"x": "m"}, mass=lambda: 1.0, force=chain, start=lambda: [0.3], units=False)
    assert len(deep.text) < 40_000 and np.isfinite(deep.simulate(step=0.01).q).all()


def test_what_cannot_be_traced_is_refused_with_its_line():
    import math

    def refused(match, force, **more):
        with pytest.raises(costate.Error, match=match) as told:
            costate.mechanism("m", coordinates={"x": "m"}, parameters={"k": ("N/m", 1.0)}, **{"mass": lambda: 1.0, "force": force, **more})
        return told.value

    def branch(q):
        if q.x > 0:
            return 1.0
        return 0.0

    error = refused("a branch on a condition .* costate.where", branch)
    assert error.line == branch.__code__.co_firstlineno + 1 and error.path.endswith("test_costate.py")
    refused(r"test_costate.py, line \d+: a plain number is wanted.* np.sin", lambda q: math.sin(q.x))
    refused("there is no coordinate 'y'", lambda q: q.y)
    refused("did you mean 'k'", lambda q, u: u.kk)
    refused("compared by ==", lambda q: costate.where(q.x == 0, 1, 0))
    refused("cannot be traced", lambda q: np.add.reduce([q.x, q.x]) if False else np.add.accumulate(q.x))
    refused("gives 2 numbers for x", lambda q: [q.x, q.x])
    refused("its argument 'p' means nothing", lambda p: 1.0)
    refused("is nan", lambda q: q.x * np.nan)
    refused("'str' 'a'|str 'a' is no number", lambda q: "a")
    error = refused("^m.toml, line .*adds", lambda q, u: q.x + u.k)
    assert error.text.splitlines()[error.line - 1] == '"x" = "x + k"'
    refused("no 1 x 1 matrix", lambda q: q.x, mass=lambda: [[1.0, 2.0]])
    refused("numpy's floor has no formula", lambda q: np.floor(q.x))
    refused("argument 'a' means nothing", lambda a: a.x)
    refused("is no function", 3.0)


def test_interrupts_and_exceptions_in_callbacks(duffing, record):
    seen = []

    def observer(iteration, evaluations, cost):
        seen.append(iteration)
        if iteration == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as told:
        duffing.fit([record], progress=observer)
    assert seen == [0, 1, 2]
    assert told.value.fit is None or not told.value.fit.success


def test_objects_go_about(duffing, record):
    again = pickle.loads(pickle.dumps(duffing))
    assert again.name == "duffing" and list(again.parameters()) == list(duffing.parameters())
    own = pickle.loads(pickle.dumps(record))
    assert np.array_equal(own.outputs["a"], record.outputs["a"])
    p = copy.deepcopy(duffing.parameters())
    p["k"].value = 1.0
    assert duffing.parameters()["k"].value == 40.0
    fit = duffing.fit([record])
    far = pickle.loads(pickle.dumps(fit))
    assert far.report() == fit.report() and far.params["k"].stderr == fit.params["k"].stderr
    with pytest.raises(costate.Error, match="another process"):
        far.save("nowhere")
    found: list[float] = []
    threads = [threading.Thread(target=lambda: found.append(duffing.fit([record]).cost)) for _ in range(4)]
    for own in threads:
        own.start()
    for own in threads:
        own.join()
    assert found == [fit.cost] * 4


def test_hostile_calls(duffing, record):
    """Exceptions, whatever is given, and never an abort."""
    rng = np.random.default_rng(7)
    odd = [None, "", "k", -1, np.nan, np.inf, [], [np.nan] * 3, np.zeros(3, complex), np.zeros((3, 3))[:, ::2], b"x", {}, {"k": "?"}, object()]
    odd += [np.arange(6.0)[::2], np.zeros(3, np.float16), [1, 2, 3], (40, 25, 1), "é\0\"\\", 1 << 70]
    calls = [
        lambda x, y: duffing.cost([record], x),
        lambda x, y: duffing.simulate(k=x),
        lambda x, y: duffing.simulate(x, {"F": y}),
        lambda x, y: costate.Record(x, {"F": y}, {"a": y}),
        lambda x, y: duffing.fit([costate.Record(record.t, record.inputs, record.outputs, x)], max_iterations=1),
        lambda x, y: duffing.problem([record], duffing.parameters(), method=x, step=y),
        lambda x, y: duffing.parameters()["k"].set(value=x, min=y),
        lambda x, y: duffing.jacobians(q=x, inputs=y),
        lambda x, y: costate.load(x),
        lambda x, y: duffing.parameters().add(str(x), y),
    ]
    fine = told = 0
    for _ in range(2000):
        call, x, y = calls[rng.integers(len(calls))], odd[rng.integers(len(odd))], odd[rng.integers(len(odd))]
        try:
            call(x, y)
            fine += 1
        except (costate.Error, TypeError, ValueError, OverflowError, KeyError, OSError):
            told += 1
    assert told > fine > 0


def differences(function, theta, step=1e-6):
    """Central differences, column by column."""
    columns = []
    for k, value in enumerate(theta):
        h = step * max(abs(value), 1.0)
        up, down = theta.copy(), theta.copy()
        up[k], down[k] = value + h, value - h
        columns.append((np.asarray(function(up)) - np.asarray(function(down))) / (2 * h))
    return np.stack(columns, axis=-1)


def test_functions_are_costs(duffing, record):
    """A cost by a function: that of its formula to the bit, with the right gradient and Hessian; without a record, the model's own run; found by a fit."""
    settings = {"integral": lambda q, v, a, w, u, y: 0.1 * y.a**2 + np.sin(q.x) * v.x + 1e-3 * w.F * u.k, "terminal": lambda t, q: t * q.x**2}
    problem = duffing.problem([record], **settings)
    again = duffing.problem([record], integral="0.1*a^2 + sin(x)*x' + 0.001*F*k", terminal="t*x^2")
    theta = problem.start * 1.1
    cost, slope = problem.cost_and_gradient(theta)
    assert (cost, *slope) == (again.cost(theta), *again.cost_and_gradient(theta)[1])
    assert np.allclose(slope, differences(problem.cost, theta), rtol=1e-6, atol=1e-9 * abs(cost))
    hessian = problem.hessian(theta)
    assert np.allclose(hessian, differences(lambda own: problem.cost_and_gradient(own)[1], theta), rtol=1e-6, atol=1e-8)
    with pytest.raises(costate.Error, match="no sum of squares"):
        problem.residuals(theta)

    # the best damping of a mass that is let go is sqrt(c m), for the integral of x^2
    oscillator = costate.load("oscillator")
    p = oscillator.parameters()
    p["c"].set(value=40.0, vary=False)
    p["d"].value = 2.0
    t = np.linspace(0.0, 12.0, 2401)
    still = costate.Record(t, inputs={"F": np.zeros(len(t))})
    fit = oscillator.fit([still], p, integral=lambda q: q.x**2)
    assert fit.success and abs(fit.params["d"].value - np.sqrt(40.0)) < 5e-3
    assert oscillator.problem(None, integral="x^2").cost([25.0, 0.3]) > 0.0
    for slip, sentence in [
        (lambda y: y.nothing, "there is no output 'nothing'"),
        (lambda q: q.x > 0.0, "a condition stands where a number is wanted"),
        (lambda nothing: 0.0, "means nothing here"),
        (lambda q: 1.0 if q.x > 0.0 else 2.0, "costate.where"),
    ]:
        with pytest.raises(costate.Error, match=sentence):
            oscillator.problem(None, integral=slip)
    with pytest.raises(costate.Error, match="a sum of squares"):
        oscillator.problem(None, integral="x^2", noise="given")


FOUR_BAR = {
    "name": "four_bar",
    "kind": "planar",
    "parameters": {"k": ("N/m", 400.0), "k3": costate.Parameter("k3", "N/m^3", 4e4, min=0.0), "d": ("N s/m", 6.0)},
    "inputs": {"T": "N m"},
    "body": {
        "crank": {"mass": 0.3, "inertia": 4e-4, "at": [0.0, 0.05], "angle": np.pi / 2},
        "coupler": {"mass": 0.8, "inertia": 8.4e-3, "at": (0.152, 0.15), "angle": 0.335},
        "rocker": {"mass": 0.5, "inertia": 3.8e-3, "at": np.array([0.3, 0.1]), "angle": 1.57},
    },
    "revolute": {
        "A": {"ground": [0, 0], "crank": [-0.05, 0]},
        "B": {"crank": [0.05, 0], "coupler": [-0.16, 0]},
        "C": {"coupler": [0.16, 0], "rocker": [0.1, 0]},
        "D": {"ground": [0.3, 0], "rocker": [-0.1, 0]},
    },
    "strut": {"spring": {"ground": [0.55, 0.1], "rocker": [0.05, 0], "free_length": 0.2, "tension": "k*x + k3*x^3 + d*x'"}},
    "torque": {"motor": {"from": "ground", "on": "crank", "is": "T"}},
    "sensor": {"imu": {"shows": "accelerometer", "coupler": [0, 0]}},
    "scenario": {"end": 0.5, "initial_state": "projected", "step": 1e-3, "inputs": {"T": "1.2*sin(5*t)"}, "outputs": ["imu.x"]},
}


def test_functions_are_laws():
    """A mechanism of parts as a dict, with a force law as a function: to the bit what the formula gives; slips by their places."""
    formula = costate.load(FOUR_BAR)
    own = copy.deepcopy(FOUR_BAR)
    own["strut"]["spring"]["tension"] = lambda x, x_dot, k, k3, d: k * x + k3 * x**3 + d * x_dot
    traced = costate.load(own)
    assert "k*x + k3*x^3 + d*x'" in traced.text
    assert np.array_equal(formula.simulate()["imu.x"], traced.simulate()["imu.x"])
    assert np.array_equal(pickle.loads(pickle.dumps(traced)).simulate()["imu.x"], traced.simulate()["imu.x"])

    def soft(x, x_dot, k, d):
        return costate.where(x > 0.0, k * x, 0.1 * k * x) + d * np.tanh(x_dot / 0.01)

    own["strut"]["spring"]["tension"] = soft
    own["parameters"]["d"] = ("N", 1.0)
    with pytest.raises(costate.Error, match="tanh") as slip:
        costate.load(own)
    assert "spring" in str(slip.value)
    own["strut"]["spring"]["tension"] = lambda x, x_dot, k, k3, d: costate.where(x > 0.0, k * x, 0.1 * k * x) + k3 * x**3 + 6.0 * d * x_dot * 0.0
    own["parameters"]["d"] = ("N s/m", 6.0)
    own["parameters"]["k"] = costate.Parameter("k", "N/m", 300.0)
    assert np.isfinite(costate.load(own).simulate()["imu.x"]).all()
    for wrong, sentence in [
        (lambda x: 1.0 if x > 0 else 2.0, "costate.where"),
        (lambda x, kk: kk * x, "kk"),
        (lambda x: [x, x], "give one"),
        (lambda x: object(), "is no number"),
        (object(), "means nothing in a mechanism file"),
    ]:
        own["strut"]["spring"]["tension"] = wrong
        with pytest.raises(costate.Error, match=sentence):
            costate.load(own)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_mechanism_is_a_layer(library, duffing, record):
    """Costs and residuals within torch and jax: their values, and gradients through what stands before and behind them."""
    module = pytest.importorskip(library)
    problem = duffing.problem([record])
    theta = problem.start * 1.05
    cost, slope = problem.cost_and_gradient(theta)
    residuals, jacobian = problem.residuals(theta)
    if library == "torch":
        x = module.tensor(np.log(theta), requires_grad=True)
        (3.0 * problem.torch()(x.exp())).backward()
        of_cost = x.grad.numpy().copy()
        x.grad = None
        problem.torch(residuals=True)(x.exp()).pow(2).sum().backward()
        of_residuals = x.grad.numpy()
    else:
        module.config.update("jax_enable_x64", True)
        of_cost = module.jit(module.grad(lambda x: 3.0 * problem.jax()(module.numpy.exp(x))))(np.log(theta))
        of_residuals = module.grad(lambda x: (problem.jax(residuals=True)(module.numpy.exp(x)) ** 2).sum())(np.log(theta))
        pair = module.vmap(problem.jax())(np.stack([theta, problem.start]))
        assert np.allclose(pair, [cost, problem.cost(problem.start)], rtol=1e-14)
    assert np.allclose(of_cost, 3.0 * slope * theta, rtol=1e-13)
    assert np.allclose(of_residuals, 2.0 * (residuals @ jacobian) * theta, rtol=1e-12)


def test_results_show_themselves_in_notebooks(duffing, record):
    fit = duffing.fit([record])
    page = fit._repr_html_()
    assert "<table>" in page and page.count("<svg") == 1 and "converged" in page
    assert {"output_a", "error_a", "parameters", "cost"} <= set(fit.figures())
    assert "<svg" not in pickle.loads(pickle.dumps(fit))._repr_html_()


FORK = """
import os, sys, costate, numpy as np
t = np.linspace(0.0, 1.0, 101)
duffing = costate.load(sys.argv[1])
run = duffing.simulate(t, inputs={"F": np.sin(t)}, k=30.0)
record = costate.Record(t, inputs={"F": np.sin(t)}, outputs={"a": run["a"]})
problem = duffing.problem([record])
cost = problem.cost(problem.start)
child = os.fork()
if child == 0:
    os._exit(0 if problem.cost(problem.start) == cost and duffing.fit([record]).success else 1)
assert os.waitpid(child, 0)[1] == 0 and problem.cost(problem.start) == cost
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_works(tmp_path):
    """After a fork models, problems and fits go on, in the child and in the parent. (In a process of its own: other libraries have threads.)"""
    (tmp_path / "duffing.toml").write_text(DUFFING)
    subprocess.run([sys.executable, "-c", FORK, tmp_path / "duffing.toml"], check=True, timeout=60)


def test_nothing_leaks(duffing, record):
    """Memory does not grow with the number of fits, of problems, and of calls."""
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no way to ask for the memory here")
    short = costate.Record(record.t[:51], inputs={"F": record.inputs["F"][:51]}, outputs={"a": record.outputs["a"][:51]})
    problem = duffing.problem([short])

    def work(count):
        for _ in range(count):
            duffing.fit([short])
            problem.cost_and_gradient(problem.start)

    work(30)
    before = resident()
    work(100)
    # a result of 51 samples takes 50 kB
    assert resident() - before < 2e6, (resident() - before) / 1e6


ARM = """<robot name="arm"><link name="table"/>
<link name="upper"><inertial><origin xyz="0.02 0 0.2"/><mass value="2.5"/><inertia ixx="0.03" iyy="0.03" izz="0.006"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.01 0.15"/><mass value="1.2"/><inertia ixx="0.01" iyy="0.012" izz="0.003"/></inertial></link>
<joint name="turn" type="continuous"><parent link="table"/><child link="upper"/><axis xyz="0 0 1"/><dynamics damping="0.4" friction="0.2"/></joint>
<joint name="bend" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<dynamics damping="0.2" friction="0.1"/></joint></robot>"""


def test_a_robots_fit_is_numpys(tmp_path):
    """Parameters that are determined alone, combinations of others, and their standard errors: linear least squares of numpy, by the same regressor."""
    code = "import sys, costate._costate as c; sys.exit(c.run_command(['costate', *sys.argv[1:]]))"

    def command(*words):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "arm.urdf").write_text(ARM)
    t = np.linspace(0.0, 6.0, 601)
    q = [0.8 * np.sin(2.1 * t) + 0.3 * np.sin(5.3 * t), 0.9 * np.sin(2.9 * t + 1.0) + 0.2 * np.cos(6.7 * t)]

    def log(efforts):
        rows = ["t,q1,q2,tau1,tau2", *(",".join(repr(float(x)) for x in row) for row in zip(t, *q, *efforts, strict=True))]
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")

    log(np.zeros((2, len(t))))
    command("init", "arm.urdf", "--data", "log.csv")
    moved = costate.load(tmp_path / "arm_moved.toml")
    truth = moved.simulate(robot_d_turn=0.6, robot_Fc_bend=0.25, robot_m_lower=1.5, robot_Ixx_lower=0.05)
    names = ["tau1.effort", "tau2.effort"]
    efforts = [truth[name] + 0.05 * np.random.default_rng(k).normal(size=len(t)) for k, name in enumerate(names)]
    log(efforts)
    found = json.loads(command("identify", "arm_problem.toml", "--json"))

    problem = costate.load(tmp_path / "arm_moved.toml").problem([costate.Record(t, outputs=dict(zip(names, efforts, strict=True)))])
    r, J = problem.residuals(problem.start)
    size = np.linalg.norm(J, axis=0)
    size[size < 1e-9 * size.max()] = np.inf  # without influence
    J /= size
    place = {name: k for k, name in enumerate(problem.names)}
    alone = {own["name"]: own for own in found["parameters"] if own["standard_error"] is not None}
    together = {own["terms"][0]["name"]: own for own in found["combinations"]}
    kept = [place[name] for name in [*alone, *together]]
    rest = [k for k in range(len(place)) if k not in kept and np.isfinite(size[k])]
    change, _, rank, _ = np.linalg.lstsq(J[:, kept], -r, rcond=1e-10)
    assert rank == len(kept) == np.linalg.matrix_rank(J, tol=1e-9) and len(together) > 1, (rank, len(kept))
    left = r + J[:, kept] @ change
    noise = left @ left / (len(r) - rank)
    errors = np.sqrt(noise * np.diag(np.linalg.inv(J[:, kept].T @ J[:, kept]))) / size[kept]
    factors = np.linalg.lstsq(J[:, kept], J[:, rest], rcond=1e-10)[0] * size[rest] / size[kept, None]
    values = problem.start[kept] + change / size[kept] + factors @ problem.start[rest]
    for k, value, error in zip(kept, values, errors, strict=True):
        own = alone.get(problem.names[k]) or together[problem.names[k]]
        assert own["value"] == pytest.approx(value, rel=1e-8, abs=1e-8 * error), own
        assert own["standard_error"] == pytest.approx(error, rel=1e-6), own
