#!/usr/bin/env python3
"""Predictive control of the finger at 1 kHz beside inverse control, both replayed on the full model (decision 0053).

  bench/finger_control.py MODEL     of assets/finger, reduced with --solids fastest

The tip goes to and fro along its path at rest twice a second for 1.5 s; figures leave out the first third.
"""

import sys
import time

import numpy as np
import supple

PERIOD, STEPS, AHEAD, STEP = 0.001, 1500, 10, 0.005  # s; of the run; of the horizon; s

model = supple.Model.load(sys.argv[1])
at_rest = supple.Simulation(model, integrator="quasi-static")
curve = []
for command in np.linspace(0, 0.012, 60):
    at_rest.commands[0] = command
    at_rest.settle()
    curve.append(at_rest.effectors[0, 0].copy())


def goal(at):
    place = 0.45 * (1 - np.cos(4 * np.pi * at)) * (len(curve) - 1)
    k = int(place)
    return curve[k] + (place - k) * (curve[k + 1] - curve[k])


robot = supple.Simulation(model, time_step=PERIOD)
robot.settle()
control = supple.PredictiveControl(model, steps=AHEAD, time_step=STEP, period=PERIOD)
inverse = supple.Simulation(model, inverse=True, time_step=PERIOD)
inverse.settle()
seconds, commands, tips = [], {"predictive": [], "inverse": []}, {"predictive": [], "inverse": []}
for k in range(STEPS):
    goals = np.array([[goal(k * PERIOD + (j + 1) * STEP)] for j in range(AHEAD)])
    begin = time.perf_counter()
    robot.commands[0] = control.plan(robot.q[0], robot.v[0], robot.applied[0], goals)
    seconds.append(time.perf_counter() - begin)
    inverse.goals[0, 0] = goal((k + 1) * PERIOD)
    for name, each in (("predictive", robot), ("inverse", inverse)):
        each.step()
        commands[name].append(each.applied[0].copy())
        tips[name].append(each.effectors[0, 0].copy())
goals = np.array([goal((k + 1) * PERIOD) for k in range(STEPS)])


def distance(path):
    away = 1e3 * np.linalg.norm(np.array(path) - goals, axis=1)[STEPS // 3 :]
    return f"{np.sqrt(np.mean(away**2)):.3f} mm rms, {away.max():.3f} mm at most"


for name, given in commands.items():
    full = supple.Simulation(supple.robot("finger"), time_step=PERIOD)
    full.settle()
    path = []
    for command in given:
        full.commands[0] = command
        full.step()
        path.append(full.effectors[0, 0].copy())
    print(f"{name}: {distance(tips[name])}; replayed on the full model {distance(path)}")
print(f"a plan: {1e3 * np.median(seconds):.3f} ms in the median, 99 % within {1e3 * np.quantile(seconds, 0.99):.3f} ms")
