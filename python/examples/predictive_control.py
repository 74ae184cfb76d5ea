"""A tip goes round an obstacle that the body leans on. Usage: predictive_control.py MODEL SCENE [PICTURE]

For the tentacle of assets/tentacle/reach.toml. The goal moves on an ellipse, a second a turn, half of which lies behind a
ball. Predictive control sees 0.15 s ahead and plans every 5 ms; inverse control finds the commands of one step after the
other. Both lead the reduced model; the commands of both are then replayed on the full-order model.
"""

import sys
import time

import numpy as np
import supple

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

model = supple.Model.load(sys.argv[1])
period, turn, turns = 0.005, 1.0, 3
robot = supple.Simulation(model, time_step=period)
rest = robot.effectors[0, 0].copy()


def goal(at: float) -> Numbers:
    """The ellipse, entered from rest in half a second."""
    size = min(1.0, 2 * at)
    angle = 2 * np.pi * at / turn
    return np.asarray(rest + size * np.array([0.02 * np.cos(angle), 0.045 * np.sin(angle), 0.009]))


def distance(tips: Numbers) -> Numbers:
    """Of the tip after each period from its goal [mm]."""
    goals = np.array([goal((k + 1) * period) for k in range(len(tips))])
    return np.asarray(1e3 * np.linalg.norm(tips - goals, axis=1))


steps = round(turns * turn / period)
control = supple.PredictiveControl(model, steps=10, time_step=0.015, period=period)
commands, tips, seconds, touching = [], [], [], 0
for k in range(steps):
    ahead = [[goal(k * period + (j + 1) * control.time_step)] for j in range(control.steps)]
    begin = time.perf_counter()
    robot.commands[0] = control.plan(robot.q[0], robot.v[0], robot.applied[0], np.array(ahead))
    seconds.append(time.perf_counter() - begin)
    robot.step()
    commands.append(robot.applied[0].copy())
    tips.append(robot.effectors[0, 0].copy())
    touching += len(robot.touches(0)) > 0

one_step = supple.Simulation(model, inverse=True, time_step=period)
others, other_tips = [], []
for k in range(steps):
    one_step.goals[0, 0] = goal((k + 1) * period)
    one_step.step()
    others.append(one_step.applied[0].copy())
    other_tips.append(one_step.effectors[0, 0].copy())


def replay(given: list[Numbers]) -> Numbers:
    full = supple.Simulation(supple.Scene(sys.argv[2]), time_step=period)
    path = []
    for command in given:
        full.commands[0] = command
        full.step()
        path.append(full.effectors[0, 0].copy())
    return np.array(path)


results = {
    "predictive, reduced": distance(np.array(tips)),
    "predictive, replayed": distance(replay(commands)),
    "inverse, reduced": distance(np.array(other_tips)),
    "inverse, replayed": distance(replay(others)),
}
later = round(turn / period)  # the first turn is that of the entry
for name, away in results.items():
    print(f"{name}: {np.sqrt(np.mean(away[later:] ** 2)):.2f} mm from the goal (rms), {away[later:].max():.2f} mm at most")
print(f"in contact {100 * touching / steps:.0f} % of the time")
print(f"a plan: {1e3 * np.median(seconds):.2f} ms in the median, 99 % within {1e3 * np.quantile(seconds, 0.99):.2f} ms")

if len(sys.argv) > 3:
    from matplotlib import pyplot

    at = period * np.arange(1, steps + 1)
    for name, away in results.items():
        pyplot.plot(at, away, label=name, linestyle="-" if "replayed" in name else ":")
    pyplot.xlabel("time [s]")
    pyplot.ylabel("distance of the tip from its goal [mm]")
    pyplot.legend()
    pyplot.savefig(sys.argv[3], dpi=150)
