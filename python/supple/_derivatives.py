"""What the wrappers for automatic differentiation share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._core import Rollout

# What Rollout.run() is given, in its order.
GIVEN = ("commands", "q", "v", "loads", "gravity", "material_scale", "friction")


def check_shapes(rollout: Rollout, given: dict[str, tuple[int, ...]]) -> None:
    """InputError where an array has another shape than Rollout.run() wants; commands are among them."""
    shape = given["commands"]
    if len(shape) != 3:
        raise InputError(f"commands have the shape {shape}", "(steps, robots, actuators)")
    robots, n = rollout.robots, rollout.n
    wanted = {
        "q": (robots, n),
        "v": (robots, n),
        "loads": (shape[0], robots, n),
        "gravity": (robots, 3),
        "material_scale": (robots, rollout.regions),
        "friction": (robots, rollout.obstacles),
    }
    for name, own in given.items():
        if name in wanted and own != wanted[name]:
            raise InputError(f"{name} has the shape {own}", str(wanted[name]))


def run(rollout: Rollout, given: dict[str, ArrayLike]) -> tuple[NDArray[np.float64], ...]:
    """q, v and forces of a run; given: what is there of GIVEN."""
    arrays = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in given.items()}
    record = rollout.run(**arrays)
    return record["q"], record["v"], record["forces"]


def gradient(
    rollout: Rollout, number: int, given: dict[str, ArrayLike], by: dict[str, ArrayLike | None]
) -> dict[str, NDArray[np.float64]]:
    """That of run `number`, which is taken again where the rollout has had others since."""
    if rollout.runs != number:
        run(rollout, given)
    arrays = {
        name: None if values is None else np.ascontiguousarray(values, dtype=np.float64) for name, values in by.items()
    }
    return rollout.gradient(**arrays)
