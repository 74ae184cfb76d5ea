"""A small robot that is not one of the package's: a soft bar with two cables, reduced in a second."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import supple

# The program in C++, or the same command of the module.
PROGRAM = [os.environ["SUPPLE_PROGRAM"]] if "SUPPLE_PROGRAM" in os.environ else [sys.executable, "-m", "supple"]


def command_line(folder: Path, *words: str) -> dict[str, Any]:
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    subprocess.run([*PROGRAM, *words, "--json", str(report), "--quiet"], check=True, cwd=folder)
    return dict(json.loads(report.read_text()))


def error_of(folder: Path, *words: str, code: int = 2) -> str:
    """What the command line reports of wrong input, or of what fails otherwise."""
    failed = subprocess.run([*PROGRAM, *words], cwd=folder, capture_output=True, text=True)
    assert failed.returncode == code
    return failed.stderr


LENGTH, WIDTH = 0.12, 0.02  # m
CELLS = (8, 2, 2)


def write_bar(path: Path) -> None:
    """Hexahedra of a box as a legacy VTK file."""
    nx, ny, nz = CELLS
    axes = [np.linspace(0, LENGTH, nx + 1), np.linspace(0, WIDTH, ny + 1), np.linspace(0, WIDTH, nz + 1)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def node(i: int, j: int, k: int) -> int:
        return (i * (ny + 1) + j) * (nz + 1) + k

    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [
        [node(i + a, j + b, k + c) for a, b, c in corners] for i in range(nx) for j in range(ny) for k in range(nz)
    ]
    lines = ["# vtk DataFile Version 3.0", "bar", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(nodes)} double"]
    lines += [" ".join(repr(float(x)) for x in xyz) for xyz in nodes]
    lines += [f"CELLS {len(cells)} {9 * len(cells)}"] + ["8 " + " ".join(map(str, cell)) for cell in cells]
    lines += [f"CELL_TYPES {len(cells)}"] + ["12"] * len(cells)
    path.write_text("\n".join(lines) + "\n")


def bar_tables() -> dict[str, Any]:
    middle = WIDTH / 2

    def cable(name: str, z: float) -> dict[str, Any]:
        return {
            "name": name,
            "type": "cable",
            "points": [[0.95 * LENGTH, middle, z], [0.5 * LENGTH, middle, z]],
            "pull_point": [0.0, middle, z],
            "range": ["0 mm", "6 mm"],
        }

    return copy.deepcopy(
        {
            "name": "bar",
            "time_step": "10 ms",
            "body": {
                "mesh": {"file": "bar.vtk", "unit": "m"},
                "order": 1,
                "dilatation": "points",
                "density": "1070 kg/m^3",
                "rayleigh_stiffness": "5 ms",
                "material": [{"model": "corotational", "young": "300 kPa", "poisson": 0.4}],
            },
            "fix": [{"box": [[-1e-3, -1.0, -1.0], [1e-3, 1.0, 1.0]]}],
            "actuator": [cable("upper", 0.9 * WIDTH), cable("lower", 0.1 * WIDTH)],
            "effector": [{"name": "tip", "type": "position", "point": [LENGTH, middle, middle]}],
            "reduce": {"states": 14, "corners": False, "validation_states": 6, "modes_tolerance": 1e-3},
        }
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bar")
    write_bar(folder / "bar.vtk")
    return folder


@pytest.fixture(scope="session")
def scene(folder: Path) -> supple.Scene:
    return supple.scene_from_dict(bar_tables(), folder)


@pytest.fixture(scope="session")
def reduction(scene: supple.Scene) -> supple.Reduction:
    return supple.reduce(scene, rate_seconds=0.02)


@pytest.fixture(scope="session")
def model(reduction: supple.Reduction) -> supple.Model:
    return reduction.model


@pytest.fixture(scope="session")
def model_on_floor(folder: Path) -> supple.Model:
    """The bar above a floor with friction, onto which the lower cable bends it."""
    tables = bar_tables()
    tables["obstacle"] = [
        {"name": "floor", "type": "plane", "position": [0.0, 0.0, "-4 mm"], "friction": 0.3},
    ]
    tables["contact"] = {"spacing": "10 mm"}
    return supple.reduce(supple.scene_from_dict(tables, folder), rate_seconds=0.02, accept_errors=True).model


@pytest.fixture(scope="session")
def model_file(model: supple.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "bar.rom.h5"
    model.save(str(path))
    return path
