"""Environments for Gymnasium (``pip install supple[gym]``), native in batches.

>>> import gymnasium, supple.gym
>>> envs = gymnasium.make_vec("supple/DiamondReach-v0", num_envs=64, vectorization_mode="vector_entry_point")

Tasks: DiamondReach, TentacleReach (beside a ball), CrawlerWalk, FingerPress, GripperLift. The first environment of a
task reduces its robot, which takes from half a minute to some minutes, and keeps the model (``cached_model``). Robots
of several bodies, as the gripper, are simulated on the CPU and have no variations.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._core import Model, Scene, Simulation
from ._errors import CapabilityError, InputError
from ._picture import draw
from ._tasks import TASKS, make_task

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise CapabilityError("environments need gymnasium", "pip install supple[gym]") from None

__all__ = ["SuppleEnv", "SuppleVectorEnv", "Variations"]

Observation = npt.NDArray[np.float32]
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Variations:
    """In what robots differ from episode to episode: drawn evenly between the two ends at each reset.

    material: factor on the moduli of all regions. friction: Coulomb's coefficient of all obstacles. tilt: largest angle
    between gravity and its own direction [rad], drawn evenly from 0. density: factor on all masses. damping: factor on
    both of Rayleigh's coefficients.
    """

    material: tuple[float, float] | None = None
    friction: tuple[float, float] | None = None
    tilt: float = 0.0
    density: tuple[float, float] | None = None
    damping: tuple[float, float] | None = None


class SuppleVectorEnv(VectorEnv[Observation, Array, Any]):
    """A batch of robots with one task, stepped together.

    Args:
        task: one of supple.gym.TASKS, as "DiamondReach".
        num_envs: size of the batch.
        autoreset_mode: when an environment whose episode has ended is reset: NEXT_STEP, SAME_STEP, or DISABLED, where
            ``reset(options={"reset_mask": mask})`` does it.
        device: "cpu" or "cuda:0".
        variations: in what the robots differ.
        max_episode_steps: control steps of an episode; None: the task's.
        model: a reduced model, or a scene of several bodies, instead of that of the cache.
    """

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        device: str = "cpu",
        variations: Variations | None = None,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        model: Model | Scene | None = None,
    ) -> None:
        if task not in TASKS:
            raise InputError(f"there is no task '{task}'", ", ".join(TASKS))
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"there is no render_mode '{render_mode}'", '"rgb_array", or None')
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": ["rgb_array"], "render_fps": 20}
        self.render_mode = render_mode
        self.task, self.sim = make_task(task, num_envs, device, model, np.random.default_rng(0))
        self.horizon = max_episode_steps or self.task.horizon
        self.variations = variations
        if variations:
            _check(variations, self.sim)
        self._drawn = self._unvaried() if variations else {}
        if variations:
            self.sim.set_variations(**self._drawn)  # raises where the robot has none
        size = self.task.observe().shape[1]
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.task.inputs,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._elapsed = np.zeros(num_envs, dtype=int)
        self._ended = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts episodes: all, or with ``options={"reset_mask": mask}`` those of a mask [num_envs]."""
        super().reset(seed=seed)
        which = np.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            which = np.asarray(options["reset_mask"])
            if which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any():
                raise InputError(
                    "reset_mask is not a mask of the environments with at least one of them",
                    f"a bool array of shape ({self.num_envs},)",
                )
        self._restart(which)
        return self._observe(), {}

    def step(self, actions: Array) -> tuple[Observation, Array, Mask, Mask, dict[str, Any]]:
        """A control step of all environments."""
        actions = np.array(actions, dtype=float)  # a copy: those of robots that are reset become 0
        if actions.shape != self.action_space.shape or not np.isfinite(actions).all():
            raise InputError(
                f"actions of shape {actions.shape}, or not finite", f"finite numbers of shape {self.action_space.shape}"
            )
        again = np.zeros(self.num_envs, dtype=bool)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            again = self._ended.copy()
        elif self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            raise InputError("an episode has ended", 'reset(options={"reset_mask": ended}) first')
        if again.any():
            actions[again] = 0
        self.task.act(actions)
        rewards, terminated, info = self.task.judge(actions)
        terminated = terminated | self.sim.failed
        self._elapsed += 1
        truncated = (self._elapsed >= self.horizon) & ~terminated
        if again.any():
            self._restart(again)
            rewards[again], terminated[again], truncated[again] = 0.0, False, False
        self._ended = terminated | truncated
        observation = self._observe()
        infos: dict[str, Any] = {}
        for name, values in info.items():
            infos[name], infos["_" + name] = values, ~again
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            ended = self._ended.copy()
            infos["final_obs"], infos["_final_obs"] = observation.copy(), ended
            infos["final_info"] = {name: values.copy() for name, values in info.items()}
            infos["final_info"] |= {"_" + name: ended for name in info}
            infos["_final_info"] = ended
            self._restart(ended)
            observation[ended] = self._observe()[ended]
        return observation, rewards, terminated.copy(), truncated, infos

    def render(self) -> tuple[npt.NDArray[np.uint8], ...] | None:
        """A picture of each of the first four robots."""
        if self.render_mode is None:
            return None
        return tuple(picture_of(self, b) for b in range(min(4, self.num_envs)))

    def _observe(self) -> Observation:
        return self.task.observe().astype(np.float32)

    def _restart(self, which: Mask) -> None:
        self.sim.reset(which)
        if self.variations:
            self._vary(which)
        self.task.restart(which, self.np_random)
        self._elapsed[which] = 0
        self._ended[which] = False

    def _unvaried(self) -> dict[str, Array]:
        sim, B, asked = self.sim, self.num_envs, self.variations
        own: dict[str, Array] = {
            "gravity": np.tile(sim.gravity, (B, 1)),
            "material_scale": np.ones((B, sim.regions)),
            "friction": np.tile(sim.friction, (B, 1)),
        }
        if asked and asked.density:
            own["density"] = np.ones(B)
        if asked and asked.damping:
            own["rayleigh_mass"] = np.full(B, sim.rayleigh_mass)
            own["rayleigh_stiffness"] = np.full(B, sim.rayleigh_stiffness)
        return own

    def _vary(self, which: Mask) -> None:
        assert self.variations is not None
        rng, count, asked = self.np_random, int(which.sum()), self.variations
        if asked.material:
            self._drawn["material_scale"][which] = rng.uniform(*asked.material, size=(count, 1))
        if asked.friction:
            self._drawn["friction"][which] = rng.uniform(*asked.friction, size=(count, 1))
        if asked.density:
            self._drawn["density"][which] = rng.uniform(*asked.density, size=count)
        if asked.damping:
            factor = rng.uniform(*asked.damping, size=count)
            self._drawn["rayleigh_mass"][which] = factor * self.sim.rayleigh_mass
            self._drawn["rayleigh_stiffness"][which] = factor * self.sim.rayleigh_stiffness
        if asked.tilt > 0:
            self._drawn["gravity"][which] = _tilted(self.sim.gravity, asked.tilt, count, rng)
        self.sim.set_variations(**self._drawn)


class SuppleEnv(gymnasium.Env[Observation, Array]):
    """One robot with a task: the vector environment with a batch of one. Arguments as there.

    Episodes are cut off by Gymnasium's TimeLimit, which ``gymnasium.make`` adds.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}

    def __init__(
        self,
        task: str,
        *,
        device: str = "cpu",
        variations: Variations | None = None,
        render_mode: str | None = None,
        model: Model | Scene | None = None,
    ) -> None:
        self.batch = SuppleVectorEnv(
            task,
            1,
            autoreset_mode=AutoresetMode.DISABLED,
            device=device,
            variations=variations,
            max_episode_steps=sys.maxsize,
            render_mode=render_mode,
            model=model,
        )
        self.render_mode = render_mode
        self.observation_space = self.batch.single_observation_space
        self.action_space = self.batch.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        observation, _ = self.batch.reset(seed=seed)
        return observation[0], {}

    def step(self, action: Array) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self.batch._ended[0]:
            raise InputError("the episode has ended", "reset() first")
        observation, rewards, terminated, truncated, infos = self.batch.step(np.asarray(action)[None])
        own = {name: values[0] for name, values in infos.items() if not name.startswith("_")}
        return observation[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), own

    def render(self) -> Any:
        return None if self.render_mode is None else picture_of(self.batch, 0)


def picture_of(envs: SuppleVectorEnv, robot: int) -> npt.NDArray[np.uint8]:
    """A picture of one robot [height, width, 3]."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise CapabilityError("pictures need matplotlib", "pip install supple[plot]") from None
    figure = Figure(figsize=(5, 4), layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(projection="3d")
    draw(envs.sim, robots=[robot], axes=axes)
    for goal in envs.task.goals_of(robot):
        axes.scatter(*(1e3 * goal), color="red", s=14, depthshade=False)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].copy()
    return pixels


def _check(variations: Variations, sim: Simulation) -> None:
    for name in ("material", "friction", "density", "damping"):
        ends = getattr(variations, name)
        if ends is not None and not 0 <= ends[0] <= ends[1] < np.inf:
            raise InputError(f"variations.{name} is {ends}", "two ends, the lower first")
    if variations.density is not None and variations.density[0] == 0:
        raise InputError("variations.density begins at 0", "factors above 0")
    if variations.damping is not None and sim.rayleigh_mass == 0 and sim.rayleigh_stiffness == 0:
        raise InputError("variations.damping: the robot is not damped", "leave it out, or rayleigh_stiffness in its scene")
    if variations.friction is not None and not sim.obstacle_names:
        raise InputError("variations.friction: the robot has no obstacles", "leave it out")
    if not 0 <= variations.tilt <= np.pi:
        raise InputError(f"variations.tilt is {variations.tilt}", "an angle from 0 to pi")


def _tilted(gravity: Array, most: float, count: int, rng: np.random.Generator) -> Array:
    """Gravity turned by up to `most` about axes across it [count, 3]."""
    size = float(np.linalg.norm(gravity))
    if size == 0:
        return np.zeros((count, 3))
    down = gravity / size
    across = np.linalg.svd(down[None])[2][1:]  # two directions
    turn, angle = rng.uniform(0, 2 * np.pi, count), rng.uniform(0, most, count)
    side = np.cos(turn)[:, None] * across[0] + np.sin(turn)[:, None] * across[1]
    return np.asarray(size * (np.cos(angle)[:, None] * down + np.sin(angle)[:, None] * side))


for _task, (_kind, _) in TASKS.items():
    gymnasium.register(
        id=f"supple/{_task}-v0",
        max_episode_steps=_kind.horizon,
        entry_point="supple.gym:SuppleEnv",
        vector_entry_point="supple.gym:SuppleVectorEnv",
        kwargs={"task": _task},
    )
