"""What the wrappers for automatic differentiation share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from ._core import Statics
from ._errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._core import Rollout

# What Rollout.run() and Statics.solve() are given, in their order, and what they return.
GIVEN = (
    *("commands", "q", "v", "loads", "gravity", "material_scale", "friction", "applied"),
    *("density", "rayleigh_mass", "rayleigh_stiffness"),
)
GIVEN_AT_REST = ("commands", "loads", "gravity", "material_scale", "density")
RESULTS = ("q", "v", "forces")
RESULTS_AT_REST = ("q", "forces")

# Each is for one thread at a time, and callbacks may come from any.
_lock = threading.Lock()


def results_of(of: Rollout | Statics) -> tuple[str, ...]:
    return RESULTS_AT_REST if isinstance(of, Statics) else RESULTS


def check_shapes(of: Rollout | Statics, given: dict[str, tuple[int, ...]]) -> None:
    """InputError where an array has another shape than is required; commands are among them."""
    shape = given["commands"]
    robots, n = of.robots, of.n
    steps = shape[:1] if results_of(of) == RESULTS else ()
    if shape != (*steps, robots, of.actuators):
        raise InputError(
            f"commands have the shape {shape}", f"({'steps, ' if results_of(of) == RESULTS else ''}{robots}, {of.actuators})"
        )
    required = {
        "q": (robots, n),
        "v": (robots, n),
        "loads": (*steps, robots, n),
        "gravity": (robots, 3),
        "material_scale": (robots, of.regions),
        "applied": (robots, of.actuators),
        "density": (robots,),
        "rayleigh_mass": (robots,),
        "rayleigh_stiffness": (robots,),
    }
    if not isinstance(of, Statics):
        required["friction"] = (robots, of.obstacles)
    for name, own in given.items():
        if name in required and own != required[name]:
            raise InputError(f"{name} has the shape {own}", str(required[name]))


def check_type(name: str, floating: bool) -> None:
    """InputError for numbers that results would be rounded to."""
    if not floating:
        raise InputError(f"{name} are no floating-point numbers", "float64 or float32")


def _run(of: Rollout | Statics, given: dict[str, ArrayLike]) -> tuple[int, tuple[NDArray[np.float64], ...]]:
    arrays = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in given.items()}
    record = of.solve(**arrays) if isinstance(of, Statics) else of.run(**arrays)
    return of.runs, tuple(record[name] for name in results_of(of))


def run(of: Rollout | Statics, given: dict[str, ArrayLike]) -> tuple[int, tuple[NDArray[np.float64], ...]]:
    """A run's number, and its results; given: what is there of GIVEN or GIVEN_AT_REST."""
    with _lock:
        return _run(of, given)


def gradient(
    of: Rollout | Statics, number: int, given: dict[str, ArrayLike], by: dict[str, ArrayLike | None]
) -> dict[str, NDArray[np.float64]]:
    """That of run `number`, which is taken again where there were others since."""
    arrays = {
        name: None if values is None else np.ascontiguousarray(values, dtype=np.float64) for name, values in by.items()
    }
    with _lock:
        if of.runs != number:
            _run(of, given)
        return of.gradient(**arrays)
