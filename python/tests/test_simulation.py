"""Simulations: the bits of the command line, views without copies, resets, batches, threads."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import PROGRAM, command_line


def test_forward_steps_have_the_bits_of_the_command_line(model_file: Path, tmp_path: Path) -> None:
    sim = supple.Simulation(supple.Model.load(str(model_file)))
    sim.commands[0] = [0.004, 0.001]
    sim.step(40)
    report = command_line(
        tmp_path, "run", str(model_file), "--set", "upper=0.004", "--set", "lower=0.001", "--steps", "40"
    )
    assert report["state_hash"] == sim.hash()
    one_by_one = supple.Simulation(supple.Model.load(str(model_file)))
    one_by_one.commands[0] = [0.004, 0.001]
    for _ in range(40):
        one_by_one.step()
    assert one_by_one.hash() == sim.hash()
    assert sim.time == pytest.approx(0.4) and sim.steps == 40


def test_a_batch_has_the_bits_of_the_command_line(model_file: Path, tmp_path: Path) -> None:
    commands = np.linspace(0, 0.005, 5)
    lines = ["time [s],robot,upper,lower"] + [f"0,{b},{float(c)!r},0" for b, c in enumerate(commands)]
    (tmp_path / "robots.csv").write_text("\n".join(lines) + "\n")
    report = command_line(
        tmp_path, "run", str(model_file), "--batch", "5", "--actuation", "robots.csv", "--steps", "20"
    )
    sim = supple.Simulation(supple.Model.load(str(model_file)), 5)
    sim.commands[:, 0] = commands
    sim.step(20)
    assert report["state_hash"] == sim.hash()


def test_inverse_steps_have_the_bits_of_the_command_line(model_file: Path, tmp_path: Path) -> None:
    sim = supple.Simulation(supple.Model.load(str(model_file)), inverse=True)
    sim.settle()
    goal = sim.goals[0, 0].copy()
    goal += [0, 0, 0.004]
    (tmp_path / "goal.csv").write_text(
        "time [s],tip x,tip y,tip z\n" + ",".join(["0", *(repr(float(x)) for x in goal)]) + "\n"
    )
    report = command_line(tmp_path, "inverse", str(model_file), "--goal", "goal.csv", "--steps", "30")
    sim.goals[0, 0] = goal
    sim.step(30)
    assert report["state_hash"] == sim.hash()
    assert sim.goal_errors[0, 0] < 1e-4
    assert sim.applied[0, 0] > 0 and sim.held == [""]


def test_steps_in_contact_have_the_bits_of_the_command_line(model_on_floor: supple.Model, tmp_path: Path) -> None:
    path = tmp_path / "floor.rom.h5"
    model_on_floor.save(str(path))
    sim = supple.Simulation(model_on_floor)
    sim.commands[0, 1] = 0.004
    sim.step(40)
    report = command_line(tmp_path, "run", str(path), "--set", "lower=0.004", "--steps", "40")
    assert report["state_hash"] == sim.hash()
    touches = sim.touches()
    assert touches and all(touch["obstacle"] == "floor" and touch["normal_force"] > 0 for touch in touches)
    # Active contacts are closed, and nothing is in the floor: to the tolerance of the contact solver.
    gaps = sim.gaps()
    assert gaps.shape == (1, sim.contact_forces.shape[1], 1)
    assert abs(gaps[0, touches[0]["point"], 0]) < 1e-7 and gaps.min() > -1e-7
    total = sim.contact_forces.sum(axis=(1, 2))[0, 2]
    assert total == pytest.approx(sum(touch["force"][2] for touch in touches))


def test_arrays_are_views(model: supple.Model) -> None:
    sim = supple.Simulation(model, 3)
    q, v, commands, tips, points = sim.q, sim.v, sim.commands, sim.effectors, sim.points
    assert q.shape == v.shape == (3, model.modes)
    assert commands.shape == (3, 2) and tips.shape == (3, 1, 3) and points.shape[2] == 3
    commands[:, 0] = [0, 0.002, 0.004]
    sim.step(10)
    assert np.shares_memory(q, sim.q) and np.shares_memory(commands, sim.commands)
    assert np.array_equal(q, sim.q) and np.all(q[1] != q[2])
    before = tips.copy()
    assert np.array_equal(before[1], before[2])  # computed when it is read
    assert np.array_equal(sim.effectors, tips) and not np.array_equal(tips[1], tips[2])
    for array in (q, v, tips, points, sim.forces, sim.applied):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    del sim
    assert np.isfinite(q).all()  # the array keeps the simulation


def test_every_robot_of_a_batch_moves_as_one_alone(model: supple.Model) -> None:
    batch = supple.Simulation(model, 4)
    batch.commands[:, 0] = np.linspace(0, 0.005, 4)
    batch.step(15)
    for b in range(4):
        alone = supple.Simulation(model)
        alone.commands[:] = batch.commands[b]
        alone.step(15)
        assert np.array_equal(alone.q[0], batch.q[b])


def test_resets(model: supple.Model) -> None:
    sim = supple.Simulation(model, 4)
    sim.commands[:] = 0.003
    sim.step(5)
    moved = sim.q.copy()
    sim.reset(np.array([True, False, False, True]))
    assert (sim.q[[0, 3]] == 0).all() and np.array_equal(sim.q[1], moved[1])
    sim.reset([1])
    assert (sim.q[1] == 0).all() and np.array_equal(sim.q[2], moved[2])
    sim.step(5)
    assert np.array_equal(sim.q[0], moved[0])
    sim.step(5)
    sim.reset(np.array([0, 1, 2, 3]))  # indices, though there are as many as robots
    assert (sim.q == 0).all()
    sim.step(5)
    moved = sim.q.copy()
    sim.reset([True, False, False, False])
    assert (sim.q[0] == 0).all() and np.array_equal(sim.q[1], moved[1])
    for wrong in (np.array([1.0, 0.0, 0.0, 0.0]), [True, 1], np.zeros((4, 1), dtype=bool)):
        with pytest.raises((TypeError, ValueError)):
            sim.reset(wrong)
    sim.reset()
    assert sim.time == 0 and sim.steps == 0 and (sim.q == 0).all()
    with pytest.raises(ValueError, match="another length"):
        sim.reset(np.array([True]))
    with pytest.raises(supple.InputError, match="no robot 7"):
        sim.reset([7])


def test_a_state_continues(model: supple.Model) -> None:
    sim = supple.Simulation(model, 2)
    sim.commands[1, 0] = 0.004
    sim.step(7)
    state = sim.get_state()
    sim.step(5)
    end = sim.hash()
    other = supple.Simulation(model, 2)
    other.set_state(state)
    assert other.steps == 7
    other.commands[1, 0] = 0.004
    other.step(5)
    assert other.hash() == end
    state["q"] = state["q"][:1]
    with pytest.raises(ValueError, match="not of shape"):
        other.set_state(state)
    assert other.hash() == end


def test_what_is_no_number_is_an_error_and_changes_nothing(model: supple.Model) -> None:
    sim = supple.Simulation(model, 2)
    sim.step(3)
    before = sim.hash()
    sim.commands[1, 1] = np.inf
    with pytest.raises(supple.InputError, match="the command of 'lower' of robot 1 is inf"):
        sim.step()
    assert sim.hash() == before
    with pytest.raises(supple.InputError, match="inverse=True"):
        sim.goals
    with pytest.raises(supple.InputError):
        supple.Simulation(model, 0)
    with pytest.raises(supple.InputError):
        supple.Simulation(model, integrator="euler")
    for wrong in (
        {"inverse": True, "regularisation": "ridge"},
        {"inverse": True, "starts": -1},
        {"inverse": True, "keep_tangent": 0.1},
        {"keep_tangent": -3.0},
        {"keep_tangent": 0.1, "integrator": "quasi-static"},
        {"epsilon": 0.5},
    ):
        with pytest.raises(supple.InputError):
            supple.Simulation(model, **wrong)  # type: ignore[arg-type]
    inverse = supple.Simulation(model, inverse=True)
    inverse.known[0, 0] = np.inf
    with pytest.raises(supple.InputError, match="known"):
        inverse.step()
    inverse.known[0, 0] = np.nan
    inverse.force_limits[0, 0] = np.nan
    with pytest.raises(supple.InputError, match="limit"):
        inverse.step()
    with pytest.raises(TypeError):
        supple.Simulation("model")  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        sim.skin(2)


def test_a_failure_is_an_error_when_no_robot_is_left(model: supple.Model) -> None:
    sim = supple.Simulation(model, 2)
    state = sim.get_state()
    state["v"][1] = 1e200
    sim.set_state(state)
    sim.step(3)
    assert sim.failed.tolist() == [False, True]
    assert len(sim.failures) == 1 and sim.failures[0].startswith("robot 1: step 1 ")
    state["v"][0] = 1e200
    sim.set_state(state)
    with pytest.raises(supple.RunError, match="all 2 robots failed"):
        sim.step()
    sim.reset()
    sim.step()
    assert not sim.failed.any()


def test_the_full_model_is_simulated_too(scene: supple.Scene, model: supple.Model) -> None:
    full, reduced = supple.Simulation(scene, 2), supple.Simulation(model, 2)
    for sim in (full, reduced):
        sim.commands[:, 0] = [0, 0.004]
        sim.settle()
    moved = np.linalg.norm(full.effectors[1, 0] - full.effectors[0, 0])
    assert moved > 0.01
    # The model's mean error is 0.4 %, its largest 1.2 %.
    assert np.abs(full.effectors - reduced.effectors).max() < 0.02 * moved
    assert full.skin(1).shape == reduced.skin(1).shape
    assert np.abs(full.skin(1) - reduced.skin(1)).max() < 0.03 * moved
    assert full.triangles.max() == full.skin().shape[0] - 1
    assert full.stress(1).shape == (32,) and full.stress(1).max() > full.stress(0).max()


def test_robots_of_a_batch_vary(model: supple.Model) -> None:
    sim = supple.Simulation(model, 2)
    sim.set_variations(material_scale=np.array([[1.0], [2.0]]))
    sim.settle()
    rest = np.array([0.12, 0.01, 0.01])
    sag = (rest - sim.effectors[:, 0])[:, 2]
    assert sag[0] > 1.7 * sag[1] > 0
    sim.set_variations(density=np.array([1.0, 2.0]))
    sim.settle()
    heavier = (rest - sim.effectors[:, 0])[:, 2]
    assert heavier[0] == pytest.approx(sag[0], rel=1e-6) and heavier[1] > 1.5 * sag[0]
    with pytest.raises(supple.InputError):
        sim.set_variations(material_scale=np.array([[1.0], [-1.0]]))
    with pytest.raises(ValueError, match="not of shape"):
        sim.set_variations(gravity=np.zeros((3, 2)))
    with pytest.raises(supple.InputError, match="rayleigh_mass"):
        sim.set_variations(rayleigh_mass=np.array([1.0, -1.0]))
    # Let go from a bend, the one with more damping swings less.
    sim.set_variations(rayleigh_stiffness=np.array([0.0, 0.05]))
    sim.reset()
    sim.commands[:] = [0.004, 0.0]
    sim.settle()
    sim.commands[:] = 0
    sim.step(30)
    assert np.abs(sim.v[0]).max() > 5 * np.abs(sim.v[1]).max()


def test_views_and_stresses_follow_variations(model: supple.Model) -> None:
    sim = supple.Simulation(model, 5)
    sim.commands[:] = 0.002
    views = [sim.q, sim.v, sim.forces, sim.applied, sim.points]
    sim.step(3)
    stress = sim.stress(4)
    sim.set_variations(material_scale=np.array([[1.0], [1.0], [1.0], [1.0], [2.0]]))
    now = [sim.q, sim.v, sim.forces, sim.applied, sim.points]
    for before, after in zip(views, now):
        assert before.ctypes.data == after.ctypes.data and np.array_equal(before, after)
    assert np.allclose(sim.stress(4), 2 * stress)
    assert np.allclose(sim.stress(3), stress)
    sim.step(3)
    assert np.array_equal(views[0], sim.q) and not np.array_equal(sim.q[3], sim.q[4])


def test_a_model_is_copied_and_pickled(model: supple.Model) -> None:
    assert copy.deepcopy(model) is model
    again = pickle.loads(pickle.dumps(model))
    hashes = []
    for each in (model, again):
        sim = supple.Simulation(each)
        sim.commands[0, 0] = 0.003
        sim.step(5)
        hashes.append(sim.hash())
    assert hashes[0] == hashes[1] and again.summary == model.summary


def test_simulations_in_two_threads_do_not_disturb_each_other(model: supple.Model) -> None:
    hashes = []

    def run() -> None:
        sim = supple.Simulation(model)
        sim.commands[0, 0] = 0.004
        sim.step(2000)
        hashes.append(sim.hash())

    run()
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hashes == hashes[:1] * 3


def resident() -> int:
    """Memory of this process now [pages]."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def test_many_steps_take_no_memory(model: supple.Model) -> None:
    sim = supple.Simulation(model)
    before = 0
    for count in range(100_000):
        sim.commands[0, 0] = 0.003
        sim.step()
        _ = sim.effectors, sim.q
        if count == 10_000:
            before = resident()
    # Pages of 4 kB; a leak of 8 bytes a step would be 175.
    assert resident() - before < 60


def test_ctrl_c_stops_many_steps(model: supple.Model) -> None:
    sim = supple.Simulation(model)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(100_000_000)
    timer.join()
    assert 0 < sim.steps < 10_000_000
    sim.step()


def test_a_device_that_is_not_there(model: supple.Model) -> None:
    try:
        sim = supple.Simulation(model, 2, device="cuda:0")
    except supple.CapabilityError as error:
        assert error.suggestion and "--" not in error.suggestion
        return
    sim.step()
    assert sim.device == "cuda:0" and np.isfinite(sim.q).all()


def test_a_recording(model_file: Path, tmp_path: Path) -> None:
    command_line(tmp_path, "run", str(model_file), "--set", "upper=0.004", "--steps", "12", "--record", "a.rec.h5")
    recording = supple.read_recording(str(tmp_path / "a.rec.h5"))
    sim = supple.Simulation(supple.Model.load(str(model_file)))
    sim.commands[0, 0] = 0.004
    sim.step(12)
    assert recording["time_step"] == 0.01 and recording["integrator"] == "implicit-euler"
    assert recording["q"].shape == (13, sim.q.shape[1])
    assert np.array_equal(recording["q"][-1], sim.q[0]) and recording["time"][-1] == sim.time
    assert recording["commands"][-1].tolist() == [0.004, 0]
    with pytest.raises(supple.InputError):
        supple.read_recording(str(model_file))
