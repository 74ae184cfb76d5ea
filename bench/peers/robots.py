"""The robots of the comparison, as every engine gets them: nodes, tetrahedra, material, fixed nodes, cables, commands.

All numbers are SI. The scenes and meshes of `assets/` are the only source.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Whole = npt.NDArray[np.int64]

ROOT = Path(__file__).resolve().parents[2]
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclasses.dataclass
class Point:
    """A point of the body: nodes and their weights."""

    nodes: Whole
    weights: Array


@dataclasses.dataclass
class Cable:
    """A cable through points of the body to a fixed pull point. A command shortens it."""

    points: list[Point]
    rest: Array  # points at rest [n, 3, m]
    pull_point: Array  # [3, m]
    limit: float  # largest command [m]


@dataclasses.dataclass
class Robot:
    name: str
    nodes: Array  # [n, 3, m]
    tetrahedra: Whole  # [m, 4], right-handed
    young: float
    poisson: float
    density: float  # kg/m^3
    fixed: Whole
    cables: list[Cable]
    effector: Point
    effector_rest: Array
    commands: Array  # [k, cables, m]: the unseen commands of the comparison

    @property
    def volumes(self) -> Array:
        return volumes(self.nodes, self.tetrahedra)

    @property
    def masses(self) -> Array:
        """Lumped masses of the nodes [kg]."""
        result = np.zeros(len(self.nodes))
        np.add.at(result, self.tetrahedra, (self.density * self.volumes / 4)[:, None])
        return result


def volumes(nodes: Array, tetrahedra: Whole) -> Array:
    a, b, c, d = (nodes[tetrahedra[:, k]] for k in range(4))
    return np.asarray(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6)


def metres(value: str | float) -> float:
    if not isinstance(value, str):
        return float(value)
    number, unit = value.split()
    return float(number) * {"mm": 1e-3, "cm": 1e-2, "m": 1.0}[unit]


def leading_number(text: str) -> float:
    found = re.match(r"[-+0-9.eE]+", text)
    assert found
    return float(found.group())


def read_msh(path: Path, scale: float) -> tuple[Array, Whole]:
    """Nodes [m] and right-handed tetrahedra of a gmsh file (4.1, text)."""
    lines = iter(path.read_text().splitlines())
    index: dict[int, int] = {}
    nodes: list[list[float]] = []
    cells: list[list[int]] = []
    for line in lines:
        if line == "$Nodes":
            for _ in range(int(next(lines).split()[0])):
                count = int(next(lines).split()[3])
                tags = [int(next(lines)) for _ in range(count)]
                for tag in tags:
                    index[tag] = len(nodes)
                    nodes.append([float(x) for x in next(lines).split()[:3]])
        elif line == "$Elements":
            for _ in range(int(next(lines).split()[0])):
                head = next(lines).split()
                for _ in range(int(head[3])):
                    numbers = next(lines).split()
                    if head[2] == "4":
                        cells.append([index[int(n)] for n in numbers[1:5]])
    points, tetrahedra = scale * np.array(nodes), np.array(cells)
    used, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    points, tetrahedra = points[used], tetrahedra.reshape(-1, 4)
    wrong = volumes(points, tetrahedra) < 0
    tetrahedra[wrong] = tetrahedra[wrong][:, [0, 2, 1, 3]]
    return points, tetrahedra


def embed(nodes: Array, tetrahedra: Whole, where: Array) -> Point:
    """The element that holds a point, or the nearest one, and its barycentric weights."""
    corner = nodes[tetrahedra[:, 0]]
    edges = np.stack([nodes[tetrahedra[:, k]] - corner for k in (1, 2, 3)], axis=2)
    local = np.linalg.solve(edges, (where - corner)[:, :, None])[:, :, 0]
    weights = np.column_stack([1 - local.sum(axis=1), local])
    best = int(np.argmax(weights.min(axis=1)))
    return Point(tetrahedra[best], weights[best])


def unseen_commands(name: str, limits: Array) -> Array:
    """Commands of the comparison. Those of the diamond are a Latin hypercube of its range."""
    if name == "finger":
        return np.array([0.12, 0.25, 0.38, 0.5, 0.62, 0.75, 0.88, 1.0])[:, None] * limits
    rng = np.random.default_rng(2026)
    count = 10
    columns = [(rng.permutation(count) + rng.random(count)) / count for _ in limits]
    return np.column_stack(columns) * limits


def load(name: str, mesh: Path | None = None) -> Robot:
    """The finger or the diamond, on the mesh of its scene or on another one in millimetres."""
    folder = ROOT / "assets" / name
    scene = tomllib.loads((folder / "scene.toml").read_text())
    nodes, tetrahedra = read_msh(mesh or folder / scene["body"]["mesh"]["file"], 1e-3)
    low, high = (np.array([metres(x) for x in corner]) for corner in scene["fix"][0]["box"])
    fixed = np.flatnonzero(np.all((nodes >= low - 1e-9) & (nodes <= high + 1e-9), axis=1))
    body = scene["body"]
    volume = float(volumes(nodes, tetrahedra).sum())
    if "density" in body:
        density = leading_number(body["density"])
    else:
        density = 1e-3 * leading_number(body["mass"]) / volume
    cables = []
    for actuator in scene["actuator"]:
        rest = np.array([[metres(x) for x in point] for point in actuator["points"]])
        pull = np.array([metres(x) for x in actuator["pull_point"]])
        points = [embed(nodes, tetrahedra, x) for x in rest]
        cables.append(Cable(points, rest, pull, metres(actuator["range"][1])))
    top = np.array([metres(x) for x in scene["effector"][0]["point"]])
    return Robot(
        name=name,
        nodes=nodes,
        tetrahedra=tetrahedra,
        young=1e3 * leading_number(body["material"][0]["young"]),
        poisson=float(body["material"][0]["poisson"]),
        density=density,
        fixed=fixed,
        cables=cables,
        effector=embed(nodes, tetrahedra, top),
        effector_rest=top,
        commands=unseen_commands(name, np.array([cable.limit for cable in cables])),
    )
