"""A tip goes to a goal and stands still there, by the gradient through a run. Usage: arrive_at_rest.py MODEL [PICTURE]

Pulled at once to where they hold the tip at the goal, the cables leave it swinging. Commands over time are found that bring
it there at rest: Adam on the gradient of supple.Rollout, without derivatives of one's own.
"""

import sys

import numpy as np
import supple

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

model = supple.Model.load(sys.argv[1])
move, rest = 0.15, 0.35  # s: of the motion, and of standing still
led = supple.Simulation(model, inverse=True, integrator="quasi-static")
led.settle()
start = led.applied[0].copy()
led.goals[0, 0] += [0.008, 0.004, 0.004]
led.step(40)
goal, end = led.effectors[0, 0].copy(), led.applied[0].copy()

rollout = supple.Rollout(model)
first = supple.Simulation(model)
first.commands[0] = start
first.settle()
q0 = first.q.copy()
moving, steps = round(move / rollout.time_step), round((move + rest) / rollout.time_step)
tip = next(iter(rollout.effector_points.values()))
rest_tip, matrix = rollout.rest_points[tip], rollout.point_matrix[tip]
low, high = first.ranges[:, 0], first.ranges[:, 1]


def path(commands: Numbers) -> Numbers:
    """Where the tip is [steps + 1, 3] under commands [moving, actuators], and then those that hold the goal."""
    every = np.concatenate([commands, np.repeat(end[None], steps - moving, axis=0)])
    record = rollout.run(every[:, None, :], q=q0)
    return np.asarray(rest_tip + record["q"][:, 0] @ matrix.T)


def cost_and_gradient(commands: Numbers) -> tuple[float, Numbers]:
    away = path(commands)[moving:] - goal
    by_q = np.zeros((steps + 1, 1, rollout.n))
    by_q[moving:, 0] = away @ matrix
    return float(0.5 * np.sum(away**2)), rollout.gradient(q=by_q)["commands"][:moving, 0]


def farthest(commands: Numbers) -> float:
    return float(1e3 * np.linalg.norm(path(commands)[moving:] - goal, axis=1).max())


at_once = np.repeat(end[None], moving, axis=0)
ramp = start + np.linspace(0, 1, moving)[:, None] * (end - start)
commands, mean, square = ramp.copy(), np.zeros_like(ramp), np.zeros_like(ramp)
rate = 0.02 * np.abs(end - start).max()
for k in range(1, 301):
    cost, gradient = cost_and_gradient(commands)
    mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
    step = mean / (1 - 0.9**k) / (np.sqrt(square / (1 - 0.999**k)) + 1e-12)
    commands = np.clip(commands - rate * (1 - k / 301) * step, low, high)
for name, which in (("at once", at_once), ("on a ramp", ramp), ("optimised", commands)):
    print(f"{name}: {farthest(which):.3f} mm from the goal at most, after {1e3 * move:.0f} ms")

if len(sys.argv) > 2:
    from matplotlib import pyplot

    time = np.arange(steps + 1) * rollout.time_step
    for name, which in (("at once", at_once), ("on a ramp", ramp), ("optimised", commands)):
        pyplot.plot(time, 1e3 * np.linalg.norm(path(which) - goal, axis=1), label=name)
    pyplot.axvline(move, color="grey", linewidth=0.5)
    pyplot.xlabel("time [s]")
    pyplot.ylabel("distance to the goal [mm]")
    pyplot.legend()
    pyplot.savefig(sys.argv[2], dpi=150)
