"""Models, problems and runs."""

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _costate
from ._costate import Error
from ._fit import Fit
from ._layers import jax_function, torch_function
from ._parameters import Parameter, Parameters, _array, _number, _quoted
from ._record import Record

Records = Record | Iterable[Record]
Theta = ArrayLike | Mapping[str, float]
Point = ArrayLike | Mapping[str, float] | None
Progress = bool | Callable[[int, int, float], Any] | None


def load(name: str | os.PathLike[str] | dict[str, Any]) -> "Model":
    """A model: a mechanism file (.toml), a robot (.urdf), a ready model's name, or a mechanism file as a dict, whose formulas may be functions.

    ``load({"kind": "planar", .., "strut": {"spring": {.., "tension": lambda x, x_dot, k, d: k*x**3 + d*x_dot}}})``: arguments are names of the file;
    ``x_dot`` is the rate x'. Functions are traced once, as by :func:`mechanism`.
    """
    if isinstance(name, dict):
        from ._trace import described

        return Model(str(name.get("name", "model")), described(name))
    return Model(name)


model = load


@contextlib.contextmanager
def _without(folder):
    """Errors without the names of files that nobody has written."""
    try:
        yield
    except Error as error:
        made, problem = str(error), re.escape(os.path.join(folder, "problem.toml"))
        made = re.sub(problem + r"(, line \d+)?:? ?", "", made)
        made = re.sub(re.escape(folder) + r"[\\/](\d+)\.npz", r"record \1", made)
        if made == str(error):
            raise
        told = Error(made)
        told.name, told.path, told.line = error.name, None, None
        raise told from None


def _numbers(raw, *shape):
    """A numpy array of one's own."""
    return np.frombuffer(raw).reshape(shape or -1).copy()


class Model:
    """A mechanism: what it is made of, and everything that can be asked of it."""

    def __init__(self, name, text=None):
        path, self._text, self._kept = os.fspath(name), text, None
        if text is None:
            self._name = os.path.abspath(path) if path.endswith((".toml", ".urdf")) else path
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="costate-")
            plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in path)
            self._name = os.path.join(self._folder.name, f"{plain or 'model'}.toml")
            Path(self._name).write_text(text, encoding="utf-8")
        try:
            self._native = _costate.Model(self._name)
        except Error as error:
            if text is None:
                raise
            # the file is nowhere but here
            told = Error(str(error).replace(self._folder.name + os.sep, ""))
            told.name, told.path, told.line, told.text = error.name, None, error.line, text
            raise told from None

    name = property(lambda self: self._native.name, doc="Its name.")
    summary = property(lambda self: self._native.summary, doc="One line on what it is.")
    inputs = property(lambda self: dict(self._native.inputs), doc="Units of its inputs, by their names.")
    outputs = property(lambda self: dict(self._native.outputs), doc="Units of its outputs, by their names.")
    coordinates = property(lambda self: dict(self._native.coordinates), doc="Units of its coordinates and states, by their names.")
    states = property(lambda self: dict(self._native.states), doc="Units of its states of first order alone, by their names.")
    constraints = property(lambda self: dict(self._native.constraints), doc="Units of its constraints, by their names.")

    def __repr__(self):
        return f"<costate.Model {self.name}: {self.summary}>"

    def __reduce__(self):
        return Model, (self._name,) if self._text is None else (self.name, self._text)

    @property
    def text(self) -> str | None:
        """The mechanism file that it is, as text; None of a model without one."""
        if self._text is None and self._name.endswith((".toml", ".urdf")):
            return Path(self._name).read_text(encoding="utf-8")
        return self._text

    def parameters(self) -> Parameters:
        """Its parameters, at their nominal values: :class:`Parameters`, to be changed and given to :meth:`fit`."""
        made = Parameters()
        for name, unit, nominal, lower, upper, _size, free, _log in self._native.parameters:
            made[name] = Parameter(name, unit, nominal, lower, upper, free)
        return made

    def simulate(
        self,
        t: ArrayLike | None = None,
        inputs: Mapping[str, ArrayLike] | None = None,
        *,
        scheme: str | None = None,
        step: float | None = None,
        initial_state: str | None = None,
        parameters: Mapping[str, Parameter | float] | None = None,
        **values: float,
    ) -> "Run":
        """A run. ``t``: times of samples of the inputs, s, which are steps, too, from the first to the last one; without them, the model's own run.
        ``values``: values of parameters by their names. Returns a :class:`Run`."""
        all_values: dict[str, Parameter | float] = {**(parameters or {}), **values}
        given = [(name, own.value if isinstance(own, Parameter) else float(own)) for name, own in all_values.items()]
        with tempfile.TemporaryDirectory(prefix="costate-") as folder:
            text = [f"model = {_quoted(self._name)}"]
            if t is not None:
                record = Record(t, inputs=inputs)
                record._check(self.inputs)
                text += [record._write(folder, 0).replace("[[experiment]]", "[data]").replace('name = "record_1"\n', "")]
            elif inputs:
                raise Error("inputs: there are no times; give t, too")
            said = {"scheme": scheme, "step": step, "initial_state": initial_state}
            text += ["[integrator]"]
            text += [f"{key} = {_quoted(own) if isinstance(own, str) else _number(own)}" for key, own in said.items() if own is not None]
            with _without(folder):
                return Run(_costate.Run("\n".join(text), Path(folder) / "problem.toml", given))

    def problem(self, records: Records | None, parameters: Mapping[str, Parameter] | None = None, **settings: Any) -> "Problem":
        """The problem of fitting records: a :class:`Problem`, whose cost, residuals and derivatives can be evaluated again and again. ``settings`` as in
        :meth:`fit`. With a cost of one's own, ``records`` may be None: the model's own run."""
        return Problem(self, records, parameters, **settings)

    def fit(
        self,
        records: Records | None,
        parameters: Mapping[str, Parameter] | None = None,
        *,
        progress: Progress = None,
        **settings: Any,
    ) -> Fit:
        """Finds the parameters that fit records. Returns a :class:`Fit`.

        ``progress``: called with (iteration, evaluations, cost), or True or False; by default a line in a terminal. ``method``: ``"lm"``, ``"bfgs"``, ..;
        ``integral``, ``terminal``: a cost of one's own, by a formula or a function of any of ``t``, ``y`` (outputs), ``q``, ``v``, ``a``, ``z``, ``z_dot``, ``w``,
        ``u`` and ``lambda_``: its integral over time and its value at the end, in the place of comparing outputs.
        ``noise``: ``"given"`` or ``"estimated"``; ``scheme``, ``step``, ``substeps``, ``loss``, ``max_iterations`` as in problem files; where neither
        ``step`` nor ``substeps`` is given, steps are chosen so fine that values do not depend on them. An interrupt
        (Ctrl-C) stops at the next time step and raises ``KeyboardInterrupt``, whose ``fit`` is the best so far.
        """
        return self.problem(records, parameters, **settings).fit(progress=progress)

    def _problem(self, records):
        records = [records] if isinstance(records, Record) else records
        key = tuple(map(id, records))
        if self._kept is None or self._kept[0] != key:
            # the records are kept with the problem: nothing else gets their numbers
            self._kept = key, self.problem(records), list(records)
        return self._kept[1]

    def cost(self, records: Records, theta: Theta) -> float:
        """The cost at values ``theta`` of the free parameters, an array or a dict."""
        return self._problem(records).cost(theta)

    def cost_and_gradient(self, records: Records, theta: Theta) -> tuple[float, np.ndarray]:
        """The cost and its gradient by the free parameters: for ``scipy.optimize.minimize(.., jac=True)``."""
        return self._problem(records).cost_and_gradient(theta)

    def residuals(self, records: Records, theta: Theta) -> tuple[np.ndarray, np.ndarray]:
        """Weighted residuals r, with cost = r @ r / 2, and their derivatives J by the free parameters."""
        return self._problem(records).residuals(theta)

    def hessian(self, records: Records, theta: Theta) -> np.ndarray:
        """The exact Hessian of the cost by the free parameters."""
        return self._problem(records).hessian(theta)

    def jacobians(
        self,
        q: Point = None,
        v: Point = None,
        a: Point = None,
        lambda_: Point = None,
        inputs: Point = None,
        t: float = 0.0,
        parameters: Mapping[str, Parameter | float] | None = None,
    ) -> dict[str, "Jacobian"]:
        """The exact Jacobians at a point, by their symbols (``"J_M"``, ``"J_C"``, ``"J_Q"``, ``"J_V"``, ``"C_q"``, ..): arrays with ``.rows``,
        ``.columns`` and ``.words``. Of what is not given all is zero, and parameters are nominal."""
        def numbers(values, names, what):
            if isinstance(values, dict):
                if unknown := [name for name in values if name not in names]:
                    raise Error(f"{what}: there is no {unknown[0]!r}; there are {', '.join(names)}")
                return [float(values.get(name, 0.0)) for name in names]
            return [0.0] * len(names) if values is None else _array(values, what).tolist()

        nominal = {name: own[0] for name, *own in ((p[0], p[2]) for p in self._native.parameters)}
        own = {name: getattr(value, "value", value) for name, value in (parameters or {}).items()}
        coordinates = list(self.coordinates)
        found = self._native.jacobians(
            float(t),
            numbers(q, coordinates, "q"),
            numbers(v, coordinates, "v"),
            numbers(a, coordinates, "a"),
            numbers(lambda_, list(self.constraints), "lambda_"),
            numbers(inputs, list(self.inputs), "inputs"),
            numbers({**nominal, **own}, list(nominal), "parameters"),
        )
        return {symbol: Jacobian._made(*parts) for symbol, parts in found.items()}


class Jacobian(np.ndarray):
    """A matrix with names of its rows and columns."""

    @classmethod
    def _made(cls, words, rows, columns, raw):
        made = _numbers(raw, len(rows), len(columns)).view(cls)
        made.words, made.rows, made.columns = words, rows, columns
        return made

    def __array_finalize__(self, other):
        for name in ("words", "rows", "columns"):
            setattr(self, name, getattr(other, name, None))


class Run:
    """A simulation: ``run["a"]`` is an output at the times ``run.t``; ``run.q``, ``run.v``, ``run.a`` and ``run.lambda_`` have a row a time."""

    def __init__(self, native):
        self._native = native
        self.t = _numbers(native.times)
        self.units = dict(native.outputs)
        self.notes = native.notes

    def __getitem__(self, output: str) -> np.ndarray:
        return _numbers(self._native.output(output))

    def keys(self):
        """Names of outputs."""
        return self.units.keys()

    def _states(self, part):
        raw = self._native.states(part)
        return _numbers(raw, len(self.t), -1) if raw else np.zeros((len(self.t), 0))

    q = property(lambda self: self._states("q"), doc="Coordinates, and states, whose values are in ``v``: times x coordinates.")
    v = property(lambda self: self._states("v"), doc="Velocities, and values of states: times x coordinates.")
    a = property(lambda self: self._states("a"), doc="Accelerations, and rates of states: times x coordinates.")
    lambda_ = property(lambda self: self._states("lambda"), doc="Lagrange multipliers: times x constraints.")
    info = property(lambda self: json.loads(self._native.document), doc="Scheme, counters and start, as the command says them.")

    def __repr__(self):
        return f"<costate.Run of {self.info['model']}: {len(self.t)} times to {self.t[-1]:g} s>"


class Problem:
    """The problem of fitting records: cost, residuals and derivatives by the free parameters, whose names are in ``names``.

    They are those of one time step between two samples, unless ``step`` or ``substeps`` is given; :meth:`fit` takes finer ones where these matter."""

    _TOP = {"noise": "cost", "loss": "cost", "integral": "cost", "terminal": "cost", "method": "optimiser", "max_iterations": "optimiser", "max_evaluations": "optimiser"}
    _STEPS = dict.fromkeys(["scheme", "step", "substeps", "tolerance", "alpha", "initial_state"], "integrator")

    def __init__(self, model, records, parameters=None, **settings):
        records = [records] if isinstance(records, Record) else list(records or [])
        cost = {key: settings.get(key) for key in ("integral", "terminal")}
        has_cost = any(own is not None for own in cost.values())
        if not records and not has_cost:
            raise Error("the records: there is none; give at least one costate.Record, or a cost of your own, integral=..")
        for key, own in cost.items():
            if callable(own):
                from ._trace import cost_formula

                settings[key] = cost_formula(model, key, own)
        for own in records:
            if not isinstance(own, Record):
                raise Error(f"a record: {type(own).__name__} is none; give costate.Record(t, inputs, outputs)")
            own._check(model.inputs)
        self._folder = tempfile.TemporaryDirectory(prefix="costate-")
        self._units = {name: own.unit for name, own in (parameters or model.parameters()).items()}
        text = [f"model = {_quoted(model._name)}"]
        places = {**self._TOP, **self._STEPS}
        for section in ("integrator", "cost", "optimiser"):
            text.append(f"[{section}]")
            for key, own in settings.items():
                if key not in places:
                    raise TypeError(f"there is no setting {key!r}; there are {', '.join(places)}")
                if places[key] == section and own is not None:
                    whole = repr(own) if isinstance(own, int) else None
                    text.append(f"{key} = {_quoted(own) if isinstance(own, str) else whole or _number(own)}")
        if parameters is not None:
            text += self._said(parameters, model)
        text += [record._write(self._folder.name, number, not has_cost) for number, record in enumerate(records)]
        self.text = "\n".join(text)
        with _without(self._folder.name):
            self._native = _costate.Problem(self.text, Path(self._folder.name) / "problem.toml")
        self.notes = self._native.notes
        all_names = self._native.parameters
        self._start = np.array([own[2] for own in all_names])
        self._free = np.array([k for k, own in enumerate(all_names) if own[5]], dtype=int)
        self._names = [own[0] for own in all_names]
        self.names = [self._names[k] for k in self._free]

    @staticmethod
    def _said(parameters, model):
        """What a problem file says of parameters that are not as the model has them."""
        own, lines = model.parameters(), []
        for name, parameter in parameters.items():
            if name not in own:
                unit = f"unit = {_quoted(parameter.unit)}, "
                lines.append(f"{_quoted(name)} = {parameter._line().replace('{ ', '{ ' + unit, 1)}")
            elif parameter._line() != own[name]._line():
                lines.append(f"{_quoted(name)} = {parameter._line()}")
        return ["[parameters]", *lines] if lines else []

    start = property(lambda self: self._start[self._free].copy(), doc="Values of the free parameters at the start.")

    def values(self, theta: Theta) -> np.ndarray:
        """Values of all parameters for values of the free ones, an array or a dict."""
        u = self._start.copy()
        if isinstance(theta, dict):
            for name, value in theta.items():
                if name not in self._names:
                    raise Error(f"there is no parameter {name!r}; there are {', '.join(self._names)}")
                u[self._names.index(name)] = float(value)
            return u
        values = _array(theta, "the values of the free parameters")
        if len(values) != len(self._free):
            raise Error(f"{len(values)} values are given for the free parameters {', '.join(self.names)}; give {len(self._free)}")
        u[self._free] = values
        return u

    def cost(self, theta: Theta) -> float:
        """The cost."""
        return self._native.cost(self.values(theta).tolist())

    def cost_and_gradient(self, theta: Theta) -> tuple[float, np.ndarray]:
        """The cost and its gradient."""
        cost, gradient = self._native.cost_and_gradient(self.values(theta).tolist())
        return cost, np.frombuffer(gradient)[self._free]

    def residuals(self, theta: Theta) -> tuple[np.ndarray, np.ndarray]:
        """Weighted residuals r, with cost = r @ r / 2, and their derivatives J."""
        residuals, rows = self._native.residuals(self.values(theta).tolist())
        return _numbers(residuals), _numbers(rows, -1, len(self._start))[:, self._free]

    def hessian(self, theta: Theta) -> np.ndarray:
        """The exact Hessian of the cost."""
        _, _, hessian = self._native.hessian(self.values(theta).tolist())
        return _numbers(hessian, len(self._start), -1)[np.ix_(self._free, self._free)]

    def torch(self, residuals: bool = False) -> Callable[[Any], Any]:
        """The cost as a function of a torch tensor of the free parameters, or the weighted residuals: with exact gradients, so that a mechanism is a layer.
        First derivatives alone; :meth:`hessian` has the second ones."""
        return torch_function(self, residuals)

    def jax(self, residuals: bool = False) -> Callable[[Any], Any]:
        """The cost as a function of a jax array of the free parameters, or the weighted residuals: with exact gradients, also within ``jit`` and ``vmap``. In jax's
        single precision unless ``jax_enable_x64`` is set."""
        return jax_function(self, residuals)

    def fit(self, progress: Progress = None) -> Fit:
        """Finds the free parameters: see :meth:`Model.fit`."""
        is_shown = _is_watched() if progress is None else progress is True
        observer = progress if callable(progress) else _show if is_shown else None
        with _without(self._folder.name):
            found, error = self._native.fit(observer)
        if is_shown:
            print(file=sys.stderr)
        fit = None if found is None else Fit(found, self._units)
        if error is not None or fit is None:
            error = error or Error("the fit has found nothing")
            error.fit = fit  # type: ignore[union-attr]
            raise error
        return fit


def _is_watched():
    """True in a terminal, and in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _show(iteration, evaluations, cost):
    print(f"\riteration {iteration}: cost {cost:.6e}, {evaluations} runs", end="", file=sys.stderr, flush=True)
