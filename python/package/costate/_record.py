"""Records: what was measured, and what drove it."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ._costate import Error
from ._parameters import _array, _number, _quoted


class Record:
    """One experiment: times in s, inputs and outputs by their names, in the model's units. numpy arrays, lists, and columns of pandas or polars will do.

    ``deviation``: standard deviations of the outputs' noise, by name or one for all; ``"estimated"`` has them found together with the parameters, and
    without them the noise of all outputs is known up to one factor. NaN in outputs are missing samples. ``initial_state``: ``"as-given"``,
    ``"projected"`` or ``"equilibrium"``.

    ``Record(file="monday.csv")`` reads a file as the command does: columns by names, units in its header.
    """

    def __init__(
        self,
        t: ArrayLike | None = None,
        inputs: Mapping[str, ArrayLike] | None = None,
        outputs: Mapping[str, ArrayLike] | None = None,
        deviation: float | str | Mapping[str, float | str] | None = None,
        *,
        file: str | os.PathLike[str] | None = None,
        name: str | None = None,
        interpolation: str = "linear",
        initial_state: str | None = None,
        validation: bool = False,
    ):
        if (t is None) == (file is None):
            raise Error("a record: give times and samples, or a file")
        self.name, self.file, self.validation = name, None if file is None else Path(file), bool(validation)
        self.interpolation, self.initial_state = interpolation, initial_state
        self.t = None if t is None else _array(t, "the times")
        self.inputs = {str(key): _array(own, f"input {key!r}") for key, own in (inputs or {}).items()}
        self.outputs = {str(key): _array(own, f"output {key!r}") for key, own in (outputs or {}).items()}
        if file is not None and (self.inputs or self.outputs):
            raise Error("a record: samples are given and a file, too; give one of them")
        for key, own in [*self.inputs.items(), *self.outputs.items()]:
            if self.t is not None and len(own) != len(self.t):
                raise Error(f"{key!r} has {len(own)} samples, and there are {len(self.t)} times; give as many")
        names = deviation if isinstance(deviation, dict) else dict.fromkeys(self.outputs, deviation)
        if file is None and (unknown := [key for key in names if key not in self.outputs]):
            raise Error(f"the deviation of {unknown[0]!r}: there is no such output in this record; it has {', '.join(self.outputs)}")
        self.deviation = {str(key): own for key, own in names.items() if own is not None}

    def _check(self, inputs):
        """Refuses samples that do not drive all inputs."""
        missing = [] if self.file is not None else [name for name in inputs if name not in self.inputs]
        if missing:
            raise Error(f"input {missing[0]!r} has no samples; give inputs={{{missing[0]!r}: ..}}, with as many as there are times")

    def _write(self, folder, number, is_compared=True):
        """Writes the samples into a folder, with outputs if these are compared; returns what a problem file says of the experiment."""
        name = self.name or (self.file.stem if self.file else f"record_{number + 1}")
        lines = ["[[experiment]]", f"name = {_quoted(name)}"]
        if self.validation:
            lines.append("validation = true")
        if self.initial_state is not None:
            lines.append(f"initial_state = {_quoted(self.initial_state)}")
        lines.append(f"interpolation = {_quoted(self.interpolation)}")

        def said(key):
            own = self.deviation.get(key)
            if own is None:
                return ""
            return f", deviation = {_quoted(own) if isinstance(own, str) else _number(own)}"

        if self.file is not None:
            lines.append(f"file = {_quoted(os.path.abspath(self.file))}")
            if is_compared:
                lines += [f"outputs.{_quoted(key)} = {{ {said(key).lstrip(', ')} }}" for key in self.deviation]
            return "\n".join(lines)
        columns = {"t": self.t}
        for kind, samples in [("inputs", self.inputs), ("outputs", self.outputs if is_compared else {})]:
            for key, own in samples.items():
                column = f"{kind[:-1]}_{len(columns)}"
                columns[column] = own
                lines.append(f"{kind}.{_quoted(key)} = {{ column = {_quoted(column)}{said(key) if kind == 'outputs' else ''} }}")
        file = Path(folder) / f"{number + 1}.npz"
        np.savez(file, **columns)
        lines += [f"file = {_quoted(file)}", 'time = "t"']
        return "\n".join(lines)
