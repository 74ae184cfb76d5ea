"""Environments: Gymnasium's own checks, the three ways of reset, and batches that agree with single robots."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import supple

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402
from supple import gym  # noqa: E402


def vector(model: supple.Model, count: int, mode: AutoresetMode, **more: object) -> gym.SuppleVectorEnv:
    return gym.SuppleVectorEnv("DiamondReach", count, model=model, autoreset_mode=mode, **more)  # type: ignore[arg-type]


def test_gymnasium_finds_nothing_wrong(model: supple.Model) -> None:
    pytest.importorskip("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Observations have no bounds: a robot may be anywhere.
        warnings.filterwarnings("ignore", message=".*observation space (minimum|maximum) value is.*")
        check_env(gymnasium.make("supple/DiamondReach-v0", model=model, render_mode="rgb_array").unwrapped)


def test_environments_are_registered(model: supple.Model) -> None:
    env = gymnasium.make("supple/DiamondReach-v0", model=model, max_episode_steps=3)
    env.reset(seed=1)
    for k in range(3):
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        assert not terminated and truncated == (k == 2)
        assert info["distance"] >= 0
    envs = gymnasium.make_vec(
        "supple/DiamondReach-v0", num_envs=5, vectorization_mode="vector_entry_point", model=model
    )
    assert envs.reset(seed=1)[0].shape == (5, 3 + 3 + 3 + 2)
    assert {"supple/TentacleReach-v0", "supple/CrawlerWalk-v0", "supple/FingerPress-v0"} <= set(gymnasium.registry)
    with pytest.raises(supple.InputError, match="no task"):
        gym.SuppleVectorEnv("Fly")


def test_a_batch_has_the_bits_of_single_robots(model: supple.Model) -> None:
    envs = vector(model, 3, AutoresetMode.DISABLED)
    envs.reset(seed=3)
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 3, 2))
    seen = [envs.step(a)[0] for a in actions]
    for b in range(3):
        env = gym.SuppleEnv("DiamondReach", model=model)
        env.reset(seed=3)
        env.batch.task.goal[0] = envs.task.goal[b]  # type: ignore[attr-defined]
        for k, a in enumerate(actions):
            assert np.array_equal(env.step(a[b])[0], seen[k][b])


def test_the_seed_decides_all(model: supple.Model) -> None:
    def run() -> list[np.ndarray]:
        envs = vector(model, 4, AutoresetMode.NEXT_STEP, max_episode_steps=4)
        seen = [envs.reset(seed=7)[0]]
        rng = np.random.default_rng(1)
        for _ in range(10):
            seen.append(envs.step(rng.uniform(-1, 1, (4, 2)))[0])
        return seen

    for a, b in zip(run(), run()):
        assert np.array_equal(a, b)


def test_next_step_reset(model: supple.Model) -> None:
    envs = vector(model, 2, AutoresetMode.NEXT_STEP, max_episode_steps=3)
    start = envs.reset(seed=2)[0]
    for k in range(3):
        observation, _, terminated, truncated, _ = envs.step(np.ones((2, 2)))
        assert not terminated.any() and truncated.tolist() == [k == 2] * 2
    assert not np.array_equal(observation[:, :3], start[:, :3])
    observation, rewards, terminated, truncated, _ = envs.step(np.ones((2, 2)))
    assert np.array_equal(observation[:, :3], start[:, :3])  # at rest again, the actions had no effect
    assert (rewards == 0).all() and not terminated.any() and not truncated.any()
    assert (envs.task.fraction == envs.task.start).all()


def test_same_step_reset(model: supple.Model) -> None:
    envs = vector(model, 2, AutoresetMode.SAME_STEP, max_episode_steps=2)
    start = envs.reset(seed=2)[0]
    envs.step(np.ones((2, 2)))
    observation, _, _, truncated, info = envs.step(np.ones((2, 2)))
    assert truncated.all() and info["_final_obs"].all()
    assert np.array_equal(observation[:, :3], start[:, :3])
    assert not np.array_equal(info["final_obs"][:, :3], start[:, :3])
    assert info["final_info"]["distance"].shape == (2,) and info["final_info"]["_distance"].all()
    assert envs.step(np.ones((2, 2)))[3].tolist() == [False, False]


def test_reset_by_mask(model: supple.Model) -> None:
    envs = vector(model, 3, AutoresetMode.DISABLED, max_episode_steps=2)
    start = envs.reset(seed=2)[0]
    envs.step(np.ones((3, 2)))
    mask = np.array([False, True, False])
    observation = envs.reset(options={"reset_mask": mask})[0]
    assert np.array_equal(observation[1, :3], start[1, :3])
    assert not np.array_equal(observation[0, :3], start[0, :3])
    assert envs.step(np.ones((3, 2)))[3].tolist() == [True, False, True]
    with pytest.raises(supple.InputError, match="an episode has ended"):
        envs.step(np.ones((3, 2)))
    for wrong in (np.zeros(3, dtype=bool), np.ones(2, dtype=bool), np.ones(3)):
        with pytest.raises(supple.InputError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    envs.step(np.ones((3, 2)))


def test_robots_vary_from_episode_to_episode(model: supple.Model) -> None:
    varied = gym.Variations(material=(0.5, 2.0), tilt=0.3, density=(0.8, 1.2), damping=(0.5, 3.0))
    envs = vector(model, 4, AutoresetMode.DISABLED, variations=varied)
    envs.reset(seed=5)
    envs.step(np.zeros((4, 2)))
    tips = envs.sim.effectors[:, 0].copy()
    assert len(np.unique(tips[:, 2])) == 4
    kept = envs._drawn["material_scale"].copy()
    assert (0.5 <= kept).all() and (kept <= 2).all()
    angles = np.arccos(np.clip(envs._drawn["gravity"] @ [0, 0, -1] / 9.81, -1, 1))
    assert (angles <= 0.3).all() and angles.max() > 0.01
    assert np.allclose(np.linalg.norm(envs._drawn["gravity"], axis=1), 9.81)
    envs.reset(options={"reset_mask": np.array([True, False, False, False])})
    assert envs._drawn["material_scale"][0] != kept[0]
    assert np.array_equal(envs._drawn["material_scale"][1:], kept[1:])
    assert ((0.8 <= envs._drawn["density"]) & (envs._drawn["density"] <= 1.2)).all()
    assert len(np.unique(envs._drawn["density"])) == 4
    factors = envs._drawn["rayleigh_stiffness"] / envs.sim.rayleigh_stiffness
    assert ((0.5 <= factors) & (factors <= 3)).all()


def test_a_robot_that_fails_ends_its_episode(model: supple.Model) -> None:
    envs = vector(model, 2, AutoresetMode.NEXT_STEP)
    envs.reset(seed=1)
    state = envs.sim.get_state()
    state["v"][1] = 1e200
    envs.sim.set_state(state)
    observation, rewards, terminated, _, _ = envs.step(np.zeros((2, 2)))
    assert terminated.tolist() == [False, True]
    assert np.isfinite(observation).all() and np.isfinite(rewards).all()
    observation, _, terminated, _, _ = envs.step(np.zeros((2, 2)))
    assert not terminated.any() and not envs.sim.failed.any()


def test_the_last_robot_that_fails_ends_its_episode(model: supple.Model) -> None:
    env = gym.SuppleEnv("DiamondReach", model=model)
    env.reset(seed=1)
    state = env.batch.sim.get_state()
    state["v"][0] = 1e200
    env.batch.sim.set_state(state)
    _, _, terminated, truncated, _ = env.step(np.zeros(2))
    assert terminated and not truncated
    with pytest.raises(supple.InputError, match="the episode has ended"):
        env.step(np.zeros(2))
    env.reset()
    assert not env.step(np.zeros(2))[2]


def test_actions_of_the_caller_stay(model: supple.Model) -> None:
    envs = vector(model, 2, AutoresetMode.NEXT_STEP, max_episode_steps=1)
    envs.reset(seed=1)
    actions = np.ones((2, 2))
    envs.step(actions)
    envs.step(actions)
    assert (actions == 1).all()


def test_a_spec_makes_the_environment_again(model: supple.Model) -> None:
    env = gymnasium.make("supple/DiamondReach-v0", model=model, max_episode_steps=100)
    assert env.spec is not None and env.spec.max_episode_steps == 100
    env.reset(seed=1)
    for _ in range(99):
        assert not env.step(np.zeros(2))[3]
    assert env.step(np.zeros(2))[3]


@pytest.mark.parametrize(
    "wrong",
    [{"material": (2.0, 1.0)}, {"friction": (0.1, 0.2)}, {"tilt": -1.0}, {"density": (0.0, 1.0)}, {"damping": (2.0, 1.0)}],
)
def test_variations_that_cannot_be(model: supple.Model, wrong: dict[str, object]) -> None:
    with pytest.raises(supple.InputError, match="variations"):
        vector(model, 2, AutoresetMode.NEXT_STEP, variations=gym.Variations(**wrong))  # type: ignore[arg-type]


def test_actions_are_checked(model: supple.Model) -> None:
    envs = vector(model, 2, AutoresetMode.NEXT_STEP)
    envs.reset(seed=1)
    for wrong in (np.zeros((2, 3)), np.zeros(2), np.full((2, 2), np.nan)):
        with pytest.raises(supple.InputError, match="actions"):
            envs.step(wrong)


def test_pressing_on_a_floor(model_on_floor: supple.Model) -> None:
    envs = gym.SuppleVectorEnv("FingerPress", 2, model=model_on_floor, autoreset_mode=AutoresetMode.DISABLED)
    envs.task.limit = 1.0  # type: ignore[attr-defined]  # N: the bar presses harder than the finger
    envs.reset(seed=1)
    actions = np.array([[-1.0, -1.0], [-1.0, 1.0]])  # the lower cable of the second bends it to the floor
    for _ in range(6):
        _, rewards, terminated, _, info = envs.step(actions)
    assert info["force"][1] > info["force"][0] >= 0
    expected = -np.abs(info["force"] - envs.task.asked) / envs.task.limit  # type: ignore[attr-defined]
    assert np.allclose(rewards + 10 * terminated, expected)


def test_walking_counts_the_way_along_x(model: supple.Model) -> None:
    envs = gym.SuppleVectorEnv("CrawlerWalk", 2, model=model, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    start = envs.sim.effectors[:, 0, 0].copy()
    total = np.zeros(2)
    for _ in range(5):
        _, rewards, _, _, info = envs.step(np.array([[0.0, 0.0], [1.0, 0.0]]))
        total += rewards
    way = 1e3 * (envs.sim.effectors[:, 0, 0] - start)
    assert np.allclose(total, way - 0.01 * 5 * np.array([0, 1]))
    assert np.allclose(info["travelled"], way / 1e3)


def test_a_gripper_touches_its_ball() -> None:
    # With full fingers, which nothing has to be reduced for.
    scene = supple.Scene(supple.__path__[0] + "/robots/gripper/lift.toml")
    envs = gym.SuppleVectorEnv("GripperLift", 2, model=scene, autoreset_mode=AutoresetMode.DISABLED)
    first, _ = envs.reset(seed=1)
    assert first.shape == (2, 3 + 3 + 3 + 1 + 4) and np.all(first[:, :3] == 0)
    action = np.zeros((2, 4))
    action[1, :3] = 1  # the second closes its fingers
    for _ in range(2):
        observation, reward, terminated, truncated, info = envs.step(action)
    assert not terminated.any() and not truncated.any()
    assert abs(info["height"][0]) < 1e-4  # the ball lies on the table
    assert 1e-4 < info["height"][1] < 5e-3  # and is pushed up, held from below its middle
    assert np.allclose(reward, -np.abs(info["height"] - envs.task.asked) / 0.1)  # type: ignore[attr-defined]
    assert np.allclose(observation[1, 10:13] - observation[0, 10:13], 2 * 0.2, atol=1e-6)
    assert {frozenset((t["first"], t["second"])) for t in envs.sim.body_touches(0)} == {frozenset(("table", "ball"))}
    with pytest.raises(supple.InputError, match="several bodies"):
        gym.SuppleVectorEnv("GripperLift", 2, model=scene, variations=gym.Variations(material=(0.9, 1.1))).reset()
