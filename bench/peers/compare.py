"""All engines in turn: each settles under the same commands, and its tip is held against the one truth.

    bench/peers/run.sh, or with both packages on the path:
    python bench/peers/compare.py [--robots finger,diamond] [--cases supple,mujoco] [--rounds N] -o DIR

A round is one command for all cases in turn. From rest the cables are pulled within half a second of simulated time,
then held until the effector moves less than 1e-4 of its displacement in 0.1 s and every cable has its length to 0.05 mm.
Time is that of the processor, of one thread; the wall clock is in the JSON file too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import cases
import numpy as np
from robots import ROOT, Array, load

from engine import Engine

RAMP = 0.5  # s
WINDOW = 0.1  # s


def chunk(case: Engine) -> int:
    """Steps between two looks at the effector: 10 ms of them, or one."""
    return max(1, round(0.01 / case.time_step))


def settle(case: Engine, command: Array, size: float, limit: float, clock: float) -> dict[str, Any]:
    """Pulls and holds. Ends where settled, after `limit` of simulated time [s] or `clock` of the clock [s]."""
    case.reset()
    window = max(1, round(WINDOW / case.time_step))
    count = chunk(case)
    done, last = 0, case.effector()
    wall = cpu = 0.0
    settled = False
    marks = [last]
    while not settled and done * case.time_step < limit and wall < clock:
        steps = np.arange(done, done + count)
        rows = np.minimum(1.0, (steps + 1) * case.time_step / RAMP)[:, None] * command
        begin, begin_cpu = time.perf_counter(), time.process_time()
        case.run(rows)
        cpu += time.process_time() - begin_cpu
        wall += time.perf_counter() - begin
        done += count
        now = case.effector()
        if not np.all(np.isfinite(now)):
            break
        marks.append(now)
        back = max(1, window // count)
        if done * case.time_step > RAMP + WINDOW and len(marks) > back:
            moved = max(float(np.linalg.norm(now - mark)) for mark in marks[-back - 1 :])
            settled = moved < 1e-4 * size and float(np.abs(case.misses()).max()) < 5e-5
    return {
        "settled": settled,
        "steps": done,
        "simulated_s": done * case.time_step,
        "wall_s": wall,
        "cpu_s": cpu,
        "tip": case.effector().tolist(),
        "misses_mm": (1e3 * case.misses()).tolist(),
    }


def processor() -> dict[str, Any]:
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "avx512": " avx512f" in info,
        "avx2": " avx2" in info,
        "cores": os.cpu_count(),
    }


def median(values: list[float]) -> float:
    return statistics.median(values) if values else float("nan")


def summary(case: Engine, runs: list[dict[str, Any]], truth: dict[str, Any]) -> dict[str, Any]:
    rest, own_rest = np.array(truth["rest"]), np.array(runs[0]["tip"])
    rest_run, runs = runs[0], runs[1:]
    moved, placed = [], []
    for run in runs:
        tip, own = np.array(truth["tips"][run["command"]]), np.array(run["tip"])
        size = float(np.linalg.norm(tip - rest))
        moved.append(100 * float(np.linalg.norm((own - own_rest) - (tip - rest))) / size)
        placed.append(100 * float(np.linalg.norm(own - tip)) / size)
    rate = median([run["steps"] / run["cpu_s"] for run in runs])
    return {
        "engine": case.engine,
        "model": case.model,
        "unknowns": case.unknowns,
        "time_step_s": case.time_step,
        "driven": case.driven,
        "settings": case.settings,
        "single_precision": case.single,
        "steps_per_s": rate,
        "real_time": rate * case.time_step,
        "wall_steps_per_s": median([run["steps"] / run["wall_s"] for run in runs]),
        "displacement_error_percent": [float(np.mean(moved)), float(np.max(moved))],
        "position_error_percent": [float(np.mean(placed)), float(np.max(placed))],
        "rest": rest_run,
        "settle_simulated_s": median([run["simulated_s"] for run in runs]),
        "settle_cpu_s": median([run["cpu_s"] for run in runs]),
        "settled": sum(run["settled"] for run in runs),
        "commands": len(runs),
        "runs": runs,
    }


def digits(x: float) -> str:
    """Three digits, without exponents."""
    return f"{x:,.{max(0, 2 - math.floor(math.log10(abs(x))))}f}" if x < 1000 else f"{float(f'{x:.3g}'):,.0f}"


def table(rows: list[dict[str, Any]]) -> str:
    head = (
        "| engine | model | unknowns | step | steps/s | × real time | displacement | position | settles in | "
        "at a cost of | settled |"
    )
    lines = [head, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for r in rows:
        moved, placed = (" ".join(f"{x:.2g} %" for x in r[f"{k}_error_percent"]) for k in ("displacement", "position"))
        lines.append(
            f"| {r['engine']} | {r['model']} | {r['unknowns']:,} | {1e3 * r['time_step_s']:g} ms | "
            f"{digits(r['steps_per_s'])} | {digits(r['real_time'])} | {moved.replace(' % ', ', ')} | "
            f"{placed.replace(' % ', ', ')} | {r['settle_simulated_s']:.2f} s | {digits(r['settle_cpu_s'])} s | "
            f"{r['settled']} of {r['commands']} |"
        )
    return "\n".join(lines)


SHOWN = {"finger": 4, "diamond": 0}  # the command of the picture


def picture(name: str, shapes: dict[str, Array], file: Path) -> None:
    """Nodes of each case in black over those of the full-order model in grey, seen along y."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(shapes), figsize=(2.4 * len(shapes), 4), sharex=True, sharey=True, squeeze=False)
    truth = next(iter(shapes.values()))
    for axis, (label, shape) in zip(axes[0], shapes.items()):
        axis.plot(1e3 * truth[:, 0], 1e3 * truth[:, 2], ".", color="0.75", markersize=2)
        axis.plot(1e3 * shape[:, 0], 1e3 * shape[:, 2], ".", color="k", markersize=1)
        axis.set_title(label, fontsize=7)
        axis.set_aspect("equal")
    figure.savefig(file, dpi=110, bbox_inches="tight")
    plt.close(figure)


def compare(
    name: str, wanted: list[str], rounds: int | None, limit: float, clock: float, folder: Path
) -> dict[str, Any]:
    robot = load(name)
    truth = json.loads((ROOT / "bench" / "results" / "peers-truth-2026-11-26" / f"{name}.json").read_text())
    assert np.allclose(truth["commands"], robot.commands), "the truth is of other commands: make it again"
    sizes = np.linalg.norm(np.array(truth["tips"]) - np.array(truth["rest"]), axis=1)
    built: list[tuple[cases.Case, Engine]] = []
    left_out: list[str] = []
    for case in cases.of(name):
        if wanted and not any(case.label.startswith(w) for w in wanted):
            continue
        try:
            engine = case.build(robot)
            for _ in range(2):  # compiles, where the engine does so
                engine.reset()
                for _ in range(2):
                    engine.run(np.zeros((chunk(engine), len(robot.cables))))
            built.append((case, engine))
        except ImportError as error:
            left_out.append(f"{case.label}: not installed ({error})")
            print("skipped:", left_out[-1], flush=True)
    runs: list[list[dict[str, Any]]] = [[] for _ in built]
    shapes: dict[str, Array] = {}
    everything = [np.zeros(len(robot.cables)), *robot.commands[:rounds]]
    for k, command in enumerate(everything, start=-1):  # -1: no cable pulled, the engine's own rest
        for (case, engine), record in zip(built, runs):
            if k >= 0 and case.commands is not None and k not in case.commands:
                continue
            result = settle(engine, command, float(sizes[max(k, 0)]), limit, case.clock or clock)
            record.append({"command": k, **result})
            if k == SHOWN[name]:
                shape = engine.shape()
                if shape is not None and np.all(np.isfinite(shape)):
                    shapes[case.label] = shape
            print(
                f"{name} {k} {case.label}: {result['steps']} steps, {result['cpu_s']:.2f} s, "
                f"{'settled' if result['settled'] else 'not settled'}, "
                f"tip {np.round(1e3 * np.array(result['tip']), 2)}",
                flush=True,
            )
    if shapes:
        picture(name, shapes, folder / f"{name}.png")
    rows = [summary(engine, record, truth) for (_, engine), record in zip(built, runs) if len(record) > 1]
    return {"rows": rows, "left_out": left_out, "truth": {k: truth[k] for k in ("coarser_off_percent",)}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", default="finger,diamond")
    parser.add_argument("--cases", default="", help="only cases whose labels begin with one of these")
    parser.add_argument("--rounds", type=int, help="only so many commands")
    parser.add_argument("--limit", type=float, default=8.0, help="simulated time for settling [s]")
    parser.add_argument("--clock", type=float, default=60.0, help="time by the clock for settling [s]")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    arguments.output.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), **processor(), "load_before": os.getloadavg()}
    wanted = [w for w in arguments.cases.split(",") if w]
    text = [
        "Errors: mean, largest, in percent of the displacement; steps/s and costs: medians, time of the processor.",
        "The last column counts commands under which the case settled, of those it was given.",
        "",
    ]
    for name in arguments.robots.split(","):
        report[name] = compare(name, wanted, arguments.rounds, arguments.limit, arguments.clock, arguments.output)
        text += [f"## {name.capitalize()}", "", table(report[name]["rows"]), ""]
    report["load_after"] = os.getloadavg()
    (arguments.output / "peers.json").write_text(json.dumps(report, indent=1) + "\n")
    loads = "; ".join(", ".join(f"{x:.1f}" for x in report[k]) for k in ("load_before", "load_after"))
    head = f"# Other engines\n\n{report['processor']}, {report['date']}; load before and after: {loads}.\n\n"
    (arguments.output / "peers.md").write_text(head + "\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
