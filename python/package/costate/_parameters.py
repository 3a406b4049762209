"""Parameters of a model: values, bounds, and what is fitted."""

import difflib
import html
import math

import numpy as np

from ._costate import Error


class Parameter:
    """One parameter.

    Attributes: ``name``, ``unit``, ``value`` (where a fit begins, or what it found), ``min``, ``max``, ``vary`` (True: fitted), ``expr`` (a formula of
    other parameters, in the place of a value), ``stderr`` (standard error of a fit; None before one, NaN where there is none).
    """

    __slots__ = ("name", "unit", "value", "min", "max", "vary", "expr", "stderr", "nominal")

    def __init__(self, name: str, unit: str, value: float, min: float = -math.inf, max: float = math.inf, vary: bool = True):
        self.name, self.unit, self.value, self.nominal = name, unit, float(value), float(value)
        self.min, self.max, self.vary = float(min), float(max), bool(vary)
        self.expr: str | None = None
        self.stderr: float | None = None

    def set(
        self,
        value: float | None = None,
        min: float | None = None,
        max: float | None = None,
        vary: bool | None = None,
        expr: str | None = None,
    ) -> "Parameter":
        """Changes what is given; returns the parameter. ``min=-inf`` and ``max=inf`` take bounds away, ``expr=""`` a formula."""
        self.value = self.value if value is None else float(value)
        self.min = self.min if min is None else float(min)
        self.max = self.max if max is None else float(max)
        self.vary = self.vary if vary is None else bool(vary)
        self.expr = self.expr if expr is None else (str(expr) or None)
        return self

    def _line(self):
        """What a problem file says of it."""
        if self.expr is not None:
            return f"{{ expr = {_quoted(self.expr)} }}"
        said = [f"start = {_number(self.value)}", f"free = {'true' if self.vary else 'false'}"]
        said += [f"lower = {_number(self.min)}"] if self.min > -math.inf else []
        said += [f"upper = {_number(self.max)}"] if self.max < math.inf else []
        return "{ " + ", ".join(said) + " }"

    def __repr__(self):
        text = f"{self.name} = {self.value:.9g} {self.unit}"
        text += "" if self.stderr is None else f" +/- {self.stderr:.3g}"
        text += f" (= {self.expr})" if self.expr else "" if self.vary else " (fixed)"
        bounds = [math.isfinite(self.min), math.isfinite(self.max)]
        return f"<Parameter {text}{f' in [{self.min:g}, {self.max:g}]' if any(bounds) else ''}>"


class Parameters(dict[str, Parameter]):
    """Parameters by their names, in the model's order."""

    def __missing__(self, name):
        near = difflib.get_close_matches(str(name), self, 1)
        meant = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(self)}"
        raise KeyError(f"there is no parameter {name!r}{meant}")

    def __setitem__(self, name, value):
        if not isinstance(value, Parameter):
            raise TypeError(f"a Parameter is wanted; to change the value write p[{name!r}].value = {value!r}")
        super().__setitem__(name, value)

    def add(self, name: str, expr: str | float, unit: str = "1") -> Parameter:
        """A further parameter, by a formula of others or (``expr`` a number) with a value of its own, which formulas of others may name."""
        own = Parameter(name, unit, math.nan if isinstance(expr, str) else expr)
        own.nominal = math.nan
        self[name] = own.set(expr=expr) if isinstance(expr, str) else own
        return own

    def valuesdict(self) -> dict[str, float]:
        """Values by names."""
        return {name: own.value for name, own in self.items()}

    def copy(self) -> "Parameters":
        """Parameters that are changed without these."""
        made = Parameters()
        for name, own in self.items():
            again = Parameter(own.name, own.unit, own.value, own.min, own.max, own.vary)
            again.expr, again.stderr, again.nominal = own.expr, own.stderr, own.nominal
            made[name] = again
        return made

    __copy__ = copy

    def __deepcopy__(self, _memo):
        return self.copy()

    def __repr__(self):
        return "\n".join(map(repr, self.values()))

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(own.name)}</td><td>{own.value:.9g}</td><td>{'' if own.stderr is None else f'{own.stderr:.3g}'}</td><td>{html.escape(own.unit)}</td>"
            f"<td>{own.min:g}</td><td>{own.max:g}</td><td>{html.escape(own.expr or ('' if own.vary else 'fixed'))}</td></tr>"
            for own in self.values()
        )
        return (
            "<table><tr><th>parameter</th><th>value</th><th>standard error</th><th>unit</th><th>min</th><th>max</th><th></th></tr>"
            f"{rows}</table>"
        )


def _quoted(text):
    """A text in a problem file."""
    escaped = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escaped.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in str(text)) + '"'


def _number(value):
    """A number in a problem file."""
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise Error(f"{value!r} is no number") from None


def _array(values, what):
    """Numbers in one row."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex ones")
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise Error(f"{what}: not all of it is numbers ({error}); give numbers") from None
    if array.ndim != 1:
        raise Error(f"{what}: it has {array.ndim} dimensions; give one row of numbers")
    return np.ascontiguousarray(array)
