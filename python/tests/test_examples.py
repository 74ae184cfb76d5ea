"""The examples run, and do what they are for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import supple

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(folder: Path, name: str, *words: str) -> str:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_a_bar_of_ones_own(folder: Path, tmp_path: Path) -> None:
    assert "hyper-reduced" in run(tmp_path, "own_robot.py", str(folder / "bar.vtk"))


def test_a_diamond_follows_a_circle(tmp_path: Path) -> None:
    model = supple.cached_model(supple.robot("diamond"))
    model.save(tmp_path / "diamond.rom.h5")
    text = run(tmp_path, "inverse_circle.py", "diamond.rom.h5")
    worst = re.search(r"second turn: ([0-9.]+) mm", text)
    assert worst and float(worst[1]) < 0.5  # of a circle of 10 mm


def test_a_diamond_arrives_at_rest(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    supple.cached_model(supple.robot("diamond")).save(tmp_path / "diamond.rom.h5")
    text = run(tmp_path, "arrive_at_rest.py", "diamond.rom.h5", "rest.png")
    away = {name: float(mm) for name, mm in re.findall(r"([a-z ]+): ([0-9.]+) mm", text)}
    assert away["on a ramp"] > 0.2 and away["optimised"] < 0.1 * away["on a ramp"]
    assert (tmp_path / "rest.png").stat().st_size > 10_000


DESIGN = Path(__file__).parents[2] / "assets" / "finger" / "design.toml"


def test_a_finger_is_designed_for_a_curve(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    supple.cached_model(supple.Scene(DESIGN)).save(tmp_path / "design.rom.h5")
    text = run(tmp_path, "design_a_finger.py", "design.rom.h5", str(DESIGN), "design.png")
    rows = re.findall(r"([a-z ]+): ([0-9.]+) mm from the curve at most, full-order model ([0-9.]+) mm", text)
    away = {name: (float(reduced), float(full)) for name, reduced, full in rows}
    # Measured: 4.20 and 4.21 mm, 0.87 and 0.96 mm.
    assert away["one material"][1] > 3.5
    assert away["designed"][1] < 1.3 and abs(away["designed"][0] - away["designed"][1]) < 0.3
    assert (tmp_path / "design.png").stat().st_size > 10_000


REACH = Path(__file__).parents[2] / "assets" / "tentacle" / "reach.toml"


@pytest.fixture(scope="module")
def tentacle(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tentacle") / "reach.rom.h5"
    supple.cached_model(supple.Scene(REACH)).save(path)
    return str(path)


def millimetres(text: str) -> dict[str, float]:
    return {name: float(mm) for name, mm in re.findall(r"([a-z ,]+): ([0-9.]+) mm from the goal", text)}


def test_a_tentacle_goes_round_a_ball(tmp_path: Path, tentacle: str) -> None:
    pytest.importorskip("matplotlib")
    away = millimetres(run(tmp_path, "predictive_control.py", tentacle, str(REACH), "control.png"))
    # Measured: 0.52, 0.89, 3.66 and 3.74 mm.
    assert away["predictive, reduced"] < 0.8 and away["predictive, replayed"] < 1.3
    assert away["inverse, replayed"] > 2 * away["predictive, replayed"]
    assert (tmp_path / "control.png").stat().st_size > 10_000


def test_a_tentacle_with_a_weight_is_led_by_its_markers(tmp_path: Path, tentacle: str) -> None:
    pytest.importorskip("matplotlib")
    text = run(tmp_path, "feedback_from_sensors.py", tentacle, str(REACH), "feedback.png")
    away = millimetres(text)
    # Measured: 6.4 and 0.8 mm, 59 mN instead of 49.
    assert away["with the estimator"] < 1.2 and away["without feedback"] > 4
    force = re.search(r"force at the tip: (-[0-9.]+) mN on average", text)
    assert force and -75 < float(force[1]) < -25
    assert (tmp_path / "feedback.png").stat().st_size > 10_000


def test_a_policy_learns_to_reach(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    text = run(tmp_path, "ppo_diamond_reach.py", "--steps", "120000")
    distances = [float(d) for d in re.findall(r"steps +([0-9.]+) mm", text)]
    assert distances[0] > 20 and distances[-1] < 8
