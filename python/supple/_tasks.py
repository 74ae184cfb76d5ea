"""What the environments of supple.gym ask of their robots, for a batch at once."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ._cache import cached_model, cached_world
from ._core import Model, Scene, Simulation
from ._errors import RunError
from ._scene import scene_from_dict

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_ROBOTS = Path(__file__).parent / "robots"


class Task(ABC):
    """A task of a batch of B robots.

    An action in [-1, 1] moves each input by at most ``speed`` of its range in a control step, which is ``substeps`` time
    steps.
    """

    substeps = 5
    horizon = 60  # control steps of an episode
    speed = 0.15
    ramped = False  # inputs move evenly through a control step, not at its beginning

    def __init__(self, sim: Simulation, model: Model | Scene, rng: np.random.Generator) -> None:
        self.sim = sim
        self.lower = np.concatenate([sim.ranges[:, 0], sim.motion_ranges[:, 0]])
        self.upper = np.concatenate([sim.ranges[:, 1], sim.motion_ranges[:, 1]])
        width = np.where(self.upper > self.lower, self.upper - self.lower, 1.0)  # a sealed cavity has no range
        self.start = np.clip(-self.lower / width, 0, 1)
        self.fraction = np.tile(self.start, (sim.robots, 1))  # of the range [B, inputs]

    @property
    def inputs(self) -> int:
        return int(self.lower.size)

    def restart(self, which: Mask, rng: np.random.Generator) -> None:
        """Robots of the mask are at rest again and get new goals."""
        self.fraction[which] = self.start
        self.draw_goals(which, rng)

    def act(self, actions: Array) -> None:
        """Takes a control step."""
        before = self.fraction.copy()
        self.fraction += self.speed * np.clip(actions, -1, 1)
        np.clip(self.fraction, 0, 1, out=self.fraction)
        parts = self.substeps if self.ramped else 1
        for part in range(1, parts + 1):
            now = self.fraction if part == parts else before + part / parts * (self.fraction - before)
            given = self.lower + now * (self.upper - self.lower)
            actuators = self.sim.commands.shape[1]
            self.sim.commands[:] = given[:, :actuators]
            self.sim.motions[:] = given[:, actuators:]
            if self.sim.failed.all():
                return
            try:
                self.sim.step(self.substeps // parts)
            except RunError:  # the last robots have failed, which ends their episodes
                return

    def goals_of(self, robot: int) -> list[Array]:
        """Places to draw in a picture of a robot [3, m]."""
        return []

    @abstractmethod
    def draw_goals(self, which: Mask, rng: np.random.Generator) -> None: ...

    @abstractmethod
    def observe(self) -> Array:
        """[B, n], without units and of the order of one."""

    @abstractmethod
    def judge(self, actions: Array) -> tuple[Array, Mask, dict[str, Array]]:
        """Rewards [B], which episodes have ended [B], and what else is known."""


class Reach(Task):
    """The tip goes to a goal that the robot can reach.

    Observed: tip from its rest, goal from the tip, velocity of the tip, inputs. Reward of a control step: minus the
    distance as a fraction of the reach, and 1 within ``tolerance``.
    """

    tolerance = 2e-3  # m

    def __init__(self, sim: Simulation, model: Model | Scene, rng: np.random.Generator) -> None:
        super().__init__(sim, model, rng)
        self.rest = sim.effectors[0, 0].copy()
        self.reachable = self._reachable(model, rng, 256)
        self.reach = float(np.linalg.norm(self.reachable - self.rest, axis=1).max())  # m
        self.goal = np.tile(self.rest, (sim.robots, 1))
        self.before = self.goal.copy()

    def _reachable(self, model: Model | Scene, rng: np.random.Generator, count: int) -> Array:
        """Where the tip is under constant inputs, after 1.5 s [count, 3]."""
        probe = Simulation(model, count)
        given = self.lower + rng.random((count, self.inputs)) * (self.upper - self.lower)
        probe.commands[:] = given[:, : probe.commands.shape[1]]
        probe.motions[:] = given[:, probe.commands.shape[1] :]
        probe.step(int(1.5 / probe.time_step))
        return np.asarray(probe.effectors[~probe.failed, 0]).copy()

    def draw_goals(self, which: Mask, rng: np.random.Generator) -> None:
        self.goal[which] = self.reachable[rng.integers(len(self.reachable), size=int(which.sum()))]
        self.before[which] = self.rest

    def goals_of(self, robot: int) -> list[Array]:
        return [self.goal[robot]]

    def act(self, actions: Array) -> None:
        self.before[:] = self.sim.effectors[:, 0]
        super().act(actions)

    def observe(self) -> Array:
        tip = self.sim.effectors[:, 0]
        return np.concatenate(
            [
                (tip - self.rest) / self.reach,
                (self.goal - tip) / self.reach,
                (tip - self.before) / (0.1 * self.reach),
                2 * self.fraction - 1,
            ],
            axis=1,
        )

    def judge(self, actions: Array) -> tuple[Array, Mask, dict[str, Array]]:
        distance = np.linalg.norm(self.sim.effectors[:, 0] - self.goal, axis=1)
        reward = -distance / self.reach + (distance < self.tolerance)
        return reward, np.zeros(len(reward), dtype=bool), {"distance": distance}


class Walk(Task):
    """A free-floating crawler goes along x.

    Observed: feet from their mean, velocity of the mean, inputs. Reward: the way along x of a control step in mm, less
    a hundredth of the squared action.
    """

    horizon = 80
    speed = 0.4

    def __init__(self, sim: Simulation, model: Model | Scene, rng: np.random.Generator) -> None:
        super().__init__(sim, model, rng)
        self.rest = sim.effectors[0].mean(axis=0)
        self.size = max(float(np.ptp(sim.effectors[0], axis=0).max()), 1e-3)  # m
        self.before = np.tile(self.rest, (sim.robots, 1))

    def draw_goals(self, which: Mask, rng: np.random.Generator) -> None:
        self.before[which] = self.rest

    def act(self, actions: Array) -> None:
        self.before[:] = self.sim.effectors.mean(axis=1)
        super().act(actions)

    def observe(self) -> Array:
        feet = self.sim.effectors
        mean = feet.mean(axis=1)
        shape = (feet - mean[:, None]).reshape(len(feet), -1) / self.size
        return np.concatenate([shape, (mean - self.before) / 1e-3, 2 * self.fraction - 1], axis=1)

    def judge(self, actions: Array) -> tuple[Array, Mask, dict[str, Array]]:
        way = (self.sim.effectors.mean(axis=1) - self.before)[:, 0]
        reward = 1e3 * way - 0.01 * np.square(actions).sum(axis=1)
        travelled = self.sim.effectors.mean(axis=1)[:, 0] - self.rest[0]
        return reward, np.zeros(len(reward), dtype=bool), {"travelled": travelled}


class Press(Task):
    """A finger presses on a wall with a force that is asked for, and not with more than ``limit``.

    Observed: tip from its rest, force on the wall, force asked for, tension, inputs. Reward: minus the difference of
    the forces over the limit; a force beyond the limit at the end of a control step ends the episode with -10.
    """

    limit = 0.25  # N; with its whole cable the finger presses with 0.3 N

    def __init__(self, sim: Simulation, model: Model | Scene, rng: np.random.Generator) -> None:
        super().__init__(sim, model, rng)
        self.rest = sim.effectors[0, 0].copy()
        self.asked = np.zeros(sim.robots)  # N

    def draw_goals(self, which: Mask, rng: np.random.Generator) -> None:
        self.asked[which] = rng.uniform(0.1, 0.7, size=int(which.sum())) * self.limit

    def force(self) -> Array:
        """Of all robots on the wall [B, N]."""
        return np.asarray(np.linalg.norm(self.sim.contact_forces.sum(axis=(1, 2)), axis=1))

    def observe(self) -> Array:
        tip = (self.sim.effectors[:, 0] - self.rest) / 0.03
        columns = np.stack([self.force() / self.limit, self.asked / self.limit, self.sim.forces[:, 0] / 10], axis=1)
        return np.concatenate([tip, columns, 2 * self.fraction - 1], axis=1)

    def judge(self, actions: Array) -> tuple[Array, Mask, dict[str, Array]]:
        force = self.force()
        beyond = force > self.limit
        reward = -np.abs(force - self.asked) / self.limit - 10 * beyond
        return reward, beyond, {"force": force}


class Lift(Task):
    """A gripper lifts a ball from a table to a height that is asked for, and holds it there.

    Observed: the ball from its place on the table and from the palm, its velocity, the height asked for, inputs.
    Reward: minus the distance from that height in parts of 100 mm, and 1 within ``tolerance``; a ball that has rolled
    away by more than ``lost`` ends the episode with -10.
    """

    substeps = 10
    horizon = 40
    speed = 0.1
    ramped = True
    tolerance = 5e-3  # m
    lost = 0.08  # m
    closed = 0.9  # of the range of the cables; with all of it the fingers squeeze the ball out

    def __init__(self, sim: Simulation, model: Model | Scene, rng: np.random.Generator) -> None:
        super().__init__(sim, model, rng)
        cables = sim.commands.shape[1]
        self.upper[:cables] *= self.closed
        self._look()
        self.rest = self.ball[0].copy()
        self.asked = np.zeros(sim.robots)  # m above the table
        self.before = np.tile(self.rest, (sim.robots, 1))

    def _look(self) -> None:
        """Where balls and palms are [B, 3]."""
        poses = [self.sim.poses(robot) for robot in range(self.sim.robots)]
        self.ball, self.palm = (np.array([pose[name][0] for pose in poses]) for name in ("ball", "palm"))

    def restart(self, which: Mask, rng: np.random.Generator) -> None:
        super().restart(which, rng)
        self._look()

    def draw_goals(self, which: Mask, rng: np.random.Generator) -> None:
        self.asked[which] = rng.uniform(0.03, 0.1, size=int(which.sum()))
        self.before[which] = self.rest

    def goals_of(self, robot: int) -> list[Array]:
        return [self.rest + [0, 0, self.asked[robot]]]

    def act(self, actions: Array) -> None:
        self.before[:] = self.ball
        super().act(actions)
        self._look()

    def observe(self) -> Array:
        columns = [
            self.ball - self.rest,
            self.ball - self.palm,
            5 * (self.ball - self.before),
            self.asked[:, None],
        ]
        return np.concatenate([column / 0.1 for column in columns] + [2 * self.fraction - 1], axis=1)

    def judge(self, actions: Array) -> tuple[Array, Mask, dict[str, Array]]:
        way = self.ball - self.rest
        off = np.abs(way[:, 2] - self.asked)
        away = np.linalg.norm(way[:, :2], axis=1) > self.lost
        return -off / 0.1 + (off < self.tolerance) - 10 * away, away, {"height": way[:, 2]}


def _finger_at_wall() -> Scene:
    """The finger of the package, with a wall that it bends to. Pulled further than this it folds over the wall."""
    tables = tomllib.loads((_ROBOTS / "finger" / "scene.toml").read_text())
    tables["name"] = "finger-at-wall"
    tables["actuator"][0]["range"] = ["0 mm", "8 mm"]
    tables["obstacle"] = [
        {
            "name": "wall",
            "type": "plane",
            "position": ["12 mm", "0 mm", "0 mm"],
            "rotation": ["0 deg", "-90 deg", "0 deg"],
            "friction": 0.3,
        }
    ]
    tables["contact"] = {"distance": "0.2 mm", "spacing": "5 mm"}
    return scene_from_dict(tables, _ROBOTS / "finger")


def _robot(folder: str, file: str = "scene.toml") -> Callable[[], Scene]:
    return lambda: Scene(str(_ROBOTS / folder / file))


TASKS: dict[str, tuple[type[Task], Callable[[], Scene]]] = {
    "DiamondReach": (Reach, _robot("diamond")),
    "TentacleReach": (Reach, _robot("tentacle", "ball.toml")),
    "CrawlerWalk": (Walk, _robot("multigait", "crawl.toml")),
    "FingerPress": (Press, _finger_at_wall),
    "GripperLift": (Lift, _robot("gripper", "lift.toml")),
}


def make_task(
    name: str, robots: int, device: str, model: Model | Scene | None, rng: np.random.Generator
) -> tuple[Task, Simulation]:
    """The task and its robots; a model that is not given comes from the cache, or is reduced first."""
    kind, scene_of = TASKS[name]
    if model is None:
        scene = scene_of()
        model = cached_world(scene) if scene.several_bodies else cached_model(scene)
    sim = Simulation(model, robots, device=device)
    return kind(sim, model, rng), sim
