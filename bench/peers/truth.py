"""The one truth: equilibria of Supple's full-order model on fine meshes, kept in JSON.

    PYTHONPATH=build/python python bench/peers/truth.py finger|diamond MESH [MESH ...] --spread MM -o FILE

MESH is a .msh in millimetres, from coarse to fine. The finest is the truth. Linear tetrahedra are too stiff, so how far
the tips of the coarser meshes are off is kept beside it: as positions, and as displacements from the mesh's own rest.
A force at a point sinks into a body the deeper, the finer the mesh: so cables hold the body over a radius (--spread),
about an element of the coarse meshes, on which the models of the comparison hold it at points.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path

import numpy as np
import supple
from robots import ROOT, load


def scene_on(name: str, mesh: Path, spread: float) -> supple.Scene:
    folder = ROOT / "assets" / name
    text = (folder / "scene.toml").read_text()
    text = re.sub(r'file = "[^"]*"', f'file = "{mesh.resolve()}"', text, count=1)
    text = text.replace('type = "cable"', f'type = "cable"\nattachment_radius = "{spread} mm"')
    return supple.Scene.from_text(text, str(folder / "scene.toml"))


def equilibria(name: str, mesh: Path, increments: int, spread: float) -> dict[str, object]:
    """Tips under the unseen commands and under none, tensions and seconds, on one mesh."""
    scene = scene_on(name, mesh, spread)
    commands = load(name).commands
    begin = time.perf_counter()
    sim = supple.Simulation(scene, integrator="quasi-static")
    sim.settle()
    rest = np.array(sim.effectors[0, 0])
    now = np.zeros(commands.shape[1])
    tips, tensions = [], []
    for row in commands:
        for k in range(increments):
            sim.commands[0] = now + (row - now) * (k + 1) / increments
            sim.settle()
        now = row
        tips.append(np.array(sim.effectors[0, 0]).tolist())
        tensions.append(np.array(sim.forces[0]).tolist())
        print(
            f"{mesh.name}: {time.perf_counter() - begin:.0f} s, tip {1e3 * (sim.effectors[0, 0] - rest)} mm", flush=True
        )
    summary = scene.summary
    return {
        "mesh": mesh.name,
        "nodes": summary["nodes"],
        "tetrahedra": summary["tetrahedra"],
        "volume": summary["volume"],
        "seconds": time.perf_counter() - begin,
        "rest": rest.tolist(),
        "tips": tips,
        "tensions": tensions,
    }


def distance(run: dict[str, object], truth: dict[str, object]) -> dict[str, list[float]]:
    """Mean and largest error of the tips [% of the displacement], as positions and from the mesh's own rest."""
    tips, own = (np.array(r["tips"]) for r in (truth, run))
    rest, own_rest = (np.array(r["rest"]) for r in (truth, run))
    size = np.linalg.norm(tips - rest, axis=1)
    position = 100 * np.linalg.norm(own - tips, axis=1) / size
    displacement = 100 * np.linalg.norm((own - own_rest) - (tips - rest), axis=1) / size
    return {
        "position": [float(position.mean()), float(position.max())],
        "displacement": [float(displacement.mean()), float(displacement.max())],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", choices=("finger", "diamond"))
    parser.add_argument("meshes", nargs="+", type=Path)
    parser.add_argument("--increments", type=int, default=2, help="on the way from one command to the next")
    parser.add_argument("--spread", type=float, required=True, help="radius over which a cable holds the body [mm]")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    runs = [equilibria(arguments.robot, mesh, arguments.increments, arguments.spread) for mesh in arguments.meshes]
    truth = runs[-1]
    result = {
        "robot": arguments.robot,
        "commands": load(arguments.robot).commands.tolist(),
        "spread_mm": arguments.spread,
        "rest": truth["rest"],
        "tips": truth["tips"],
        "coarser_off_percent": {str(run["mesh"]): distance(run, truth) for run in runs[:-1]},
        "meshes": runs,
    }
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["coarser_off_percent"], indent=1))


if __name__ == "__main__":
    main()
