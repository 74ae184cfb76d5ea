"""The finger as a planar rod of constant-curvature pieces in SoRoMoX: blocks and notches by beam theory, one tendon.

The rod runs along the middle of the spine behind the notches. A piece is a block or a notch; its bending stiffness is
that of its section about its own axis, of a notch averaged over its slanted sides. Nothing is fitted.
Only notches move, and only bend: blocks are 20 times stiffer, and they, stretch and shear would need shorter steps.
"""

from __future__ import annotations

import importlib.metadata
import math

import jax
import jax.numpy as jnp
import numpy as np
from robots import Array, Robot

from engine import Engine

jax.config.update("jax_enable_x64", True)

import itertools

from soromox.actuation import ThreadlikeActuator, ThreadlikeRouting
from soromox.systems import LinkSpec, PlanarPCS, PlanarPCSStructure

# The finger's drawing, assets/finger/finger.geo [mm]: distances down from the base.
FIRST, PITCH, NOTCHES, MOUTH, ROOT, SPINE = 21.0, 12.0, 6, 5.0, 2.5, 5.0
FIXED, ANCHOR, TIP, CABLE = 8.0, 90.0, 98.0, 3.0


def depth(z: float) -> float:
    return 14.0 - 0.03 * z


def width(z: float) -> float:
    return 20.0 - 0.05 * z


def thickness(z: float) -> float:
    """Of what is left behind the notches, or of a whole block [mm]."""
    for k in range(NOTCHES):
        away = abs(z - (FIRST + k * PITCH))
        if away < ROOT / 2:
            return SPINE
        if away < MOUTH / 2:
            open_part = (away - ROOT / 2) / (MOUTH / 2 - ROOT / 2)
            return SPINE + open_part * (depth(z) - SPINE)
    return depth(z)


def pieces() -> list[tuple[float, float]]:
    cuts = [FIXED]
    for k in range(NOTCHES):
        middle = FIRST + k * PITCH
        cuts += [middle - MOUTH / 2, middle + MOUTH / 2]
    cuts += [ANCHOR, TIP]
    return list(itertools.pairwise(cuts))


class SoromoxRod(Engine):
    def __init__(self, robot: Robot, *, time_step: float, damping: float, stiffness: float, integral: float) -> None:
        links = []
        for begin, end in pieces():
            z = np.linspace(begin, end, 101)
            section = np.array([width(x) * thickness(x) ** 3 / 12 for x in z]) * 1e-12  # m^4
            area = np.array([width(x) * thickness(x) for x in z]).mean() * 1e-6
            bending = robot.young / float((1 / section).mean())
            length = 1e-3 * (end - begin)
            matrix = length * np.diag([bending, robot.young * area, robot.young * area / 3])
            links.append(
                LinkSpec.circular(
                    length=length,
                    density=robot.density,
                    reference_strain=[0.0, 1.0, 0.0],
                    radius=math.sqrt(area / math.pi),
                    stiffness=jnp.array(matrix),
                    damping=jnp.array(damping * matrix),
                )
            )
        count = len(links)
        # Down along the spine, whose middle leans by 0.03 towards the palm. Local y points to +x, the palm.
        lean = math.atan(0.03)
        spine = 1e-3 * (-depth(FIXED) + SPINE / 2)
        offset = 1e-3 * (-CABLE) - spine
        routing = ThreadlikeRouting.linear(
            intercept=jnp.array([[0.0, offset, 0.0]]),
            slope=jnp.array([[0.0, -0.03, 0.0]]),
            start_segment_index=0,
            end_segment_index=count - 2,
        )
        self.rod = PlanarPCS.from_links(
            links,
            structure=PlanarPCSStructure(
                strain_selector=jnp.array(
                    [k % 2 == 1 and k < count - 1 and j == 0 for k in range(count) for j in range(3)]
                )
            ),
            gravity=jnp.array([0.0, -9.81]),
            base_pose=jnp.array([-math.pi / 2 + lean, spine, -1e-3 * FIXED]),
            actuators=ThreadlikeActuator.tendons(routing),
        )
        self.actuator = self.rod.actuators[0]
        self.robot, self.time_step = robot, time_step
        self.engine = f"SoRoMoX {importlib.metadata.version('soromox')}"
        self.model = f"rod, {NOTCHES} notches that bend"
        self.unknowns = NOTCHES
        self.settings = f"semi-implicit Euler, damping {damping:g} s of the stiffness"
        self.driven = "tension, feedback"
        self.gains = (stiffness, time_step / integral)
        zero = jnp.zeros(NOTCHES)
        self.length0 = float(self.actuator.path_lengths(self.rod, zero)[0])
        pose = np.array(self.rod.forward_kinematics(zero, jnp.array(1e-3 * (TIP - FIXED))))
        away = robot.effector_rest[[0, 2]] - pose[1:]
        c, s = math.cos(pose[0]), math.sin(pose[0])
        self.local = np.array([c * away[0] + s * away[1], -s * away[0] + c * away[1]])
        self.advance = jax.jit(self.steps)
        self.reset()

    def steps(self, state: tuple[jax.Array, ...], commands: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
        gain, rate = self.gains

        def one(state: tuple[jax.Array, ...], command: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
            q, v, total, _ = state
            error = self.actuator.path_lengths(self.rod, q)[0] - (self.length0 - command)
            total = jnp.maximum(0.0, total + rate * gain * error)
            tension = jnp.maximum(0.0, total + gain * error)
            slope = self.rod.forward_dynamics(0.0, jnp.concatenate([q, v]), (jnp.array([tension]),))
            v = v + self.time_step * slope[len(q) :]
            return (q + self.time_step * v, v, total, error), None

        final, _ = jax.lax.scan(one, state, commands)
        return tuple(final), None

    def reset(self) -> None:
        zero = jnp.zeros(self.unknowns)
        self.state = (zero, zero, jnp.array(0.0), jnp.array(0.0))

    def run(self, commands: Array) -> None:
        self.state, _ = self.advance(self.state, jnp.array(commands[:, 0]))
        self.state[0].block_until_ready()

    def effector(self) -> Array:
        end = np.array(self.rod.forward_kinematics(self.state[0], jnp.array(1e-3 * (TIP - FIXED))))
        c, s = math.cos(end[0]), math.sin(end[0])
        a, b = self.local
        return np.array([end[1] + c * a - s * b, 0.0, end[2] + s * a + c * b])

    def misses(self) -> Array:
        return np.array([float(self.state[3])])

    def shape(self) -> Array:
        """The line of the rod."""
        s = np.linspace(0, 1e-3 * (TIP - FIXED), 60)
        poses = np.array([self.rod.forward_kinematics(self.state[0], jnp.array(x)) for x in s])
        return np.column_stack([poses[:, 1], 0 * s, poses[:, 2]])
