"""What every engine of the comparison is to the harness: one robot with cables, stepped under commands.

Engines without cables through points of a soft body get forces instead: `Pull` finds the tensions that bring each cable
to its length, and the forces of these tensions on the nodes. So every engine holds the same lengths at equilibrium.
"""

from __future__ import annotations

import abc

import numpy as np
from robots import Array, Robot, Whole


class Engine(abc.ABC):
    """One model of one robot in one engine."""

    engine: str  # name and version
    model: str  # what is solved
    unknowns: int
    time_step: float  # s
    settings: str  # what was tuned
    driven: str  # how the cables are moved
    single: bool = False  # numbers are of single precision

    @abc.abstractmethod
    def reset(self) -> None:
        """Back to the shape without stress, at rest, no cable pulled."""

    @abc.abstractmethod
    def run(self, commands: Array) -> None:
        """One step for each row of commands [steps, cables, m]."""

    @abc.abstractmethod
    def effector(self) -> Array:
        """Where the effector is [3, m]."""

    @abc.abstractmethod
    def misses(self) -> Array:
        """By how much each cable is longer than commanded [m]."""

    def shape(self) -> Array | None:
        """Nodes of the robot's mesh [n, 3, m], for pictures."""
        return None


class Pull:
    """Tensions of cables by feedback on their lengths, and their forces on nodes.

    Tension = stiffness (error + integral of the error / time), never negative. A robot of several cables shares one
    stiffness. The points of all cables are kept as one list of nodes and weights.
    """

    def __init__(self, robot: Robot, stiffness: float, time: float, time_step: float) -> None:
        self.stiffness, self.rate = stiffness, time_step / time
        points = [point for cable in robot.cables for point in cable.points]
        self.nodes: Whole = np.array([point.nodes for point in points])
        self.weights: Array = np.array([point.weights for point in points])
        self.pull_points = np.array([cable.pull_point for cable in robot.cables])
        ends = np.cumsum([len(cable.points) for cable in robot.cables])
        self.spans = [slice(int(end) - len(cable.points), int(end)) for cable, end in zip(robot.cables, ends)]
        self.rest = self.lengths_at(np.concatenate([cable.rest for cable in robot.cables]))
        self.reset()

    def reset(self) -> None:
        self.sums = np.zeros(len(self.spans))
        self.errors = np.zeros(len(self.spans))
        self.tensions = np.zeros(len(self.spans))

    def lengths_at(self, points: Array) -> Array:
        """Lengths of the cables; keeps the directions of their spans."""
        self.directions = []
        lengths = []
        for span, end in zip(self.spans, self.pull_points):
            steps = np.diff(np.vstack([points[span], end]), axis=0)
            size = np.sqrt(np.einsum("ij,ij->i", steps, steps))
            self.directions.append(steps / size[:, None])
            lengths.append(size.sum())
        return np.array(lengths)

    def forces(self, points: Array, commands: Array) -> Array:
        """Forces at the points of the cables [points, 3, N] where these are now."""
        self.errors = self.lengths_at(points) - (self.rest - commands)
        self.sums = np.maximum(0.0, self.sums + self.rate * self.stiffness * self.errors)
        self.tensions = np.maximum(0.0, self.sums + self.stiffness * self.errors)
        result = np.empty((len(self.nodes), 3))
        for span, tension, direction in zip(self.spans, self.tensions, self.directions):
            result[span] = tension * direction
            result[span][1:] -= tension * direction[:-1]
        return result
