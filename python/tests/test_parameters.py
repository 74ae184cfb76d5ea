"""Parameters: a model that is trained over them, at other values, and robots of a batch that differ by them."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import bar_tables, command_line, error_of, write_bar


@pytest.fixture(scope="module")
def parametric(folder: Path) -> supple.Model:
    tables = bar_tables()
    tables["parameter"] = [
        {"name": "modulus", "type": "stiffness", "range": [0.5, 2]},
        {"name": "height", "type": "stretch", "direction": [0, 0, 1], "range": [0.7, 1.3]},
    ]
    tables["reduce"]["states"] = 60
    return supple.reduce(supple.scene_from_dict(tables, folder), rate_seconds=0.02).model


def tip_at_rest(model: supple.Model, robots: int = 1) -> supple.Simulation:
    sim = supple.Simulation(model, robots)
    sim.commands[:] = [0.004, 0.001]
    return sim


def test_a_model_goes_to_other_values(parametric: supple.Model, tmp_path: Path) -> None:
    assert parametric.errors["goal_error_mean"] < 0.02
    assert parametric.parameters == {
        "modulus": {"type": "stiffness", "range": [0.5, 2.0], "value": 1.0},
        "height": {"type": "stretch", "range": [0.7, 1.3], "value": 1.0},
    }
    there = parametric.with_parameters({"modulus": 0.6, "height": 1.2})
    assert there.parameters["height"]["value"] == 1.2
    assert parametric.parameters["height"]["value"] == 1.0
    # The bits of the command line.
    parametric.save(str(tmp_path / "bar.rom.h5"))
    report = command_line(
        tmp_path, "run", "bar.rom.h5", "--set", "upper=0.004", "--set", "lower=0.001", "--steps", "20",
        "--parameter", "modulus=0.6", "--parameter", "height=1.2",
    )  # fmt: skip
    sim = tip_at_rest(there)
    sim.step(20)
    assert report["state_hash"] == sim.hash()
    # What is pickled is the model there, whose parameters are no longer open.
    assert pickle.loads(pickle.dumps(there)).parameters == {}
    assert pickle.loads(pickle.dumps(parametric)).parameters == parametric.parameters


def test_robots_of_a_batch_differ_by_their_stiffness(parametric: supple.Model) -> None:
    batch = tip_at_rest(parametric, 2)
    batch.set_variations(
        material_scale=np.stack([parametric.material_scale({"modulus": s}) for s in (0.6, 1.5)])
    )
    batch.step(20)
    for robot, value in enumerate((0.6, 1.5)):
        alone = tip_at_rest(parametric.with_parameters({"modulus": value}))
        alone.step(20)
        # Factors on stresses here, on moduli there: roundings.
        np.testing.assert_allclose(batch.q[robot], alone.q[0], rtol=0, atol=1e-9)


def test_robots_of_a_batch_differ_by_their_shape(parametric: supple.Model) -> None:
    values = {"modulus": np.array([0.6, 1.5, 1.0]), "height": np.array([1.2, 0.8, 1.0])}
    batch = tip_at_rest(parametric, 3)
    batch.step(5)
    before = batch.points.copy()
    batch.set_parameters(values)
    batch.set_variations(density=np.array([1.0, 1.0, 1.1]))
    # The same coordinates of another shape.
    assert all(np.abs(batch.points[robot] - before[robot]).max() > 1e-3 for robot in (0, 1))
    np.testing.assert_array_equal(batch.points[2], before[2])
    batch.step(15)
    for robot in range(3):
        alone = tip_at_rest(parametric)
        alone.step(5)
        alone.set_parameters({name: float(own[robot]) for name, own in values.items()})
        alone.set_variations(density=np.array([1.1 if robot == 2 else 1.0]))
        alone.step(15)
        np.testing.assert_array_equal(batch.q[robot], alone.q[0])
        np.testing.assert_array_equal(batch.skin(robot), alone.skin(0))
        np.testing.assert_array_equal(batch.stress(robot), alone.stress(0))
    heights = [float(np.ptp(batch.skin(robot)[:3, 2])) for robot in range(3)]  # of the held end
    np.testing.assert_allclose(heights, 0.02 * values["height"], rtol=1e-12)
    # From the start as models at these values.
    batch.set_variations()
    batch.reset()
    batch.step(20)
    there = tip_at_rest(parametric.with_parameters({"modulus": 0.6, "height": 1.2}))
    there.step(20)
    np.testing.assert_array_equal(batch.q[0], there.q[0])
    batch.set_parameters({})
    batch.reset()
    batch.step(20)
    plain = tip_at_rest(parametric)
    plain.step(20)
    np.testing.assert_array_equal(batch.q[1], plain.q[0])


def test_each_shape_is_led_to_its_goal(parametric: supple.Model) -> None:
    heights = np.array([0.8, 1.2])
    batch = supple.Simulation(parametric, 2, inverse=True)
    batch.set_parameters({"height": heights})
    batch.settle()
    at_rest = batch.effectors.copy()
    assert abs(at_rest[0, 0, 2] - at_rest[1, 0, 2]) > 1e-3
    np.testing.assert_allclose(batch.goal_errors, 0, atol=1e-9)
    for robot, height in enumerate(heights):
        alone = supple.Simulation(parametric.with_parameters({"height": height}), inverse=True)
        alone.settle()
        np.testing.assert_array_equal(at_rest[robot], alone.effectors[0])


def test_wrong_values_are_errors(parametric: supple.Model) -> None:
    with pytest.raises(supple.InputError, match="its range is 0.5 to 2"):
        parametric.with_parameters({"modulus": 3})
    with pytest.raises(supple.InputError, match="did you mean 'height'"):
        parametric.with_parameters({"hight": 1})
    with pytest.raises(supple.InputError, match="no stiffness"):
        parametric.material_scale({"height": 1.1})
    batch = supple.Simulation(parametric, 2)
    with pytest.raises(supple.InputError, match="its range is 0.7 to 1.3"):
        batch.set_parameters({"height": np.array([1.0, 1.4])})
    with pytest.raises(supple.InputError, match="did you mean 'height'"):
        batch.set_parameters({"hight": 1.0})
    for wrong in (np.ones(3), np.ones(1)):
        with pytest.raises(ValueError, match="height is not of shape"):
            batch.set_parameters({"height": wrong})
    with pytest.raises(TypeError, match="height is a number or"):
        batch.set_parameters({"height": None})  # type: ignore[dict-item]
    with pytest.raises(supple.InputError, match="set already"):
        supple.Simulation(parametric.with_parameters({"height": 1.1})).set_parameters({"height": 1.0})
    with pytest.raises(supple.InputError, match="set already"):
        parametric.with_parameters({"height": 1.1}).with_parameters({"height": 1.0})


def test_the_default_run_and_recordings_of_the_command_line(parametric: supple.Model, tmp_path: Path) -> None:
    parametric.save(str(tmp_path / "bar.rom.h5"))
    # Settles, then sweeps through the inputs, which parameters are not.
    report = command_line(tmp_path, "run", "bar.rom.h5", "--steps", "40", "--parameter", "height=1.2")
    assert report["steps"] == 40
    assert "recording" in error_of(
        tmp_path, "run", "bar.rom.h5", "--steps", "2", "--parameter", "height=1.2", "--record", "r.rec.h5"
    )


def test_errors_are_estimated_by_a_finer_model(scene: supple.Scene, model: supple.Model, tmp_path: Path) -> None:
    finer = supple.reduce(scene, modes=9, modes_tolerance=1e-9, rate_seconds=0.02, accept_errors=True).model
    estimator = supple.ErrorEstimator(model, finer, share=0)
    assert estimator.steps_between == 1 and np.isnan(estimator.error).all()
    sim, fine = supple.Simulation(model), supple.Simulation(finer)
    for one in (sim, fine):
        one.commands[:] = [0.004, 0.001]
    for _ in range(60):
        sim.step()
        fine.step()
        estimator.after_step(sim)
    # Where both have come to rest the estimate is their distance.
    np.testing.assert_allclose(estimator.error, fine.effectors[0] - sim.effectors[0], atol=2e-6)
    assert estimator.time == pytest.approx(sim.time)
    with pytest.raises(supple.InputError, match="of the same object"):
        estimator.after_step(fine)
    with pytest.raises(supple.InputError, match="modes, the model itself"):
        supple.ErrorEstimator(finer, model)
    with pytest.raises(supple.InputError, match="one of: tip"):
        estimator.set_forces({"elbow": [0, 0, 1]})
    # The command line does the same.
    model.save(str(tmp_path / "bar.rom.h5"))
    finer.save(str(tmp_path / "finer.rom.h5"))
    report = command_line(
        tmp_path, "run", "bar.rom.h5", "--set", "upper=0.004", "--set", "lower=0.001", "--steps", "61",
        "--estimate", "finer.rom.h5",
    )  # fmt: skip
    estimates = report["estimated_errors"]
    assert len(estimates["time"]) == len(estimates["effectors"]["tip"]) > 0
    assert estimates["not_found"] == 0
    (tmp_path / "scene.toml").write_text(supple.scene_text(bar_tables()))
    write_bar(tmp_path / "bar.vtk")
    # Above a limit the run ends, or the full model answers as it would have alone.
    above = ["run", "bar.rom.h5", "--set", "upper=0.004", "--set", "lower=0.001", "--steps", "12",
             "--estimate", "finer.rom.h5", "--limit", "1 nm"]  # fmt: skip
    assert "above the limit of" in error_of(tmp_path, *above, code=1)
    full = command_line(tmp_path, *above, "--full", "scene.toml", "-o", "full")
    alone = command_line(
        tmp_path, "simulate", "scene.toml", "--set", "upper=0.004", "--set", "lower=0.001", "--steps", "12", "-o", "alone"
    )
    assert full["answered_by"] == "full model" and full["estimated_errors"]["passed_limit"]["effector"] == "tip"
    assert full["state_hash"] == alone["state_hash"] and full["last_step"] == 12
    assert (tmp_path / "full/trajectory.csv").read_bytes() == (tmp_path / "alone/trajectory.csv").read_bytes()
    # The first step has no estimate.
    one = ["run", "bar.rom.h5", "--steps", "1", "--estimate", "finer.rom.h5", "--limit", "1 m"]
    assert "not known after step 1" in error_of(tmp_path, *one, code=1)
    below = [*above[:-1], "1 m", "--full", "scene.toml"]
    assert command_line(tmp_path, *below)["answered_by"] == "reduced model"
    assert "--limit is one of the estimated error" in error_of(tmp_path, "run", "bar.rom.h5", "--limit", "1 mm")
    assert "takes over where" in error_of(tmp_path, "run", "bar.rom.h5", "--full", "scene.toml")
