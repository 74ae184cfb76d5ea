"""The robots in Supple, from Python, one call for each step as in the other engines."""

from __future__ import annotations

import numpy as np
import supple
from robots import Array, Robot

from engine import Engine


class Supple(Engine):
    """A scene (full-order) or a model (reduced). The cables are rows of the engine's own: lengths, kept exactly."""

    driven = "lengths"
    settings = "one linearisation of implicit Euler in each step"

    def __init__(self, robot: Robot, source: supple.Scene | supple.Model, label: str) -> None:
        self.robot = robot
        self.sim = supple.Simulation(source)
        self.engine = f"Supple {supple.__version__}"
        self.time_step = self.sim.time_step
        self.unknowns = self.sim.q.shape[1]
        if isinstance(source, supple.Model):
            label = f"{label}, {source.modes} modes, {source.elements} elements"
        self.model = label
        self.commands = np.zeros(len(robot.cables))

    def reset(self) -> None:
        self.sim.reset()

    def run(self, commands: Array) -> None:
        for row in commands:
            self.sim.commands[0] = row
            self.sim.step()

    def effector(self) -> Array:
        return np.array(self.sim.effectors[0, 0])

    def misses(self) -> Array:
        return np.zeros(len(self.commands))

    def shape(self) -> Array:
        return np.array(self.sim.skin(0))
