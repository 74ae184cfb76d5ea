"""The robots in MuJoCo: a flex of tetrahedra, full or embedded in cells of trilinear or quadratic shape functions."""

from __future__ import annotations

import mujoco
import numpy as np
from robots import Array, Robot

from engine import Engine, Pull

# Unconverged solves are counted (MujocoFlex.warnings), not printed one by one.
mujoco.set_mju_user_warning(lambda message: None)


def text(values: Array) -> str:
    return " ".join(f"{x:.9g}" for x in np.ravel(values))


def flex(robot: Robot, dof: str, cells: tuple[int, int, int] | None, pins: Array, options: str, damping: float) -> str:
    """The model in MJCF. Contacts are off; radius is for contacts only."""
    grid = f'cellcount="{text(np.array(cells))}"' if cells else ""
    pin = f'<pin id="{text(pins)}"/>' if len(pins) else ""
    return f"""
<mujoco>
  <option {options}/>
  <size memory="1G"/>
  <worldbody>
    <body name="robot">
      <flexcomp name="flex" type="direct" dim="3" dof="{dof}" {grid} mass="{robot.masses.sum():.9g}" radius="1e-4"
          point="{text(robot.nodes)}" element="{text(robot.tetrahedra)}">
        {pin}
        <elasticity young="{robot.young}" poisson="{robot.poisson}" damping="{damping}"/>
        <contact contype="0" conaffinity="0" selfcollide="none"/>
      </flexcomp>
    </body>
  </worldbody>
</mujoco>"""


class MujocoFlex(Engine):
    """dof: full, trilinear or quadratic. margin [m]: nodes of the grid so near to a fixed node's box are pinned."""

    def __init__(
        self,
        robot: Robot,
        dof: str,
        *,
        cells: tuple[int, int, int] | None = None,
        time_step: float,
        iterations: int,
        tolerance: float,
        damping: float,
        stiffness: float,
        integral: float,
        margin: float = 0.0,
    ) -> None:
        options = (
            f'integrator="discrete" solver="CG" timestep="{time_step}" '
            f'iterations="{iterations}" tolerance="{tolerance}"'
        )
        if dof == "full":
            pins = robot.fixed.astype(float)
        else:
            whole = mujoco.MjModel.from_xml_string(flex(robot, dof, cells, np.zeros(0), options, damping))
            grid = whole.flex_node0
            low = robot.nodes[robot.fixed].min(axis=0) - margin - 1e-9
            high = robot.nodes[robot.fixed].max(axis=0) + margin + 1e-9
            pins = np.flatnonzero(np.all((grid >= low) & (grid <= high), axis=1)).astype(float)
        self.m = mujoco.MjModel.from_xml_string(flex(robot, dof, cells, pins, options, damping))
        self.d = mujoco.MjData(self.m)
        self.robot, self.time_step = robot, time_step
        self.engine = f"MuJoCo {mujoco.__version__}"
        self.model = dof if dof == "full" else f"{dof}, {' × '.join(str(n) for n in cells or ())} cells"
        self.unknowns = int(self.m.nv)
        self.settings = f"integrator discrete, {iterations} iterations, tolerance {tolerance:g}, damping {damping:g} s"
        self.driven = "forces, feedback"
        self.pull = Pull(robot, stiffness, integral, time_step)
        self.masses(robot, dof)
        self.jacobian()

    def masses(self, robot: Robot, dof: str) -> None:
        """Of full models the compiler spreads the mass evenly over the nodes: here by the volumes around them."""
        if dof != "full":
            return
        for node, body in enumerate(self.m.flex_vertbodyid):
            if self.m.body_dofnum[body] == 3:
                self.m.body_mass[body] = robot.masses[node]
                self.m.body_inertia[body] = 1e-12
        mujoco.mj_setConst(self.m, self.d)

    def jacobian(self) -> None:
        """Derivative of the points of the cables by the coordinates: constant, as joints only slide."""
        mujoco.mj_resetData(self.m, self.d)
        mujoco.mj_kinematics(self.m, self.d)
        mujoco.mj_flex(self.m, self.d)
        rest = np.array(self.d.flexvert_xpos)
        self.offset = rest - self.robot.nodes
        wanted = np.unique(np.append(self.pull.nodes, self.robot.effector.nodes))
        rows = np.zeros((len(wanted), self.m.nv))
        for dof in range(0, self.m.nv, 3):
            self.d.qpos[:] = 0
            self.d.qpos[dof] = 1e-3
            if self.m.flex_interp[0] == 0:
                body = self.m.dof_bodyid[dof]
                moved = (self.m.flex_vertbodyid[wanted] == body).astype(float)
            else:
                mujoco.mj_kinematics(self.m, self.d)
                mujoco.mj_flex(self.m, self.d)
                moved = (self.d.flexvert_xpos[wanted, 0] - rest[wanted, 0]) / 1e-3
            rows[:, dof] = moved
        place = {int(node): k for k, node in enumerate(wanted)}

        def of_point(nodes: Array, weights: Array) -> Array:
            return np.asarray(sum(w * rows[place[int(n)], ::3] for n, w in zip(nodes, weights)))

        full = np.array([of_point(n, w) for n, w in zip(self.pull.nodes, self.pull.weights)])
        self.columns = np.flatnonzero(np.abs(full).max(axis=0) > 1e-12)
        self.weights = full[:, self.columns]
        self.points_rest = np.concatenate([cable.rest for cable in self.robot.cables])
        self.effector_row = of_point(self.robot.effector.nodes, self.robot.effector.weights)
        mujoco.mj_resetData(self.m, self.d)

    def reset(self) -> None:
        mujoco.mj_resetData(self.m, self.d)
        self.pull.reset()

    def run(self, commands: Array) -> None:
        q, force = self.d.qpos.reshape(-1, 3), self.d.qfrc_applied.reshape(-1, 3)
        for row in commands:
            points = self.points_rest + self.weights @ q[self.columns]
            force[self.columns] = self.weights.T @ self.pull.forces(points, row)
            mujoco.mj_step(self.m, self.d)

    def effector(self) -> Array:
        return np.asarray(self.robot.effector_rest + self.effector_row @ self.d.qpos.reshape(-1, 3))

    def misses(self) -> Array:
        return self.pull.errors

    def shape(self) -> Array:
        mujoco.mj_kinematics(self.m, self.d)
        mujoco.mj_flex(self.m, self.d)
        return np.array(self.d.flexvert_xpos)

    def warnings(self) -> int:
        """Warnings of the solver since reset()."""
        return int(sum(w.number for w in self.d.warning))
