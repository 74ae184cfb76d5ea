"""Inverse control: the tip of a robot follows a circle of its own model's file. Usage: inverse_circle.py MODEL"""

import sys

import numpy as np
import supple

model = supple.Model.load(sys.argv[1])
robot = supple.Simulation(model, inverse=True)
robot.settle()
centre, radius, period = robot.goals[0, 0].copy(), 0.01, 4.0
worst = 0.0
for k in range(int(2 * period / robot.time_step)):
    angle = 2 * np.pi * k * robot.time_step / period
    size = radius * min(1.0, 2 * k * robot.time_step / period)
    robot.goals[0, 0] = centre + size * np.array([np.cos(angle), np.sin(angle), 1.5])  # above: cables only pull
    robot.step()
    if robot.time > period:
        worst = max(worst, float(robot.goal_errors[0, 0]))
print(f"farthest from the goal in the second turn: {1e3 * worst:.2f} mm")
for name, command, dimension in zip(robot.actuator_names, robot.applied[0], robot.command_dimensions):
    print(name, supple.format_quantity(command, dimension))
