"""Scenes of several bodies from Python: the bits of the command line, batches, places, contact, reduction in the world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import LENGTH, WIDTH, bar_tables, command_line, write_bar

# Two bars, one of them on a turntable, whose tips a spring joins.
TURNTABLE = f"""
name = "two bars"
time_step = "10 ms"

[[part]]
name = "left"
scene = "bar.toml"

[[part]]
name = "right"
scene = "bar.toml"
on = "table"

[[rigid]]
name = "table"
translation = [0, "60 mm", 0]
[[rigid.motion]]
name = "turn"
type = "rotation"
direction = [0, 0, 1]
range = ["-20 deg", "20 deg"]

[[link]]
name = "band"
type = "joint"
from = "left:tip"
to = "right:tip"
stiffness = "20 N/m"

[[effector]]
name = "left-tip"
at = "left:tip"

[reduce]
states = 8
validation_states = 4
error = 0.03
"""

BOXES = """
name = "boxes"
time_step = "5 ms"
[[rigid]]
name = "floor"
held = true
size = ["200 mm", "200 mm", "20 mm"]
[[rigid]]
name = "cube"
mass = "0.1 kg"
size = ["30 mm", "30 mm", "30 mm"]
translation = [0, 0, "27 mm"]
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_bar(folder / "bar.vtk")
    (folder / "bar.toml").write_text(supple.scene_text(bar_tables()))
    (folder / "scene.toml").write_text(TURNTABLE)
    (folder / "boxes.toml").write_text(BOXES)
    return folder


def test_what_a_scene_of_several_bodies_has(world: Path) -> None:
    scene = supple.Scene(world)
    assert scene.several_bodies and scene.name == "two bars" and Path(scene.file) == world / "scene.toml"
    assert scene.effectors == ["left-tip"]
    assert scene.actuators == ["left/upper", "left/lower", "right/upper", "right/lower"]
    assert [part["name"] for part in scene.summary["parts"]] == ["left", "right"]
    with pytest.raises(supple.InputError, match="of several"):
        scene.text
    with pytest.raises(supple.InputError, match="of several"):
        supple.reduce(scene)
    with pytest.raises(supple.CapabilityError):
        supple.Simulation(scene, device="cuda:0")
    with pytest.raises(supple.InputError, match="keep tangents"):
        supple.Simulation(scene, keep_tangent=0.1)


def test_steps_have_the_bits_of_the_command_line(world: Path, tmp_path: Path) -> None:
    sim = supple.Simulation(supple.Scene(world))
    sim.commands[0, 0] = 0.003
    sim.motions[0, 0] = 0.2
    sim.step(12)
    report = command_line(
        tmp_path, "simulate", str(world), "--set", "left/upper=0.003", "--set", "table/turn=0.2", "--steps", "12"
    )
    assert report["state_hash"] == sim.hash()
    assert sim.motion_names == ["table/turn"] and sim.applied_motions[0, 0] == 0.2


def test_goals_have_the_bits_of_the_command_line(world: Path, tmp_path: Path) -> None:
    sim = supple.Simulation(supple.Scene(world), inverse=True)
    sim.settle()
    goal = sim.goals[0, 0] + [0, 0, 0.003]
    (tmp_path / "goal.csv").write_text(
        "time [s],left-tip x,left-tip y,left-tip z\n0," + ",".join(repr(float(x)) for x in goal) + "\n"
    )
    report = command_line(tmp_path, "inverse", str(world), "--goal", "goal.csv", "--steps", "20")
    sim.goals[0, 0] = goal
    sim.step(20)
    assert report["state_hash"] == sim.hash()
    assert abs(sim.goal_errors[0, 0]) < 1e-3  # two cables and a turntable for three numbers, y of which they hardly move


def test_every_robot_of_a_batch_moves_as_one_alone(world: Path) -> None:
    scene = supple.Scene(world)
    batch = supple.Simulation(scene, 3)
    batch.commands[:, 1] = [0, 0.002, 0.004]
    batch.step(6)
    for b in range(3):
        alone = supple.Simulation(scene)
        alone.commands[:] = batch.commands[b]
        alone.step(6)
        assert np.array_equal(alone.q[0], batch.q[b])


def test_places_and_shapes(world: Path) -> None:
    sim = supple.Simulation(supple.Scene(world))
    sim.motions[0, 0] = np.deg2rad(15)
    sim.step(40)
    poses = sim.poses()
    assert list(poses) == ["left", "right", "table"]
    position, rotation = poses["right"]
    c, s = np.cos(np.deg2rad(15)), np.sin(np.deg2rad(15))
    # The turntable turns about its own z axis: driven motions are exact.
    assert np.allclose(rotation, [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-14)
    assert np.allclose(position, [0, 0.06, 0], atol=1e-15)
    skin = sim.skin()
    assert skin.shape[1] == 3 and sim.triangles.max() < len(skin)
    right = skin[len(skin) // 2 :] - [0, 0.06, 0]
    # Far out along its own x axis: the tip of a bar of 120 mm that hangs a little.
    assert 0.9 * LENGTH < (right @ rotation).max() < 1.2 * LENGTH
    assert np.abs((right @ rotation)[:, 1]).max() < 0.02 + WIDTH
    assert sim.stress().shape == (2 * 32,) and sim.stress().max() > 0


def test_bodies_that_touch(world: Path) -> None:
    scene = supple.Scene(world / "boxes.toml")
    sim = supple.Simulation(scene)
    assert sim.body_touches() == []
    sim.step(60)
    (touch,) = sim.body_touches()
    assert {touch["first"], touch["second"]} == {"floor", "cube"}
    force = np.array(touch["force"]) * (1 if touch["first"] == "cube" else -1)
    assert force == pytest.approx([0, 0, 0.1 * 9.81], abs=1e-9)  # it rests: its weight
    state, end = sim.get_state(), sim.hash()
    sim.step(5)
    sim.set_state(state)
    assert sim.hash() == end
    del state["surface_forces"]
    with pytest.raises(KeyError):
        sim.set_state(state)
    with pytest.raises(supple.RunError):  # nothing is known of how a free cube comes to lie there
        sim.settle()


def test_a_batch_of_bodies_that_touch(world: Path) -> None:
    scene = supple.Scene(world / "boxes.toml")
    alone = supple.Simulation(scene)
    start = alone.get_state()
    heights = [0.001 * k for k in range(10)]  # threads take four robots at a time
    supple.set_threads(2)
    batch = supple.Simulation(scene, len(heights))
    state = batch.get_state()
    state["q"][:, 2] += heights  # the cube is the only body that moves
    batch.set_state(state)
    batch.step(40)
    after = batch.get_state()
    assert set(after["surface_forces"][:, 0]) == set(range(10))  # all have landed
    for robot, height in enumerate(heights):
        own = {name: np.copy(value) for name, value in start.items()}
        own["q"][0, 2] += height
        alone.set_state(own)
        alone.step(40)
        assert np.array_equal(alone.get_state()["q"][0], after["q"][robot])
        assert alone.body_touches() == batch.body_touches(robot)
    batch.set_state(after)
    assert np.array_equal(batch.get_state()["surface_forces"], after["surface_forces"])
    for column, wrong in ((0, 10), (1, 2.0**32 - 1)):  # there is no such robot, no such feature
        changed = {name: np.copy(value) for name, value in after.items()}
        changed["surface_forces"][-1, column] = wrong
        with pytest.raises(ValueError, match="not those of this batch"):
            batch.set_state(changed)


def test_parts_are_reduced_in_their_world(world: Path, tmp_path: Path) -> None:
    scene, stages = supple.Scene(world), []
    reduced, report = supple.reduce_world(
        scene, tmp_path / "reduced", progress=lambda stage, *_: stages.append(stage)
    )
    assert report["validation"]["goal_error_mean"] < 0.03 and report["validation"]["failed"] == 0
    assert len(report["parts"]) == 1 and stages  # both bars are of one kind
    moved = []
    for each in (scene, reduced):
        sim = supple.Simulation(each)
        sim.commands[0, 0] = 0.004
        start = sim.effectors[0, 0].copy()
        sim.settle()
        moved.append(sim.effectors[0, 0] - start)
    # Twice the mean error that the scene asks for: one state.
    assert np.linalg.norm(moved[1] - moved[0]) < 2 * 0.03 * np.linalg.norm(moved[0])
    with pytest.raises(supple.InputError, match="exists already"):
        supple.reduce_world(scene, tmp_path / "reduced")
    with pytest.raises(supple.InputError, match="scene itself"):
        supple.reduce_world(scene, world, overwrite=True)
    with pytest.raises(supple.InputError, match="one body"):
        supple.reduce_world(world / "bar.toml", tmp_path / "other")
    with pytest.raises(supple.RunError, match="miss motion and shape by"):
        supple.reduce_world(scene, tmp_path / "other", modes=1, error=1e-6)
    assert not (tmp_path / "other").exists()
