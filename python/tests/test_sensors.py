"""Sensors: names and units, full against batch, noise by seed, states that are taken up again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import LENGTH, WIDTH, bar_tables, command_line, write_bar

MIDDLE = WIDTH / 2


@pytest.fixture
def scene(tmp_path: Path) -> supple.Scene:
    write_bar(tmp_path / "bar.vtk")
    tables = bar_tables()
    tables["sensor"] = [
        {"name": "stretch", "type": "length", "cable": "upper", "noise": "0.1 mm"},
        {"name": "gauge", "type": "strain", "point": [0.01, MIDDLE, 0.9 * WIDTH], "direction": [1, 0, 0]},
        {"name": "cell", "type": "tension", "actuator": "upper", "delay": "30 ms"},
        {"name": "imu", "type": "accelerometer", "point": [LENGTH, MIDDLE, MIDDLE]},
    ]
    return supple.scene_from_dict(tables, tmp_path)


def test_readings_have_names_and_units(scene: supple.Scene) -> None:
    sim = supple.Simulation(scene)
    assert sim.sensor_names == [
        "stretch length",
        "gauge strain",
        "cell tension",
        "imu acceleration x",
        "imu acceleration y",
        "imu acceleration z",
    ]
    assert sim.sensor_units == ["m", "", "N", "m/s^2", "m/s^2", "m/s^2"]
    assert sim.sensors.shape == (1, 6)
    np.testing.assert_allclose(sim.sensors[0, 3:], [0, 0, 9.81], atol=1e-12)
    forces = []
    sim.commands[0] = [0.003, 0]
    for _ in range(8):
        sim.step()
        forces.append(sim.forces[0, 0])
    assert sim.sensors[0, 2] == forces[-4] != forces[-1]
    hanging = supple.Simulation(scene)
    hanging.step(8)
    assert sim.sensors[0, 1] < hanging.sensors[0, 1] - 1e-4  # the upper cable shortens its side


def test_noise_goes_by_the_seed(scene: supple.Scene) -> None:
    one, same, other = (supple.Simulation(scene, 2, seed=seed) for seed in (3, 3, 4))
    for sim in (one, same, other):
        sim.step(3)
    assert np.array_equal(one.sensors, same.sensors)
    assert np.all(one.sensors[:, 0] != other.sensors[:, 0])
    assert one.sensors[0, 0] != one.sensors[1, 0]
    assert np.array_equal(one.sensors[:, 1:], other.sensors[:, 1:])


def test_states_are_taken_up_again(scene: supple.Scene) -> None:
    sim = supple.Simulation(scene, 2)
    sim.commands[:, 0] = [0.002, 0.004]
    sim.step(5)
    state = sim.get_state()
    then = sim.sensors.copy()
    sim.step(5)
    later = sim.sensors.copy()
    again = supple.Simulation(scene, 2)
    again.commands[:] = sim.commands
    again.set_state(state)
    assert np.array_equal(again.sensors, then)
    again.step(5)
    assert np.array_equal(again.sensors, later)
    with pytest.raises(KeyError):
        again.set_state({name: value for name, value in state.items() if name != "sensors"})
    again.reset()
    assert again.sensors[0, 2] == 0


def test_readings_are_those_of_the_command_line(scene: supple.Scene, tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(scene.text)
    report = command_line(tmp_path, "simulate", "scene.toml", "--set", "upper=0.004", "--steps", "7")
    sim = supple.Simulation(scene)
    sim.commands[0, 0] = 0.004
    sim.step(7)
    assert report["sensors"]["stretch"] == sim.sensors[0, 0]
    assert report["sensors"]["imu"] == list(sim.sensors[0, 3:])
