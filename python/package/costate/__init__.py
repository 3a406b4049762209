"""Exact gradients of multibody simulations, and parameter identification on top of them.

    import costate

    m = costate.load("duffing.toml")            # a mechanism file, a robot's URDF, or a ready model: costate.models()
    p = m.parameters()
    p["k"].set(value=30, min=0)
    record = costate.Record(t, inputs={"F": F}, outputs={"a": a}, deviation={"a": 0.05})
    fit = m.fit([record], p)
    print(fit.report())

All values are in the units that the model states (``m.parameters()``, ``m.inputs``, ``m.outputs``).
"""

from ._costate import Error, __version__, model_names
from ._fit import Fit
from ._model import Model, Problem, Run, load, model
from ._parameters import Parameter, Parameters
from ._record import Record
from ._trace import mechanism, where

__all__ = [
    "Error",
    "Fit",
    "Model",
    "Parameter",
    "Parameters",
    "Problem",
    "Record",
    "Run",
    "__version__",
    "load",
    "mechanism",
    "model",
    "models",
    "where",
]


def models() -> list[str]:
    """Names of the ready models, each of which :func:`load` takes."""
    return model_names()


def _command():
    """The command ``costate``."""
    import sys

    from ._costate import run_command

    sys.exit(run_command(["costate", *sys.argv[1:]]))
