"""The cases of the comparison: engines, models and the settings that were best for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from robots import ROOT, Robot

from engine import Engine

MODELS = ROOT / "build" / "peers"  # reduced models and fine meshes, made by run.sh


@dataclasses.dataclass
class Case:
    label: str
    build: Callable[[Robot], Engine]
    commands: list[int] | None = None  # all of them, or those of a slow case
    clock: float | None = None  # by the clock, for one command [s]


def full(robot: Robot) -> Engine:
    import ours
    import supple

    return ours.Supple(robot, supple.robot(robot.name), "full-order")


def fine_full(robot: Robot) -> Engine:
    import ours
    import supple

    return ours.Supple(robot, supple.Scene(ROOT / "assets" / robot.name / "fine.toml"), "full-order, 61,652 tetrahedra")


def reduced(file: str, label: str) -> Callable[[Robot], Engine]:
    def build(robot: Robot) -> Engine:
        import ours
        import supple

        return ours.Supple(robot, supple.Model.load(MODELS / file), label)

    return build


def mujoco(dof: str, **settings: object) -> Callable[[Robot], Engine]:
    def build(robot: Robot) -> Engine:
        import mujoco_flex

        return mujoco_flex.MujocoFlex(robot, dof, **settings)  # type: ignore[arg-type]

    return build


def newton(solver: str, **settings: object) -> Callable[[Robot], Engine]:
    def build(robot: Robot) -> Engine:
        import newton_vbd

        return newton_vbd.NewtonSoft(robot, solver, **settings)  # type: ignore[arg-type]

    return build


def rod(**settings: float) -> Callable[[Robot], Engine]:
    def build(robot: Robot) -> Engine:
        import soromox_rod

        return soromox_rod.SoromoxRod(robot, **settings)

    return build


def finger() -> list[Case]:
    flex = {
        "iterations": 100,
        "tolerance": 1e-4,
        "damping": 0.002,
        "stiffness": 300.0,
        "integral": 0.05,
        "margin": 6e-4,
    }
    whole = {
        "time_step": 0.02,
        "iterations": 100,
        "tolerance": 1e-2,
        "damping": 0.002,
        "stiffness": 300.0,
        "integral": 0.05,
    }
    soft = {"time_step": 2e-5, "iterations": 1, "damping": 2.0, "drag": 20.0, "stiffness": 50.0, "integral": 0.05}
    block = {"time_step": 5e-4, "iterations": 10, "damping": 100.0, "drag": 10.0, "stiffness": 50.0, "integral": 0.05}
    return [
        Case("supple-full", full),
        Case("supple-reduced", reduced("finger.rom.h5", "reduced")),
        Case("supple-fine-reduced", reduced("finger_fine.rom.h5", "reduced from 21,851 tetrahedra")),
        Case("mujoco-full", mujoco("full", **whole)),
        Case("mujoco-trilinear-12", mujoco("trilinear", cells=(1, 2, 12), time_step=0.02, **flex)),
        Case("mujoco-trilinear-25", mujoco("trilinear", cells=(3, 2, 25), time_step=0.01, **flex)),
        Case("mujoco-quadratic-6", mujoco("quadratic", cells=(1, 1, 6), time_step=0.02, **flex)),
        Case("mujoco-quadratic-12", mujoco("quadratic", cells=(1, 1, 12), time_step=0.01, **flex)),
        Case("newton-semi-implicit", newton("semi-implicit", **soft), [4], 100.0),
        Case("newton-vbd", newton("vbd", **block), [4], 20.0),
        Case("soromox-rod", rod(time_step=1e-4, damping=0.005, stiffness=60.0, integral=0.15)),
    ]


def diamond() -> list[Case]:
    flex = {
        "iterations": 300,
        "tolerance": 1e-4,
        "damping": 0.02,
        "stiffness": 100.0,
        "integral": 0.1,
        "margin": 1.5e-3,
    }
    whole = {
        "time_step": 0.02,
        "iterations": 150,
        "tolerance": 1e-2,
        "damping": 0.01,
        "stiffness": 200.0,
        "integral": 0.1,
    }
    soft = {"time_step": 5e-5, "iterations": 1, "damping": 2.0, "drag": 10.0, "stiffness": 200.0, "integral": 0.1}
    return [
        Case("supple-full", full),
        Case("supple-fine-full", fine_full, [0], 40.0),
        Case("supple-reduced", reduced("diamond.rom.h5", "reduced")),
        Case("supple-fine-reduced", reduced("diamond_fine.rom.h5", "reduced from 61,652 tetrahedra")),
        Case("mujoco-full", mujoco("full", **whole)),
        Case("mujoco-trilinear", mujoco("trilinear", cells=(10, 10, 15), time_step=0.01, **flex), [0, 4], 20.0),
        Case("mujoco-quadratic", mujoco("quadratic", cells=(5, 5, 8), time_step=0.01, **flex), [0], 30.0),
        Case("newton-semi-implicit", newton("semi-implicit", **soft), [0], 70.0),
    ]


def of(name: str) -> list[Case]:
    return {"finger": finger, "diamond": diamond}[name]()
