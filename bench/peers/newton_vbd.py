"""The robots in Newton: tetrahedra of a stable neo-Hookean material under vertex block descent, on the CPU."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from robots import GRAVITY, Array, Robot

from engine import Engine, Pull

wp.config.quiet = True


class NewtonSoft(Engine):
    """solver: "vbd", "xpbd" or "semi-implicit". damping [Pa s] is of the elements; drag [1/s] times mass and velocity
    is a force against the motion, so that the robot settles.
    """

    single = True

    def __init__(
        self,
        robot: Robot,
        solver: str,
        *,
        time_step: float,
        iterations: int,
        damping: float,
        drag: float,
        stiffness: float,
        integral: float,
    ) -> None:
        wp.init()
        wp.set_device("cpu")
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=tuple(GRAVITY))
        mu = robot.young / (2 * (1 + robot.poisson))
        lame = robot.young * robot.poisson / ((1 + robot.poisson) * (1 - 2 * robot.poisson))
        builder.add_soft_mesh(
            pos=wp.vec3(0, 0, 0),
            rot=wp.quat_identity(),
            scale=1.0,
            vel=wp.vec3(0, 0, 0),
            vertices=[wp.vec3(*x) for x in robot.nodes],
            indices=robot.tetrahedra.ravel().tolist(),
            density=robot.density,
            k_mu=mu,
            k_lambda=lame,
            k_damp=damping,
            particle_radius=1e-4,
        )
        for node in robot.fixed:
            builder.particle_mass[node] = 0.0
            builder.particle_flags[node] = int(builder.particle_flags[node]) & ~int(newton.ParticleFlags.ACTIVE)
        builder.color()
        self.m = builder.finalize(device="cpu")
        self.m.particle_max_radius = 0.0  # no contact between particles
        self.m.particle_grid = None
        if solver == "vbd":
            self.solver = newton.solvers.SolverVBD(
                self.m, iterations=iterations, particle_enable_self_contact=False, particle_enable_tile_solve=False
            )
        elif solver == "xpbd":
            self.solver = newton.solvers.SolverXPBD(self.m, iterations=iterations)
        else:
            self.solver = newton.solvers.SolverSemiImplicit(self.m, enable_tri_contact=False)
        self.robot, self.time_step = robot, time_step
        self.engine = f"Newton {newton.__version__}"
        self.model = f"full, {solver}"
        self.unknowns = 3 * (len(robot.nodes) - len(robot.fixed))
        self.settings = f"{iterations} iterations, damping {damping:g} Pa s, drag {drag:g}/s"
        self.drag = (-drag * self.m.particle_mass.numpy())[:, None]
        self.driven = "forces, feedback"
        self.pull = Pull(robot, stiffness, integral, time_step)
        self.control = self.m.control()
        self.reset()

    def reset(self) -> None:
        self.now, self.then = self.m.state(), self.m.state()
        self.pull.reset()

    def points(self, nodes: Array, weights: Array) -> Array:
        return np.asarray(np.einsum("ij,ijk->ik", weights, self.now.particle_q.numpy()[nodes]))

    def run(self, commands: Array) -> None:
        for row in commands:
            force = self.pull.forces(self.points(self.pull.nodes, self.pull.weights), row)
            on_nodes = self.now.particle_f.numpy()  # the engine's own memory
            np.multiply(self.now.particle_qd.numpy(), self.drag, out=on_nodes)
            np.add.at(on_nodes, self.pull.nodes, self.pull.weights[:, :, None] * force[:, None])
            self.solver.step(self.now, self.then, self.control, None, self.time_step)
            self.now, self.then = self.then, self.now

    def effector(self) -> Array:
        point = self.robot.effector
        return np.asarray(self.points(point.nodes[None], point.weights[None])[0], dtype=np.float64)

    def misses(self) -> Array:
        return self.pull.errors

    def shape(self) -> Array:
        return np.array(self.now.particle_q.numpy(), dtype=np.float64)
