"""A finger is designed for the curve that it is to bend to. Usage: design_a_finger.py MODEL SCENE [PICTURE]

For assets/finger/design.toml, whose six segments have moduli of their own. Wanted is a curve that hardly bends at its
base and curls towards the tip, which a finger of one material misses by 4 mm. The moduli and how far the cable is pulled
are found by Gauss-Newton on exact derivatives of the reduced model at rest; the full-order model then shows what they
are worth.
"""

import sys
import tomllib

import numpy as np
import supple

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

model = supple.Model.load(sys.argv[1])
statics = supple.Statics(model)
names = list(model.parameters)
places = list(statics.effector_points.values())
axes = [0, 2]  # the finger bends in the xz-plane
matrix = statics.point_matrix[places][:, axes].reshape(-1, statics.n)  # [2 places, n]
rest = statics.rest_points[places][:, axes]
low, high = np.array([model.parameters[name]["range"] for name in names]).T
pull_low, pull_high = supple.Simulation(model).ranges[0]

# What a change of each parameter is to the regions of the body, which it is proportional to.
one = np.asarray(model.material_scale({}))
by_parameter = np.array([model.material_scale({name: 2.0}) - one for name in names])


def wanted() -> Numbers:
    """Places [6, 2, m] on a curve whose curvature grows with the distance from the base; it turns by 75 degrees."""
    along = np.linspace(0, 0.1, 2001)
    angle = np.deg2rad(75) * (along / 0.1) ** 2
    tangent = np.array([np.sin(angle), -np.cos(angle)]).T
    curve = np.array([-0.011, 0]) + np.cumsum(tangent, axis=0) * along[1]
    at = np.searchsorted(along, -rest[:, 1])
    beside = (rest[:, 0] + 0.011)[:, None]  # of the spine's middle
    return np.asarray(curve[at] + beside * np.array([np.cos(angle[at]), np.sin(angle[at])]).T)


goal = wanted()


def bent(design: Numbers) -> tuple[Numbers, Numbers]:
    """Where the places come to rest [6, 2, m], and its derivatives by the design [12, 7]: moduli, then the pull."""
    q = statics.solve(design[None, -1:], material_scale=(one + (design[:-1] - 1) @ by_parameter)[None])["q"]
    jacobian = []
    for row in matrix:
        gradient = statics.gradient(q=row[None])
        jacobian.append(np.append(by_parameter @ gradient["material_scale"][0], gradient["commands"][0]))
    return np.asarray(rest + (q[0] @ matrix.T).reshape(-1, 2)), np.array(jacobian)


def farthest(points: Numbers) -> float:
    return float(1e3 * np.linalg.norm(points - goal, axis=1).max())


def search(design: Numbers, free: Flags) -> Numbers:
    """Damped Gauss-Newton on logarithms of moduli and pull. What is at a bound stays if it would leave the range."""
    lower, upper = np.append(low, pull_low + 1e-4), np.append(high, pull_high)
    points, jacobian = bent(design)
    damping = 1e-3
    for _ in range(60):
        scaled = jacobian * design  # by logarithms
        away = (points - goal).ravel()
        downhill = -scaled.T @ away
        moving = free & ~((design <= lower) & (downhill < 0)) & ~((design >= upper) & (downhill > 0))
        part = scaled[:, moving]
        normal = part.T @ part
        step = np.zeros_like(design)
        step[moving] = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), downhill[moving])
        tried = np.clip(design * np.exp(np.clip(step, -0.5, 0.5)), lower, upper)
        if np.abs(tried / design - 1).max() < 1e-4:
            break
        there, its_jacobian = bent(tried)
        if np.sum((there - goal) ** 2) < np.sum(away**2):
            design, points, jacobian, damping = tried, there, its_jacobian, 0.3 * damping
        else:
            damping *= 10
    return design


def full(design: Numbers) -> Numbers:
    """The full-order model with these moduli, at rest."""
    tables = tomllib.loads(supple.Scene(sys.argv[2]).text)
    del tables["parameter"]
    for material, factor in zip(tables["body"]["material"], design[:-1]):
        material["young"] *= float(factor)
    robot = supple.Simulation(supple.scene_from_dict(tables), integrator="quasi-static")
    robot.commands[0] = design[-1]
    robot.settle()
    return np.asarray(robot.effectors[0][:, axes])


uniform = np.append(np.ones(len(names)), 0.5 * (pull_low + pull_high))
pulled = search(uniform, np.arange(len(uniform)) == len(names))
designed = search(pulled, np.full(len(uniform), True))
shapes = {}
for title, design in (("one material", pulled), ("designed", designed)):
    shapes[title] = full(design)
    print(
        f"{title}: {farthest(bent(design)[0]):.2f} mm from the curve at most, full-order model "
        f"{farthest(shapes[title]):.2f} mm; pulled by {1e3 * design[-1]:.1f} mm"
    )
print("moduli:", ", ".join(f"{name} x {factor:.2f}" for name, factor in zip(names, designed)))

if len(sys.argv) > 3:
    from matplotlib import pyplot

    pyplot.plot(1e3 * goal[:, 0], 1e3 * goal[:, 1], "k--", label="wanted")
    for title, points in shapes.items():
        pyplot.plot(1e3 * points[:, 0], 1e3 * points[:, 1], "o-", label=title)
    pyplot.axis("equal")
    pyplot.xlabel("x [mm]")
    pyplot.ylabel("z [mm]")
    pyplot.legend()
    pyplot.savefig(sys.argv[3], dpi=150)
