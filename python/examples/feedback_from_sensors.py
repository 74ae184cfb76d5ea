"""A robot with a load that its controller does not know. Usage: feedback_from_sensors.py MODEL SCENE [PICTURE]

For the tentacle of assets/tentacle/reach.toml. The robot is the full-order model with a weight of 5 g at its tip; all that
is known of it are four markers, with noise of 0.2 mm. An estimator with the reduced model finds its state and the force at
the tip, and predictive control leads the tip round the ball by them. Beside it, the commands for the model without a weight.
"""

import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import supple

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

model, scene = supple.Model.load(sys.argv[1]), Path(sys.argv[2])
period, turn, turns = 0.005, 1.0, 4
weight = 0.005 * 9.81  # N

# The robot: the scene with one more force, which the model does not have.
tables = tomllib.loads(scene.read_text())
tables = {**tomllib.loads((scene.parent / tables.pop("include")).read_text()), **tables}
tables["actuator"].append(
    {
        "name": "weight",
        "type": "force",
        "point": ["0 mm", "0 mm", "-199 mm"],
        "direction": [0, 0, -1],
        "control": "force",
        "range": ["0 N", "1 N"],
    }
)
heavy = supple.scene_from_dict(tables, scene.parent)


def goal(at: float, rest: Numbers) -> Numbers:
    size = min(1.0, 2 * at)
    angle = 2 * np.pi * at / turn
    return np.asarray(rest + size * np.array([0.02 * np.cos(angle), 0.045 * np.sin(angle), 0.009]))


rest = supple.Simulation(model).effectors[0, 0].copy()
steps = round(turns * turn / period)
goals = np.array([goal((k + 1) * period, rest) for k in range(steps)])


def lead(feedback: bool) -> tuple[Numbers, Numbers, Numbers]:
    """Distances of the robot's tip from its goals [mm], estimated vertical forces at the tip [N], seconds of each period."""
    robot, known = supple.Simulation(heavy, time_step=period), supple.Simulation(model, time_step=period)
    robot.commands[0, -1] = weight
    control = supple.PredictiveControl(model, steps=10, time_step=0.015, period=period)
    estimator = supple.StateEstimator(model, steps=1, time_step=period, loads=["tip"])
    tips, forces, seconds = [], [], []
    for k in range(steps):
        ahead = np.array([[goal(k * period + (j + 1) * control.time_step, rest)] for j in range(control.steps)])
        begin = time.perf_counter()
        if feedback:
            plan = control.plan(estimator.q, estimator.v, known.applied[0], ahead, estimator.generalised_load)
        else:
            plan = control.plan(known.q[0], known.v[0], known.applied[0], ahead)
        seconds.append(time.perf_counter() - begin)
        robot.commands[0, :-1] = known.commands[0] = plan
        robot.step()
        known.step()  # without feedback, all that is known of the state
        begin = time.perf_counter()
        if feedback:
            estimator.update(known.applied[0], robot.sensors[0])
        seconds[-1] += time.perf_counter() - begin
        forces.append(estimator.load[0, 2])
        tips.append(robot.effectors[0, 0].copy())
    return 1e3 * np.linalg.norm(np.array(tips) - goals, axis=1), np.array(forces), np.array(seconds)


results = {name: lead(name == "with the estimator") for name in ("without feedback", "with the estimator")}
later = round(turn / period)
for name, (away, forces, seconds) in results.items():
    print(f"{name}: {np.sqrt(np.mean(away[later:] ** 2)):.2f} mm from the goal (rms), {away[later:].max():.2f} mm at most")
away, forces, seconds = results["with the estimator"]
print(f"force at the tip: {1e3 * np.mean(forces[later:]):.1f} mN on average, {-1e3 * weight:.1f} mN are there")
print(f"a period: {1e3 * np.median(seconds):.2f} ms in the median, 99 % within {1e3 * np.quantile(seconds, 0.99):.2f} ms")

if len(sys.argv) > 3:
    from matplotlib import pyplot

    at = period * np.arange(1, steps + 1)
    upper, lower = pyplot.subplots(2, sharex=True)[1]
    for name, (away, _, _) in results.items():
        upper.plot(at, away, label=name)
    upper.set_ylabel("distance of the tip\nfrom its goal [mm]")
    upper.legend()
    lower.plot(at, 1e3 * forces, label="estimated")
    lower.axhline(-1e3 * weight, color="grey", linewidth=0.5)
    lower.set_ylabel("force at the tip [mN]")
    lower.set_xlabel("time [s]")
    pyplot.savefig(sys.argv[3], dpi=150)
