"""What a step costs from Python beside a step in C++: one robot, a batch, two threads, and memory over many steps.

    python bench/python_door.py MODEL [--steps N]

Both loops run in turns, 15 times; printed are medians and the spread of the difference. `call_us` is the median of a call
that takes no step: all that Python adds, without the noise of steps. JSON on stdout.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time

import numpy as np
import supple


def seconds(action) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def python_steps(sim: supple.Simulation, count: int) -> None:
    for _ in range(count):
        sim.step()


def overhead(model: supple.Model, robots: int, count: int) -> dict[str, float]:
    sim = supple.Simulation(model, robots)
    low, high = sim.ranges.T
    sim.commands[:] = low + np.linspace(0.1, 0.3, robots)[:, None] * (high - low)
    sim.step(50)
    inside, outside = [], []
    for _ in range(15):
        inside.append(seconds(lambda: sim.step(count)) / count)
        outside.append(seconds(lambda: python_steps(sim, count)) / count)
    def calls() -> None:
        for _ in range(10_000):
            sim.step(0)

    call = statistics.median(seconds(calls) / 10_000 for _ in range(15))
    more = [b - a for a, b in zip(inside, outside)]
    return {
        "robots": robots,
        "cpp_us": 1e6 * statistics.median(inside),
        "python_us": 1e6 * statistics.median(outside),
        "more_us": 1e6 * statistics.median(more),
        "more_us_quartiles": [1e6 * q for q in statistics.quantiles(more, n=4)[::2]],
        "more_percent": 100 * statistics.median(more) / statistics.median(inside),
        "call_us": 1e6 * call,
        "call_percent": 100 * call / statistics.median(inside),
    }


def threads(model: supple.Model, count: int) -> float:
    """Steps per second of two simulations in two threads over those of one in one."""

    def run() -> None:
        supple.Simulation(model).step(count)

    def both() -> None:
        pair = [threading.Thread(target=run) for _ in range(2)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()

    ratios = [2 * seconds(run) / seconds(both) for _ in range(7)]
    return statistics.median(ratios)


def resident() -> float:
    """Memory of this process now [kB]."""
    with open("/proc/self/statm") as file:
        return 4.0 * int(file.read().split()[1])


def growth(model: supple.Model, count: int) -> float:
    """Resident memory that `count` steps add after the first tenth of them [kB]."""
    sim = supple.Simulation(model)
    sim.commands[:] = sim.ranges[:, 0] + 0.2 * (sim.ranges[:, 1] - sim.ranges[:, 0])
    python_steps(sim, count // 10)
    before = resident()
    for _ in range(count - count // 10):
        sim.step()
        _ = sim.effectors
    return resident() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of the look at memory")
    arguments = parser.parse_args()
    model = supple.Model.load(arguments.model)
    report = {
        "model": model.name,
        "modes": model.modes,
        "elements": model.elements,
        "overhead": [overhead(model, 1, 20_000), overhead(model, 256, 200)],
        "two_threads": threads(model, 100_000),
        "growth_kb": growth(model, arguments.steps),
        "steps": arguments.steps,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
