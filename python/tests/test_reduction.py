"""Reductions: their report, models in files, progress, and models that miss what is asked."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
import supple


def test_the_report_has_what_was_measured(reduction: supple.Reduction) -> None:
    report = reduction.report
    assert [row["label"] for row in report["table"]][0] == "full"
    assert report["elements"] == 32
    assert report["modes"] == reduction.model.modes
    assert 0 < reduction.tip_error < 0.02
    assert 0 < reduction.shape_error < 0.02
    assert reduction.tip_error == reduction.model.errors["goal_error_mean"]
    assert len(report["singular_values"]) >= reduction.model.modes
    text, html = repr(reduction), reduction._repr_html_()
    for cell in reduction.rows()[-1]:
        assert cell in text and cell in html
    assert html.count("<tr>") == 5
    assert not reduction.warning


def test_exports(reduction: supple.Reduction, tmp_path: Path) -> None:
    model = reduction.model
    model.export(tmp_path / "bar.supple", "runtime")
    assert (tmp_path / "bar.supple").read_bytes().startswith(b"SUPPLEFL")
    with pytest.raises(supple.InputError, match="exists already"):
        model.export(tmp_path / "bar.supple", "runtime")
    with pytest.raises(supple.InputError, match="no format 'pdf'"):
        model.export(tmp_path / "bar.pdf", "pdf")  # type: ignore[arg-type]
    try:
        model.export(tmp_path / "bar.html", "page")
    except supple.CapabilityError as error:  # a build without the page
        assert "web.sh" in error.suggestion and not (tmp_path / "bar.html").exists()
    else:
        assert "@SUPPLE_" not in (tmp_path / "bar.html").read_text()


def test_a_model_in_a_file(reduction: supple.Reduction, tmp_path: Path) -> None:
    path = tmp_path / "bar.rom.h5"
    reduction.model.save(path)
    again = supple.Model.load(path)
    assert again.summary == reduction.model.summary
    assert again.actuators == ["upper", "lower"] and again.effectors == ["tip"]
    # Of hexahedra the model counts points, of which an element keeps one or more.
    assert again.elements == reduction.model.elements >= reduction.report["table"][-1]["elements"]
    assert "bar" in again.scene
    with pytest.raises(supple.InputError, match="exists already"):
        reduction.model.save(str(path))
    reduction.model.save(str(path), overwrite=True)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(supple.InputError):
        supple.Model.load(str(path))


def test_workers_and_a_folder_of_states_give_the_same_model(
    scene: supple.Scene, reduction: supple.Reduction, tmp_path: Path
) -> None:
    hashes = []
    for jobs in (2, 1):
        model = supple.reduce(scene, rate_seconds=0.02, jobs=jobs, snapshots=tmp_path / "states").model
        sim = supple.Simulation(model)
        sim.commands[0, 0] = 0.003
        sim.step(10)
        hashes.append(sim.hash())
    sim = supple.Simulation(reduction.model)
    sim.commands[0, 0] = 0.003
    sim.step(10)
    assert hashes == [sim.hash()] * 2
    assert (tmp_path / "states" / "training").is_dir()


def test_progress_is_told_and_stops_the_work(scene: supple.Scene) -> None:
    stages: list[str] = []

    def watch(stage: str, fraction: float, detail: str) -> None:
        assert 0 <= fraction <= 1 and isinstance(detail, str)
        stages.append(stage)

    supple.reduce(scene, rate_seconds=0.02, progress=watch)
    assert "snapshots" in stages

    class Enough(Exception):
        pass

    def stop(stage: str, fraction: float, detail: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        supple.reduce(scene, rate_seconds=0.02, progress=stop)

    def stop_at_the_end(stage: str, fraction: float, detail: str) -> None:
        if stage == "dynamic path" and fraction == 1:
            raise Enough

    with pytest.raises(Enough):
        supple.reduce(scene, rate_seconds=0.02, progress=stop_at_the_end)


def test_ctrl_c_stops_the_work(scene: supple.Scene) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        supple.reduce(scene, seed=1, elements=12, rate_seconds=30)  # minutes, if nothing stops it
    timer.join()
    assert time.monotonic() - begin < 60


def test_a_model_that_misses_is_refused_unless_it_is_accepted(scene: supple.Scene) -> None:
    with pytest.raises(supple.RunError) as wrong:
        supple.reduce(scene, modes=1, rate_seconds=0.02)
    assert "the model is rejected" in wrong.value.problem
    assert "accept_errors=True" in wrong.value.suggestion
    assert "--" not in str(wrong.value) and "used again" not in str(wrong.value)
    assert str(wrong.value).startswith("the model is rejected")
    reduction = supple.reduce(scene, modes=1, rate_seconds=0.02, accept_errors=True)
    assert reduction.model.modes == 1
    assert reduction.warning and reduction.model.warning
    assert "warning" in repr(reduction)


def test_an_error_is_asked_for_in_percent(scene: supple.Scene) -> None:
    reduction = supple.reduce(scene, error="0.2 %", rate_seconds=0.02)
    assert max(reduction.tip_error, reduction.shape_error) <= 0.002
    with pytest.raises(supple.InputError, match="not between 0 and 1"):
        supple.reduce(scene, error="120 %")
    with pytest.raises(supple.InputError, match="below 1"):
        supple.reduce(scene, modes=0)


def test_the_cost_is_known_before(scene: supple.Scene) -> None:
    cost = supple.expected_cost(scene)
    assert 0 < cost["seconds"] <= cost["most_seconds"]
    assert cost["states"] > 0 and "states" in cost["text"]
    # Each measures for itself what a state takes, on a machine that does other work too.
    ordinary = min(supple.expected_cost(scene)["most_seconds"] for _ in range(3))
    tight = max(supple.expected_cost(scene, error="0.01 %")["most_seconds"] for _ in range(3))
    assert tight > ordinary
