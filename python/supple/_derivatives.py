"""What the wrappers for automatic differentiation share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from ._errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._core import Rollout

# What Rollout.run() is given, in its order.
GIVEN = ("commands", "q", "v", "loads", "gravity", "material_scale", "friction", "applied")

# A rollout is for one thread at a time, and callbacks may come from any.
_lock = threading.Lock()


def check_shapes(rollout: Rollout, given: dict[str, tuple[int, ...]]) -> None:
    """InputError where an array has another shape than Rollout.run() requires; commands are among them."""
    shape = given["commands"]
    robots, n = rollout.robots, rollout.n
    if len(shape) != 3 or shape[1:] != (robots, rollout.actuators):
        raise InputError(f"commands have the shape {shape}", f"(steps, {robots}, {rollout.actuators})")
    required = {
        "q": (robots, n),
        "v": (robots, n),
        "loads": (shape[0], robots, n),
        "gravity": (robots, 3),
        "material_scale": (robots, rollout.regions),
        "friction": (robots, rollout.obstacles),
        "applied": (robots, rollout.actuators),
    }
    for name, own in given.items():
        if name in required and own != required[name]:
            raise InputError(f"{name} has the shape {own}", str(required[name]))


def check_type(name: str, floating: bool) -> None:
    """InputError for numbers that results would be rounded to."""
    if not floating:
        raise InputError(f"{name} are no floating-point numbers", "float64 or float32")


def _run(rollout: Rollout, given: dict[str, ArrayLike]) -> tuple[int, tuple[NDArray[np.float64], ...]]:
    arrays = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in given.items()}
    record = rollout.run(**arrays)
    return rollout.runs, (record["q"], record["v"], record["forces"])


def run(rollout: Rollout, given: dict[str, ArrayLike]) -> tuple[int, tuple[NDArray[np.float64], ...]]:
    """A run's number, and its q, v and forces; given: what is there of GIVEN."""
    with _lock:
        return _run(rollout, given)


def gradient(
    rollout: Rollout, number: int, given: dict[str, ArrayLike], by: dict[str, ArrayLike | None]
) -> dict[str, NDArray[np.float64]]:
    """That of run `number`, which is taken again where the rollout has had others since."""
    arrays = {
        name: None if values is None else np.ascontiguousarray(values, dtype=np.float64) for name, values in by.items()
    }
    with _lock:
        if rollout.runs != number:
            _run(rollout, given)
        return rollout.gradient(**arrays)
