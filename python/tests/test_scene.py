"""Scenes from dictionaries, texts and files, and where they are wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import bar_tables


def test_dictionaries_are_the_scene_that_their_text_is(folder: Path, scene: supple.Scene) -> None:
    (folder / "scene.toml").write_text(supple.scene_text(bar_tables()))
    assert supple.Scene(str(folder)).text == scene.text
    assert scene.name == "bar"
    assert scene.actuators == ["upper", "lower"]
    assert scene.effectors == ["tip"]


def test_a_scene_goes_through_its_text(folder: Path, scene: supple.Scene) -> None:
    tables = bar_tables()
    tables["actuator"][0]["range"] = [0.0, float("inf")]
    unlimited = supple.scene_from_dict(tables, folder)
    for own in (scene, unlimited):
        assert supple.scene_from_dict(tomllib.loads(own.text), folder).text == own.text


def test_units_are_si_where_none_are_given(folder: Path, scene: supple.Scene) -> None:
    tables = bar_tables()
    tables["body"]["material"][0]["young"] = 300e3
    tables["time_step"] = 0.01
    tables["actuator"][0]["points"] = np.array(tables["actuator"][0]["points"])
    assert supple.scene_from_dict(tables, folder).text == scene.text
    assert supple.quantity("300 kPa", "stress") == 300e3
    assert supple.quantity("1 %", "number") == 0.01
    assert supple.format_quantity(0.04, "length") == "40 mm"
    with pytest.raises(supple.InputError, match="N"):
        supple.quantity("3 N", "length")
    with pytest.raises(supple.InputError) as wrong:
        supple.quantity("3 N", "lenght")
    assert wrong.value.suggestion == "length"


def test_an_error_has_its_place_and_a_remedy(folder: Path) -> None:
    tables = bar_tables()
    tables["body"]["material"][0]["yuong"] = tables["body"]["material"][0].pop("young")
    with pytest.raises(supple.InputError) as wrong:
        supple.scene_from_dict(tables, folder)
    error = wrong.value
    assert isinstance(error, ValueError)
    assert "yuong" in error.problem and "young" in error.suggestion
    line = supple.scene_text(tables).splitlines()[error.line - 1]
    assert line[error.column - 1 :].startswith("yuong")
    assert "scene.toml" in str(error) and error.suggestion in str(error)


@pytest.mark.parametrize(("value", "words"), [(float("nan"), "is nan"), (None, "is a NoneType"), ({1, 2}, "is a set")])
def test_values_that_no_scene_has(folder: Path, value: object, words: str) -> None:
    tables = bar_tables()
    tables["body"]["material"][0]["young"] = value
    with pytest.raises(supple.InputError, match=words):
        supple.scene_from_dict(tables, folder)


def test_texts_are_quoted(folder: Path) -> None:
    tables = bar_tables()
    tables["name"] = 'a "bar" \\ \u00fcml\u00e4ut'
    scene = supple.scene_from_dict(tables, folder)
    assert scene.name == tables["name"]
    tables["name"] = "a\nbar\x7f"
    with pytest.raises(supple.InputError, match="control character"):
        supple.scene_from_dict(tables, folder)


def test_summary_of_the_mesh(scene: supple.Scene) -> None:
    assert scene.summary["nodes"] == 81
    assert scene.summary["elements"] == 32


def test_a_mesh_that_is_not_there(tmp_path: Path) -> None:
    scene = supple.scene_from_dict(bar_tables(), tmp_path)
    with pytest.raises(supple.InputError, match="bar.vtk"):
        supple.Simulation(scene)


def test_robots_of_the_package() -> None:
    assert {"finger", "diamond", "tentacle"} <= set(supple.robots())
    assert supple.robot("finger").actuators == ["flexor"]
    with pytest.raises(supple.InputError, match="no robot 'hand'"):
        supple.robot("hand")
