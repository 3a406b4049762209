"""What a fit has found."""

import html
import json
import math
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._costate import Error
from ._parameters import Parameter, Parameters


class Fit:
    """A result of a fit.

    Attributes: ``params`` (:class:`Parameters` with ``value`` and ``stderr``), ``covar`` (free parameters x free parameters), ``var_names`` (their names),
    ``correl`` (correlations by names), ``success``, ``message``, ``cost``, ``nfev``; by outputs ``times``, ``data``, ``best_fit``, ``residual`` (simulated less
    measured); ``warnings``; ``document``, all of the command's ``result.json``.
    """

    def __init__(self, native, units):
        self._native = native
        self.document = json.loads(native.document)
        found = self.document
        self.success: bool = found["converged"]
        self.message: str = found["reason"]
        self.cost: float = found["cost"]
        self.nfev: int = found["evaluations"]
        self.params = Parameters()
        for own in found["parameters"]:
            none = lambda value, other: other if value is None else value
            made = Parameter(own["name"], own.get("unit", units.get(own["name"], "")), none(own["value"], math.nan))
            made.min, made.max = none(own.get("lower"), -math.inf), none(own.get("upper"), math.inf)
            made.vary = own["status"] != "fixed"
            made.stderr = none(own.get("standard_error"), math.nan) if made.vary else None
            self.params[made.name] = made
        for own in found.get("dependent_parameters") or []:
            made = Parameter(own["name"], own["unit"], own["value"], vary=False)
            made.stderr = own["standard_error"]
            self.params[made.name] = made
        self.var_names, raw = native.covariance
        self.covar = np.frombuffer(raw).reshape(len(self.var_names), -1).copy()
        errors = np.sqrt(np.diag(self.covar))
        self.correl = {
            one: {other: float(self.covar[i, j] / errors[i] / errors[j]) for j, other in enumerate(self.var_names) if j != i}
            for i, one in enumerate(self.var_names)
        }
        self.times: dict[str, np.ndarray] = {}
        self.data: dict[str, np.ndarray] = {}
        self.best_fit: dict[str, np.ndarray] = {}
        self.residual: dict[str, np.ndarray] = {}
        self.units: dict[str, str] = {}
        for name, unit, times, measured, residuals in native.outputs:
            self.times[name], self.residual[name] = np.frombuffer(times).copy(), np.frombuffer(residuals).copy()
            self.data[name], self.units[name] = np.frombuffer(measured).copy(), unit
            self.data[name] = self.data[name][np.isfinite(self.data[name])]
            self.best_fit[name] = self.data[name] + self.residual[name]
        self.warnings: list[str] = list(found.get("statistics_warnings") or [])
        self._report = None

    def report(self) -> str:
        """What ``costate identify`` prints."""
        if self._report is None:
            self._report = self._native.report()
        return self._report

    def _alive(self):
        if self._native is None:
            raise Error("this fit comes from another process, and has its numbers alone; ask where it was made")
        return self._native

    def profile(self, *names: str) -> dict[str, dict[str, Any]]:
        """Profile likelihoods of some parameters, or of all free ones: 95 % intervals where the cost is no parabola. By names, each a dict with
        ``interval``, ``linear_interval``, ``verdict``, ``points`` (value, cost, excess) and more (docs/certainty.md)."""
        found = json.loads(self._alive().profiles([str(name) for name in names]))
        return {own["name"]: own for own in found["parameters"]}

    def bootstrap(self, replicates: int = 200, seed: int = 1, block: float | None = None) -> dict[str, Any]:
        """Fits to drawn data: over experiments where there are many, else over blocks of residuals (``block`` s long). A dict, with ``parameters`` by names:
        ``interval``, ``bootstrap_error``, ``bias`` and more; ``values`` are the replicates (docs/certainty.md)."""
        found = json.loads(self._alive().bootstrap(int(replicates), int(seed), None if block is None else float(block)))
        found["parameters"] = {own["name"]: own for own in found["parameters"]}
        return found

    def save(self, folder: str | PathLike[str], png: bool = False, report: bool = False) -> None:
        """Writes the files of ``costate identify`` into a folder: result.json, outputs, figures; ``report``: one page of all of it."""
        self._alive().save(folder, png, report)

    def figures(self) -> dict[str, str]:
        """The command's figures (SVG texts) by their names: ``output_NAME``, ``error_NAME``, ``parameters``, ``correlation``, ``cost``, .."""
        with tempfile.TemporaryDirectory(prefix="costate-") as folder:
            self.save(folder)
            return {file.stem: file.read_text(encoding="utf-8") for file in sorted(Path(folder).glob("*.svg"))}

    def plot(self):
        """Measured and fitted outputs, and residuals below them, by matplotlib. Returns the figure."""
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(2, len(self.times), sharex="col", squeeze=False, layout="constrained")
        for (above, below), name in zip(axes.T, self.times, strict=True):
            above.plot(self.times[name], self.data[name], ".", label="measured", markersize=2)
            above.plot(self.times[name], self.best_fit[name], label="fitted")
            above.set_ylabel(f"{name} [{self.units[name]}]")
            above.legend()
            below.plot(self.times[name], self.residual[name])
            below.set_xlabel("time [s]")
            below.set_ylabel(f"residual [{self.units[name]}]")
        return figure

    def __getstate__(self):
        self.report()
        return {**self.__dict__, "_native": None}

    def __repr__(self):
        return f"<costate.Fit of {self.document['model']}: {'converged' if self.success else 'NOT converged'}, cost {self.cost:.6g}>"

    def _repr_html_(self):
        made = self.params._repr_html_() + f"<p>{'converged' if self.success else '<b>not converged</b>'}: {html.escape(self.message)}</p>"
        made += "".join(f"<p><b>warning</b>: {html.escape(str(own))}</p>" for own in self.warnings)
        figures = self.figures() if self._native is not None else {}
        return made + "".join(svg[svg.index("<svg") :] for name, svg in figures.items() if name.startswith("output_"))
