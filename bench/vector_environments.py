"""Steps of vector environments per second, against their number.

    python bench/vector_environments.py [--device cpu] [--counts 1,16,...] [TASK ...]     all tasks by default

Models come from the cache, or are reduced first. A step of an environment is one control step of its robot (`substeps` time steps). Medians of 5 measurements of a second
each, random actions. JSON on stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time

import numpy as np
from supple import gym
from supple._tasks import TASKS


def rate(task: str, count: int, device: str) -> dict[str, float]:
    envs = gym.SuppleVectorEnv(task, count, device=device)
    envs.reset(seed=1)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (8, count, envs.task.inputs))
    envs.step(actions[0])
    rates = []
    for _ in range(5):
        steps, begin = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - begin < 1:
            envs.step(actions[steps % 8])
            steps += 1
        rates.append(steps * count / (time.perf_counter() - begin))
    return {
        "environments": count,
        "control_steps_per_s": statistics.median(rates),
        "least": min(rates),
        "time_steps_per_s": envs.task.substeps * statistics.median(rates),
        "failed": int(envs.sim.failed.sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--counts", default="1,16,256,1024,4096,16384")
    asked = parser.parse_args()
    report = {"cpus": os.cpu_count(), "device": asked.device, "tasks": {}}
    for task in asked.tasks:
        rows = []
        for count in map(int, asked.counts.split(",")):
            rows.append(rate(task, count, asked.device))
            print(task, rows[-1], file=sys.stderr, flush=True)
            if count / rows[-1]["control_steps_per_s"] > 5:
                break  # a step takes five seconds already
        report["tasks"][task] = rows
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
