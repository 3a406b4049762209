"""The native part. Arrays are bytes of float64, row by row."""

from collections.abc import Callable
from os import PathLike
from typing import Any

__version__: str

class Error(ValueError):
    """Wrong input, or a simulation that fails: a sentence that names the quantity and the remedy."""

    name: str | None
    path: str | None
    line: int | None

class Model:
    def __new__(cls, name: str) -> Model: ...
    name: str
    summary: str
    parameters: list[tuple[str, str, float, float, float, float | None, bool, bool]]
    inputs: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    coordinates: list[tuple[str, str]]
    states: list[tuple[str, str]]
    constraints: list[tuple[str, str]]
    def jacobians(
        self, t: float, q: list[float], v: list[float], a: list[float], lambda_: list[float], w: list[float], u: list[float], /
    ) -> dict[str, tuple[str, list[str], list[str], bytes]]: ...

class Problem:
    def __new__(cls, text: str, path: str | PathLike[str]) -> Problem: ...
    notes: list[str]
    parameters: list[tuple[str, str, float, float, float, bool]]
    def cost(self, u: list[float]) -> float: ...
    def cost_and_gradient(self, u: list[float]) -> tuple[float, bytes]: ...
    def hessian(self, u: list[float]) -> tuple[float, bytes, bytes]: ...
    def residuals(self, u: list[float]) -> tuple[bytes, bytes]: ...
    def fit(self, observer: Callable[[int, int, float], Any] | None) -> tuple[Fit | None, BaseException | None]: ...

class Run:
    def __new__(cls, text: str, path: str | PathLike[str], values: list[tuple[str, float]]) -> Run: ...
    notes: list[str]
    document: str
    times: bytes
    outputs: list[tuple[str, str]]
    def output(self, name: str) -> bytes: ...
    def states(self, part: str) -> bytes: ...

class Fit:
    document: str
    values: bytes
    covariance: tuple[list[str], bytes]
    outputs: list[tuple[str, str, bytes, bytes, bytes]]
    def report(self) -> str: ...
    def profiles(self, names: list[str]) -> str: ...
    def bootstrap(self, replicates: int, seed: int, block: float | None) -> str: ...
    def save(self, folder: str | PathLike[str], png: bool, report: bool) -> None: ...

def model_names() -> list[str]: ...
def run_command(arguments: list[str]) -> int: ...
