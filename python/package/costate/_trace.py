"""Mechanisms written as Python functions, which are run once, with symbols in the place of numbers: what they do becomes formulas of a mechanism file.

Their derivatives are exact, and no Python runs afterwards.
"""

import difflib
import inspect
import math
import os
import sys
from pathlib import Path

import numpy as np

from ._costate import Error
from ._model import Model
from ._parameters import Parameter, _number, _quoted

# What formulas call the functions of numpy.
_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "exp": "exp", "expm1": "expm1", "log": "ln", "log1p": "log1p", "log2": "log2", "log10": "log10", "sqrt": "sqrt", "cbrt": "cbrt",
    "absolute": "abs", "fabs": "abs", "sign": "sign", "arctan2": "atan2", "atan2": "atan2", "minimum": "min", "maximum": "max", "fmin": "min", "fmax": "max",
    "hypot": "hypot", "clip": "clamp",
}  # fmt: skip
_OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "power": "^", "float_power": "^"}
_COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_LOGIC = {"logical_and": "and", "logical_or": "or", "bitwise_and": "and", "bitwise_or": "or"}

# How tightly formulas bind: sums, products, powers, names.
_SUM, _PRODUCT, _POWER, _NAME = 1, 2, 4, 5
_BINDS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}
# Texts that grow longer become definitions; where there are none, they are refused.
_LONG = 400
_LONGEST = 20_000


def _slip(problem, remedy):
    """An error at the line of the function that is being traced."""
    frame, own = sys._getframe(1), str(Path(__file__).parent)
    while frame and (frame.f_code.co_filename.startswith(own) or "numpy" in frame.f_code.co_filename):
        frame = frame.f_back
    path, line = (frame.f_code.co_filename, frame.f_lineno) if frame else (None, None)
    place = f"{Path(path).name}, line {line}: " if frame else ""
    error = Error(f"{place}{problem}; {remedy}")
    error.path, error.line, error.name = path, line, None
    return error


class Expression:
    """A number that is not known while a function is traced."""

    __slots__ = ("kind", "parts")
    __hash__ = object.__hash__

    def __init__(self, kind, *parts):
        self.kind, self.parts = kind, parts

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        name = ufunc.__name__
        if method != "__call__":
            raise _slip(f"numpy's {name}.{method} cannot be traced", "write a loop")
        if any(isinstance(own, np.ndarray) for own in inputs):
            return _each(lambda *own: _applied(name, own), inputs)
        return _applied(name, inputs)

    def __add__(self, other):
        return _operation("+", self, other)

    def __radd__(self, other):
        # what `sum` begins with
        return self if isinstance(other, int) and other == 0 else _operation("+", other, self)

    def __sub__(self, other):
        return _operation("-", self, other)

    def __rsub__(self, other):
        return _operation("-", other, self)

    def __mul__(self, other):
        return _operation("*", self, other)

    def __rmul__(self, other):
        return _operation("*", other, self)

    def __truediv__(self, other):
        return _operation("/", self, other)

    def __rtruediv__(self, other):
        return _operation("/", other, self)

    def __pow__(self, other):
        return _operation("^", self, other)

    def __rpow__(self, other):
        return _operation("^", other, self)

    def __mod__(self, other):
        return Expression("mod", self, _operand(other))

    def __neg__(self):
        return Expression("neg", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return Expression("abs", self)

    def __lt__(self, other):
        return Condition("<", self, _operand(other))

    def __le__(self, other):
        return Condition("<=", self, _operand(other))

    def __gt__(self, other):
        return Condition(">", self, _operand(other))

    def __ge__(self, other):
        return Condition(">=", self, _operand(other))

    def __eq__(self, other):
        raise _slip("two numbers are compared by ==, which are not known while the function is traced", "compare by < or >")

    def __ne__(self, other):
        raise _slip("two numbers are compared by !=, which are not known while the function is traced", "compare by < or >")

    def clip(self, lowest, highest):
        """The number, kept between two others."""
        return Expression("clamp", self, _operand(lowest), _operand(highest))

    def __float__(self):
        raise _slip("a plain number is wanted, and this one is not known while the function is traced", "take numpy's function, such as np.sin for math.sin")

    __int__ = __index__ = __float__

    def __bool__(self):
        raise _slip("a branch on a number that is not known while the function is traced", "write costate.where(condition, a, b)")

    def __len__(self):
        raise _slip("this is one number", "name the entry that is meant")

    def __getitem__(self, _):
        raise _slip("this is one number", "name the entry that is meant")

    __iter__ = None


class Condition:
    """A condition on numbers that are not known while a function is traced."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind, *parts):
        self.kind, self.parts = kind, parts

    def __and__(self, other):
        return Condition("and", self, _condition(other))

    def __or__(self, other):
        return Condition("or", self, _condition(other))

    def __invert__(self):
        return Condition("not", self)

    def __bool__(self):
        raise _slip("a branch on a condition that is not known while the function is traced", "write costate.where(condition, a, b), with & | ~ for and or not")


def where(condition, a, b):
    """``a`` where the condition holds, else ``b``: for functions that are traced; numpy's ``where`` for all else."""
    if not isinstance(condition, Condition):
        return np.where(condition, a, b)
    return Expression("if", condition, _operand(a), _operand(b))


def _operand(value):
    if isinstance(value, Expression):
        return value
    if isinstance(value, Condition):
        raise _slip("a condition stands where a number is wanted", "write costate.where(condition, 1.0, 0.0)")
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise _slip(f"an array of shape {value.shape} stands where one number is wanted", "name the entry that is meant")
        value = value.item()
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _slip(f"{type(value).__name__} {value!r} is no number", "give a number") from None
    if not math.isfinite(number):
        raise _slip(f"a number is {number}", "give a finite one")
    return number


def _condition(value):
    if not isinstance(value, Condition):
        raise _slip(f"{value!r} is no condition on unknown numbers", "compare by < or >")
    return value


def _each(function, inputs):
    """A function of the entries of arrays."""
    boxes = []
    for own in inputs:
        box = own
        if not isinstance(own, np.ndarray):
            box = np.empty((), object)
            box[()] = own
        boxes.append(box)
    boxes = np.broadcast_arrays(*boxes)
    made = np.empty(boxes[0].shape, object)
    for place in np.ndindex(made.shape):
        made[place] = function(*(box[place] for box in boxes))
    return made


def _operation(operator, a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _each(lambda a, b: _operation(operator, a, b), (a, b))
    return Expression(operator, _operand(a), _operand(b))


def _applied(name, inputs):
    if name in _OPERATORS:
        return _operation(_OPERATORS[name], *inputs)
    if name in _COMPARISONS:
        return Condition(_COMPARISONS[name], *map(_operand, inputs))
    if name in _LOGIC:
        return Condition(_LOGIC[name], *map(_condition, inputs))
    if name in _FUNCTIONS:
        return Expression(_FUNCTIONS[name], *map(_operand, inputs))
    [one, *others] = inputs
    if name == "square":
        return _operation("^", one, 2)
    if name == "negative":
        return Expression("neg", _operand(one))
    if name == "positive":
        return one
    if name == "reciprocal":
        return _operation("/", 1.0, one)
    if name in ("deg2rad", "radians"):
        return _operation("*", one, math.pi / 180)
    if name in ("rad2deg", "degrees"):
        return _operation("*", one, 180 / math.pi)
    if name in ("remainder", "mod"):
        return Expression("mod", _operand(one), *map(_operand, others))
    raise _slip(f"numpy's {name} has no formula", "write it with others: docs/mechanism-file.md lists what formulas know")


class Symbols:
    """Numbers by names: ``q.x``, ``q["x"]``, ``q[0]``, and one after another."""

    def __init__(self, kind, names, ending=""):
        plain = lambda name: name if name.isidentifier() and name.isascii() else f"`{name}`"
        self._kind, self._all = kind, {name: Expression("name", plain(name) + ending) for name in names}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name):
        if isinstance(name, (int, slice)):
            return list(self._all.values())[name]
        if name not in self._all:
            near = difflib.get_close_matches(str(name), self._all, 1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self._all) or 'none'}"
            raise _slip(f"there is no {self._kind} {name!r}", meant)
        return self._all[name]

    def __iter__(self):
        return iter(self._all.values())

    def __len__(self):
        return len(self._all)


class _Writer:
    """Formulas of expressions, with definitions of what stands more than once; without names, all in one."""

    def __init__(self, names=None):
        self.names, self.definitions, self.uses, self.texts = names and set(names), [], {}, {}

    def count(self, roots):
        """Counts how often each expression is used."""
        open_ones = list(roots)
        while open_ones:
            own = open_ones.pop()
            if isinstance(own, (Expression, Condition)) and own.kind != "name":
                self.uses[id(own)] = self.uses.get(id(own), 0) + 1
                if self.uses[id(own)] == 1:
                    open_ones.extend(own.parts)

    def text(self, root):
        """The formula of an expression."""
        open_ones = [root]
        while open_ones:
            own = open_ones[-1]
            if not isinstance(own, (Expression, Condition)) or id(own) in self.texts:
                open_ones.pop()
                continue
            missing = [part for part in own.parts if isinstance(part, (Expression, Condition)) and id(part) not in self.texts]
            if own.kind != "name" and missing:
                open_ones.extend(missing)
                continue
            self.texts[id(own)] = self._made(own)
            open_ones.pop()
        return self._of(root)[0]

    def _of(self, part):
        """Text, and how tightly it binds."""
        if isinstance(part, (Expression, Condition)):
            return self.texts[id(part)]
        whole = repr(int(part)) if part == int(part) and abs(part) < 1e15 else repr(part)
        return (whole, _NAME) if part >= 0 and not whole.startswith("-") else (f"({whole})", _NAME)

    def _made(self, own):
        kind, parts = own.kind, own.parts
        if kind == "name":
            return parts[0], _NAME
        if kind in _BINDS:
            (a, left), (b, right), bound = self._of(parts[0]), self._of(parts[1]), _BINDS[kind]
            a = f"({a})" if left < bound or kind == "^" and left == bound else a
            b = f"({b})" if right <= bound else b
            made = (f"{a}{kind}{b}" if bound > _SUM else f"{a} {kind} {b}"), bound
        elif kind in ("<", "<=", ">", ">="):
            return f"{self._of(parts[0])[0]} {kind} {self._of(parts[1])[0]}", 0
        elif kind in ("and", "or"):
            return f"({self._of(parts[0])[0]}) {kind} ({self._of(parts[1])[0]})", 0
        elif kind == "not":
            return f"not ({self._of(parts[0])[0]})", 0
        elif kind == "neg":
            a, bound = self._of(parts[0])
            made = f"(-{a})" if bound > _SUM else f"(-({a}))", _NAME
        else:
            made = f"{kind}({', '.join(self._of(part)[0] for part in parts)})", _NAME
        if self.names is None:
            if len(made[0]) > _LONGEST:
                raise Error(f"a function becomes a formula of more than {_LONGEST} characters; write it in a file, with [definitions]")
            return made
        if self.uses.get(id(own), 0) < 2 and len(made[0]) < _LONG:
            return made
        number = len(self.definitions) + 1
        while f"e{number}" in self.names:
            number += 1
        self.names.add(f"e{number}")
        self.definitions.append((f"e{number}", made[0]))
        return f"e{number}", _NAME


def _called(function, what, symbols):
    """Calls a function with those of the symbols that it asks for by its arguments' names."""
    try:
        wanted = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        raise Error(f"{what}: {function!r} is no function; give one with arguments such as q, v, u") from None
    if unknown := [name for name in wanted if name not in symbols]:
        raise Error(f"{what}: its argument {unknown[0]!r} means nothing here; name any of {', '.join(symbols)}")
    return function(**{name: symbols[name] for name in wanted})


def cost_formula(model, key, function):
    """The formula of a function of a cost."""
    kinds = {"y": ("output", model.outputs), "w": ("input", model.inputs), "u": ("parameter", model.parameters())}
    symbols = {name: Symbols(kind, own) for name, (kind, own) in kinds.items()}
    places = [name for name in model.coordinates if name not in model.states]
    for name, own, kind, ending in [
        ("q", places, "coordinate", ""),
        ("v", places, "velocity of", "'"),
        ("a", places, "acceleration of", "''"),
        ("z", model.states, "state", ""),
        ("z_dot", model.states, "rate of", "'"),
    ]:
        symbols[name] = Symbols(kind, own, ending)
    symbols["t"], symbols["lambda_"] = Expression("name", "t"), Symbols("constraint", model.constraints)
    for multiplier in symbols["lambda_"]:
        multiplier.parts = (f"lambda({multiplier.parts[0]})",)
    return _Writer().text(_operand(_called(function, key, symbols)))


def _law(function, what):
    """The formula of a function whose arguments are names of the file, with ``_dot`` and ``_ddot`` behind them for rates."""
    try:
        wanted = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        raise Error(f"{what}: {function!r} is no function; give one with arguments such as x, x_dot, k") from None

    def symbol(name):
        for ending, primes in [("_ddot", "''"), ("_dot", "'")]:
            if name.endswith(ending) and len(name) > len(ending):
                return Expression("name", name.removesuffix(ending) + primes)
        return Expression("name", name)

    value = function(**{name: symbol(name) for name in wanted})
    if np.ndim(value) and not isinstance(value, Expression):
        raise Error(f"{what}: it gives {len(value)} numbers; give one")
    return _Writer().text(_operand(value))


def _toml(value, what):
    """A value of a mechanism file, on one line."""
    if isinstance(value, Parameter):
        return _parameter(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_quoted(key)} = {_toml(own, f'{what}.{key}')}" for key, own in value.items()) + " }"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return repr(int(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml(own, what) for own in value) + "]"
    if callable(value):
        return _quoted(_law(value, what))
    if isinstance(value, os.PathLike):
        return _quoted(os.path.abspath(value))
    try:
        return _number(value)
    except Error:
        raise Error(f"{what}: {type(value).__name__} {value!r} means nothing in a mechanism file; give a number, a text, a list, a dict or a function") from None


def described(mechanism):
    """The mechanism file of a dict, as text: tables are dicts, and functions are traced."""
    if unnamed := [key for key in mechanism if not isinstance(key, str)]:
        raise Error(f"the mechanism: its key {unnamed[0]!r} is no text")
    tables = {key: own for key, own in mechanism.items() if isinstance(own, dict)}
    text = [f"{_quoted(key)} = {_toml(own, key)}" for key, own in mechanism.items() if key not in tables]
    for key, own in tables.items():
        text += ["", f"[{_quoted(key)}]"]
        for name, value in own.items():
            is_pair = key == "parameters" and isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)
            text.append(f"{_quoted(name)} = {_parameter(Parameter(name, *value)) if is_pair else _toml(value, f'{key}.{name}')}")
    return "\n".join(text) + "\n"


def _listed(value, names, what):
    """One entry a name, of a dict, a list or, of one name, a number."""
    if isinstance(value, dict):
        if unknown := [name for name in value if name not in names]:
            raise Error(f"{what}: there is no {unknown[0]!r}; there are {', '.join(names)}")
        return {name: _operand(own) for name, own in value.items()}
    entries = list(value) if isinstance(value, (list, tuple, np.ndarray, Symbols)) and np.ndim(value) else [value]
    if len(entries) != len(names):
        raise Error(f"{what}: it gives {len(entries)} numbers for {', '.join(names) or 'nothing'}; give {len(names)}")
    return dict(zip(names, map(_operand, entries), strict=True))


def _mass(value, names):
    """Entries of the mass matrix: of a number, a diagonal, or rows."""
    if isinstance(value, dict):
        pairs = {(key if isinstance(key, tuple) else (key, key)): _operand(own) for key, own in value.items()}
        if unknown := [name for pair in pairs for name in pair if name not in names]:
            raise Error(f"mass: there is no coordinate {unknown[0]!r}; there are {', '.join(names)}")
        return pairs
    rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in value] if isinstance(value, (list, tuple, np.ndarray)) else [value]
    if not any(isinstance(row, list) for row in rows):
        return {(name, name): own for name, own in _listed(rows, names, "mass").items()}
    if len(rows) != len(names) or any(not isinstance(row, list) or len(row) != len(names) for row in rows):
        raise Error(f"mass: its rows are no {len(names)} x {len(names)} matrix; give one, or its diagonal")
    return {(names[i], names[j]): _operand(rows[i][j]) for i in range(len(names)) for j in range(i + 1)}


def _inline(values):
    return ", ".join(f"{_quoted(name)} = {_quoted(unit)}" for name, unit in values.items())


def _parameter(given):
    said = [f"unit = {_quoted(given.unit)}", f"nominal = {_number(given.value)}"]
    said += [f"lower = {_number(given.min)}"] if given.min > -math.inf else []
    said += [f"upper = {_number(given.max)}"] if given.max < math.inf else []
    said += [] if given.vary else ["fixed = true"]
    said += ["size = 1.0"] if given.value == 0 else []
    return f"{{ {', '.join(said)} }}"


def _parameter_line(name, given):
    if not isinstance(given, Parameter):
        unit, nominal = given if isinstance(given, tuple) else ("1", given)
        given = Parameter(name, unit, nominal)
    return f"{_quoted(name)} = {_parameter(given)}"


def mechanism(
    name,
    *,
    coordinates=None,
    parameters=None,
    inputs=None,
    states=None,
    outputs=None,
    constraints=None,
    mass=None,
    force=None,
    rates=None,
    constraint=None,
    output=None,
    start=None,
    kinetic=None,
    potential=None,
    dissipation=None,
    scenario=None,
    summary=None,
    units=True,
):
    """A model by Python functions: a :class:`Model`, as from a file (``.text`` is that file).

    ``coordinates``, ``inputs``, ``states``, ``outputs`` and ``constraints`` are units by names; ``parameters`` are :class:`Parameter`, or (unit, nominal
    value), by names. Functions take what they name: ``t``; ``q``, ``v``, ``a`` of coordinates, ``z`` and ``z_dot`` of states, ``w`` of inputs, ``u`` of
    parameters, ``lambda_`` of constraints; each by names (``q.x``), places (``q[0]``) or one after another.

    ``mass``: entries of M, as rows, a diagonal or a dict by pairs of names; ``force``: Q; ``rates`` of states; ``constraint``: rows that are zero;
    ``output``: what sensors see, the only one with accelerations and multipliers; ``start``: q, or (q, v), from parameters. Or ``kinetic``, ``potential``
    and ``dissipation`` energies, with ``force`` for the rest. ``units=False`` leaves formulas unchecked. numpy's functions and ``costate.where`` are traced;
    what cannot be is refused with its line.
    """
    given = {key: dict(own or {}) for key, own in [("q", coordinates), ("z", states), ("w", inputs), ("u", parameters)]}
    outputs, constraints = dict(outputs or {}), dict(constraints or {})
    places, kinds = list(given["q"]), {"q": "coordinate", "z": "state", "w": "input", "u": "parameter"}
    every = {key: Symbols(kinds[key], own) for key, own in given.items()}
    every["v"], every["t"] = Symbols("velocity of", places, "'"), Expression("name", "t")
    late = {
        "a": Symbols("acceleration of", places, "''"),
        "z_dot": Symbols("rate of", given["z"], "'"),
        "lambda_": Symbols("constraint", constraints),
    }
    for multiplier in late["lambda_"]:
        multiplier.parts = (f"lambda({multiplier.parts[0]})",)
    of_place = {key: every[key] for key in ("t", "q", "u")}

    found, roots = {}, []

    def take(key, function, symbols, made):
        if function is not None:
            found[key] = made(_called(function, key, symbols))
            roots.extend(found[key].values())

    take("mass", mass, {key: every[key] for key in ("q", "u")}, lambda value: _mass(value, places))
    take("force", force, every, lambda value: _listed(value, places, "force"))
    take("rates", rates, every, lambda value: _listed(value, list(given["z"]), "rates"))
    take("constraint", constraint, of_place, lambda value: _listed(value, list(constraints), "constraint"))
    take("output", output, {**every, **late}, lambda value: _listed(value, list(outputs), "output"))

    def of_start(value):
        pair = isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) + isinstance(value[0], dict) > 0
        q, v = value if pair else (value, {})
        own = _listed(q, [*places, *given["z"]] if isinstance(q, dict) else places, "start")
        return {**own, **{f"{key}'": speed for key, speed in (_listed(v, places, "start") if len(v) else {}).items()}}

    take("start", start, {"u": every["u"]}, of_start)
    energies = {"kinetic": kinetic, "potential": potential, "dissipation": dissipation}
    for key, function in energies.items():
        take(key, function, {key: every[key] for key in ("t", "q", "v", "u")}, lambda value: {"": _operand(value)})

    writer = _Writer([*places, *given["z"], *given["w"], *given["u"], *constraints, *outputs, "t", "pi"])
    writer.count(roots)
    formulas = {key: {own: writer.text(value) for own, value in values.items()} for key, values in found.items()}
    text = [f"name = {_quoted(name)}"]
    text += [f"summary = {_quoted(summary)}"] if summary else []
    text += [] if units else ["units = false"]
    for key, values in [("coordinates", given["q"]), ("states", given["z"]), ("inputs", given["w"])]:
        text += [f"{key} = {{ {_inline(values)} }}"] if values else []
    text += ["", "[parameters]", *(_parameter_line(own, value) for own, value in given["u"].items())]
    text += ["", "[definitions]", *(f"{key} = {_quoted(own)}" for key, own in writer.definitions)] if writer.definitions else []

    def section(head, values):
        if values:
            text.extend(["", f"[{head}]", *(f"{_quoted(key)} = {_quoted(own)}" for key, own in values.items())])

    pairs = {(i if i == j else f"{i}, {j}"): own for (i, j), own in formulas.get("mass", {}).items() if own != "0"}
    section("mass", pairs)
    section("energy", {key: formulas[key][""] for key in energies if key in formulas})
    for key in ("force", "rates", "start"):
        section(key, formulas.get(key, {}))
    for head, key, own_units in [("constraints", "constraint", constraints), ("outputs", "output", outputs)]:
        text += ["", f"[{head}]"] if formulas.get(key) else []
        for own, formula in formulas.get(key, {}).items():
            text.append(f"{_quoted(own)} = {{ unit = {_quoted(own_units[own])}, is = {_quoted(formula)} }}")
    text += ["", "[scenario]"]
    text += [f"{key} = {_quoted(own) if isinstance(own, str) else _number(own)}" for key, own in (scenario or {}).items()]
    return Model(name, "\n".join(text) + "\n")
