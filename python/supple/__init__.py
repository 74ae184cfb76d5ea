"""Supple: soft robots in real time, by finite elements that are reduced at a measured error.

>>> import supple
>>> reduction = supple.reduce(supple.robot("finger"))
>>> sim = supple.Simulation(reduction.model, robots=256)
>>> sim.commands[:, 0] = 0.01
>>> sim.step(100)

All numbers are SI; ``quantity("40 mm", "length")`` reads others.
"""

from __future__ import annotations

import os as _os
from pathlib import Path as _Path

# OpenMP reads how long its threads wait awake when it is loaded (docs/decisions/0037-waiting-threads.md).
_ours = not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & _os.environ.keys()
if _ours:
    _os.environ["GOMP_SPINCOUNT"] = "10000"
from . import _core

if _ours:
    del _os.environ["GOMP_SPINCOUNT"]
del _ours

from ._cache import cached_model
from ._core import (
    ErrorEstimator,
    Model,
    PredictiveControl,
    Rollout,
    Scene,
    Simulation,
    StateEstimator,
    Statics,
    format_quantity,
    quantity,
    read_recording,
    set_threads,
)
from ._errors import CapabilityError, Error, InputError, Interrupted, RunError
from ._picture import draw, plot_reduction
from ._reduction import Reduction, expected_cost, reduce, reduce_world
from ._scene import scene_from_dict, scene_text
from ._show import View, show

__version__: str = _core.version

__all__ = [
    "CapabilityError",
    "Error",
    "ErrorEstimator",
    "InputError",
    "Interrupted",
    "Model",
    "Reduction",
    "PredictiveControl",
    "Rollout",
    "RunError",
    "Scene",
    "Simulation",
    "StateEstimator",
    "Statics",
    "View",
    "cached_model",
    "draw",
    "expected_cost",
    "format_quantity",
    "plot_reduction",
    "quantity",
    "read_recording",
    "reduce",
    "reduce_world",
    "robot",
    "robots",
    "scene_from_dict",
    "scene_text",
    "set_threads",
    "show",
]

# Threads of OpenMP do not survive a fork: new batches in the child have one.
_os.register_at_fork(after_in_child=lambda: set_threads(1))

_ROBOTS = _Path(__file__).parent / "robots"


def robots() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(folder.name for folder in _ROBOTS.iterdir() if (folder / "scene.toml").exists())


def robot(name: str) -> Scene:
    """The scene of a robot that comes with the package."""
    if name not in robots():
        raise InputError(f"no robot '{name}' comes with the package", ", ".join(robots()))
    return Scene(str(_ROBOTS / name))
