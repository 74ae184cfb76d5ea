#!/usr/bin/env python3
"""Drives `supple inverse --stdin` as a robot's controller would: one goal out, one set of commands back, step by step.

    python3 circle.py SUPPLE MODEL [STEPS]

SUPPLE is the program, MODEL a reduced model (or a scene). The tip goes round a circle of 10 mm, 5 mm above where it
is. What would go to the motors is printed. SI units: metres, newtons, seconds. Needs only Python's standard library.
"""

import json
import math
import subprocess
import sys


def main():
    program, model = sys.argv[1:3]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    robot = subprocess.Popen([program, "inverse", model, "--stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(request):
        robot.stdin.write(json.dumps(request) + "\n")
        robot.stdin.flush()
        answer = json.loads(robot.stdout.readline())
        if "error" in answer:
            raise SystemExit(answer["error"])
        return answer

    # Without a goal nothing is steered: the answer says where the robot is.
    start = ask({})
    name, tip = next(iter(start["reached"].items()))
    worst = 0
    for k in range(steps):
        out = min(1, 4 * k / steps)  # the first quarter leads to the circle
        angle = 2 * math.pi * max(0, (4 * k / steps - 1) / 3)
        goal = [tip[0] + 0.01 * out * math.cos(angle), tip[1] + 0.01 * out * math.sin(angle), tip[2] + 0.005 * out]
        answer = ask({"goal": {name: goal}})
        if answer["held"]:
            print("commands held:", answer["held"], file=sys.stderr)
        worst = max(worst, answer["distance"])
        print(" ".join(f"{actuator}={value:.6f}" for actuator, value in answer["commands"].items()))
    robot.stdin.close()
    robot.wait()
    print(f"largest distance to the goal: {1e3 * worst:.6f} mm", file=sys.stderr)


if __name__ == "__main__":
    main()
