"""Pushes in training, and obstacles that a model was not trained with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import LENGTH, WIDTH, bar_tables, command_line, error_of

# Below the free end, which bends upwards without it by more than the gap.
BALL = f"""
[[obstacle]]
name = "ball"
type = "sphere"
radius = {0.2 * LENGTH}
position = [{0.8 * LENGTH}, {WIDTH / 2}, {WIDTH + 0.2 * LENGTH + 5e-4}]
"""


@pytest.fixture(scope="module")
def pushed(folder: Path) -> supple.Model:
    tables = bar_tables()
    tables["contact"] = {"spacing": "8 mm"}
    tables["reduce"] |= {"states": 80, "pushes": "0.2 N", "modes_tolerance": 1e-3}
    return supple.reduce(supple.scene_from_dict(tables, folder), rate_seconds=0.02).model


def test_a_model_goes_among_other_obstacles(pushed: supple.Model, tmp_path: Path) -> None:
    assert pushed.errors["goal_error_mean"] < 0.02
    assert pushed.summary["contact"]["pushes"] == pytest.approx(0.2)
    assert pushed.obstacles == []
    (tmp_path / "ball.toml").write_text(BALL)
    there = pushed.with_obstacles(tmp_path / "ball.toml")
    assert there.obstacles == ["ball"] and pushed.obstacles == []
    tips = []
    for model in (pushed, there):
        sim = supple.Simulation(model)
        sim.commands[:] = [0.006, 0.0]
        sim.step(200)
        tips.append(sim.effectors[0, 0].copy())
    # The ball holds the end down, and pushes downwards.
    assert tips[1][2] < tips[0][2] - 1e-3
    assert sim.contact_forces[0].sum(axis=(0, 1))[2] < -1e-3
    # The bits of the command line.
    pushed.save(str(tmp_path / "bar.rom.h5"))
    report = command_line(
        tmp_path, "run", "bar.rom.h5", "--obstacles", "ball.toml", "--set", "upper=0.006", "--steps", "200",
    )  # fmt: skip
    assert report["state_hash"] == sim.hash()
    np.testing.assert_allclose(report["contact"]["force"], sim.contact_forces[0].sum(axis=(0, 1)), rtol=1e-12)


def test_what_has_no_obstacles_or_no_points_is_an_error(
    pushed: supple.Model, model: supple.Model, tmp_path: Path
) -> None:
    (tmp_path / "ball.toml").write_text(BALL)
    (tmp_path / "none.toml").write_text('name = "none"\n')
    with pytest.raises(supple.InputError, match="no obstacles"):
        pushed.with_obstacles(tmp_path / "none.toml")
    with pytest.raises(supple.InputError, match="no collision points"):
        model.with_obstacles(tmp_path / "ball.toml")
    pushed.save(str(tmp_path / "bar.rom.h5"))
    assert "recording" in error_of(
        tmp_path, "run", "bar.rom.h5", "--steps", "2", "--obstacles", "ball.toml", "--record", "r.rec.h5"
    )


def test_a_pushed_model_is_a_part_in_contact_with_obstacles(pushed: supple.Model, tmp_path: Path) -> None:
    pushed.save(str(tmp_path / "bar.rom.h5"))
    (tmp_path / "ball.toml").write_text(BALL)
    (tmp_path / "world.toml").write_text(
        'name = "world"\ntime_step = "10 ms"\n\n[[part]]\nname = "bar"\nmodel = "bar.rom.h5"\ncollision = "none"\n'
        + BALL
        + '\n[[effector]]\nname = "tip"\nat = "bar:tip"\n'
    )
    world = supple.Simulation(supple.Scene(tmp_path / "world.toml"))
    alone = supple.Simulation(pushed.with_obstacles(tmp_path / "ball.toml"))
    for sim in (world, alone):
        sim.commands[:] = [0.006, 0.0]
        sim.step(200)
    assert len(world.touches(0)) > 0
    # The same equations, put together in another order.
    np.testing.assert_allclose(world.effectors[0, 0], alone.effectors[0, 0], atol=1e-8)
