"""Model-predictive control and state estimation in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import bar_tables


def led(control: supple.PredictiveControl, robot: supple.Simulation, goals: np.ndarray, steps: int) -> float:
    """The tip's distance from its goal [m] in the end."""
    for _ in range(steps):
        robot.commands[0] = control.plan(robot.q[0], robot.v[0], robot.applied[0], goals)
        assert control.report["status"] == "planned"
        robot.step()
    return float(np.linalg.norm(robot.effectors[0, 0] - goals[0]))


def test_a_tip_is_led_to_a_goal(model: supple.Model) -> None:
    there = supple.Simulation(model)
    there.commands[0] = 2e-3
    there.settle()
    goals = there.effectors[0].copy()
    robot = supple.Simulation(model)
    before = float(np.linalg.norm(robot.effectors[0, 0] - goals[0]))
    control = supple.PredictiveControl(model, steps=6, smoothness=1e-5, effort=0.0)
    assert control.report["status"] == "no plan"
    assert led(control, robot, goals, 60) < 0.02 * before
    assert control.planned.shape == (6, 2)
    assert control.predicted.shape == (6, robot.q.shape[1]) and control.blocks == [1] * 6
    assert "PredictiveControl" in repr(control)


def test_a_plan_has_the_bits_of_its_state(model: supple.Model) -> None:
    robot = supple.Simulation(model)
    goals = robot.effectors[0] + 1e-3
    plans = [
        supple.PredictiveControl(model, steps=4).plan(robot.q[0], robot.v[0], robot.applied[0], goals) for _ in range(2)
    ]
    assert np.array_equal(plans[0], plans[1])
    control = supple.PredictiveControl(model, steps=4)
    control.plan(robot.q[0], robot.v[0], robot.applied[0], goals)
    control.forget()
    several = control.plan(robot.q[0], robot.v[0], robot.applied[0], np.repeat(goals[None], 4, axis=0))
    assert several.shape == plans[0].shape and np.allclose(several, plans[0], rtol=1e-6, atol=1e-9)


def test_what_does_not_fit(model: supple.Model) -> None:
    robot = supple.Simulation(model)
    control = supple.PredictiveControl(model, steps=4)
    with pytest.raises(ValueError, match="goals"):
        control.plan(robot.q[0], robot.v[0], robot.applied[0], np.zeros((3, 1, 3)))
    with pytest.raises(ValueError, match="q"):
        control.plan(np.zeros(1), robot.v[0], robot.applied[0], robot.effectors[0])
    with pytest.raises(supple.InputError, match="period"):
        supple.PredictiveControl(model, period=1.0)
    with pytest.raises(supple.InputError, match="blocks"):
        supple.PredictiveControl(model, steps=4, blocks=[1, 1])
    with pytest.raises(supple.InputError, match="finite"):
        control.plan(robot.q[0] * np.nan, robot.v[0], robot.applied[0], robot.effectors[0])


def test_a_state_is_estimated_from_sensors(folder: Path) -> None:
    tables = bar_tables()
    tables["sensor"] = [
        {"name": name, "type": "position", "point": [x, 0.01, 0.01], "noise": 1e-4}
        for name, x in (("a", 0.03), ("b", 0.06), ("c", 0.09), ("d", 0.115))
    ]
    model = supple.reduce(supple.scene_from_dict(tables, folder)).model
    robot, blind = supple.Simulation(model), supple.Simulation(model)
    start = robot.get_state()
    start["v"] = start["v"] + 0.5
    robot.set_state(start)
    estimator = supple.StateEstimator(model, steps=2, loads=["tip"])
    assert estimator.loads == ["tip"] and estimator.covariance.shape == (2 * robot.q.shape[1] + 3,) * 2
    for _ in range(30):
        for each in (robot, blind):
            each.commands[0] = 2e-3
            each.step()
        estimator.update(robot.applied[0], robot.sensors[0])
    rollout = supple.Rollout(model)
    point = rollout.effector_points["tip"]
    tip = rollout.rest_points[point] + rollout.point_matrix[point] @ estimator.q
    assert np.linalg.norm(tip - robot.effectors[0, 0]) < 2e-4
    assert set(estimator.report) == {"distance", "left"} and estimator.report["left"] < 3
    assert "StateEstimator" in repr(estimator) and estimator.generalised_load.shape == robot.q.shape[1:]
    with pytest.raises(supple.InputError, match="nose"):
        supple.StateEstimator(model, loads=["nose"])
    with pytest.raises(supple.InputError, match="nose"):
        supple.StateEstimator(model, sensors=["nose"])
    with pytest.raises(ValueError, match="readings"):
        estimator.update(robot.applied[0], np.zeros(3))
    estimator.start()
    assert not estimator.q.any() and not estimator.load.any()
