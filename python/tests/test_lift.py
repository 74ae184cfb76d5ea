"""The gripper of the package, its fingers reduced along their motion, lifts balls in a batch."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnasium")

from gymnasium.vector import AutoresetMode  # noqa: E402
from supple import gym  # noqa: E402


def test_a_reduced_gripper_lifts_its_ball_to_the_height_asked_for() -> None:
    envs = gym.SuppleVectorEnv("GripperLift", 3, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    asked = envs.task.asked  # type: ignore[attr-defined]
    height, rewards = np.zeros(3), np.zeros(3)
    for k in range(envs.task.horizon):
        action = np.zeros((3, 4))
        action[:, :3] = k < 10  # close
        if k >= 12:  # an action of 1 is a tenth of the range, 20 mm
            action[:, 3] = np.clip((asked - height) / 0.02, -0.5, 0.5)
        _, rewards, terminated, _, info = envs.step(action)
        assert not terminated.any()
        height = info["height"]
    assert np.abs(height - asked).max() < 5e-3
    assert rewards.min() > 0.9
    assert all({t["first"], t["second"]} & {"ball"} for b in range(3) for t in envs.sim.body_touches(b))
