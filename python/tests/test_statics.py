"""Equilibria and their derivatives, in NumPy, PyTorch and JAX."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import supple
from conftest import bar_tables

ROBOTS = 2


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape)


@pytest.fixture(scope="module")
def statics(model: supple.Model) -> supple.Statics:
    return supple.Statics(model, ROBOTS)


@pytest.fixture
def given(statics: supple.Statics) -> dict[str, np.ndarray]:
    """Both cables pull."""
    return {
        "commands": np.array([[4e-3, 1e-3], [2e-3, 3e-3]]),
        "loads": 1e-2 * random(ROBOTS, statics.n),
        "gravity": np.array([0, 0, -9.81]) + random(ROBOTS, 3),
        "material_scale": 1 + 0.1 * random(ROBOTS, statics.regions),
        "density": 1 + 0.1 * random(ROBOTS),
    }


def test_equilibria_are_where_robots_settle(statics: supple.Statics, model: supple.Model) -> None:
    commands = np.array([[4e-3, 1e-3], [2e-3, 3e-3]])
    rest = statics.solve(commands)
    sim = supple.Simulation(model, ROBOTS)
    sim.commands[:] = commands
    sim.settle()
    np.testing.assert_allclose(rest["q"], sim.q, atol=1e-9)
    np.testing.assert_allclose(rest["forces"], sim.forces, rtol=1e-6)


def test_gradients_are_those_of_differences(statics: supple.Statics, given: dict[str, np.ndarray]) -> None:
    by = {"q": random(ROBOTS, statics.n), "forces": 1e-3 * random(ROBOTS, 2)}

    def cost(values: dict[str, np.ndarray]) -> float:
        rest = statics.solve(**values)
        return float(sum((by[name] * rest[name]).sum() for name in by))

    statics.solve(**given)
    gradient = statics.gradient(**by)
    matrices = statics.matrices()
    sizes = {"commands": 1e-5, "loads": 1e-4, "gravity": 1e-1, "material_scale": 1e-3, "density": 1e-2}
    for name, size in sizes.items():
        direction = size * random(*given[name].shape)
        ahead, behind = (cost(given | {name: given[name] + sign * direction}) for sign in (1, -1))
        exact = (gradient[name] * direction).sum()
        # Central differences are off by their steps squared, and by what equilibria are found to over them.
        assert exact == pytest.approx((ahead - behind) / 2, rel=1e-4), name
    # By q alone, both ways through.
    statics.solve(**given)
    gradient = statics.gradient(q=by["q"])
    for name in ("commands", "loads"):
        np.testing.assert_allclose(np.einsum("rnk,rn->rk", matrices[name], by["q"]), gradient[name], rtol=1e-6)


def test_on_a_smooth_floor(folder: Path, model_on_floor: supple.Model) -> None:
    with pytest.raises(supple.InputError, match="'floor' has friction"):
        supple.Statics(model_on_floor)
    tables = bar_tables()
    tables["obstacle"] = [{"name": "floor", "type": "plane", "position": [0.0, 0.0, "-4 mm"]}]
    tables["contact"] = {"spacing": "10 mm"}
    smooth = supple.reduce(supple.scene_from_dict(tables, folder), rate_seconds=0.02, accept_errors=True).model
    statics = supple.Statics(smooth)
    tip = statics.effector_points["tip"]

    def height(pull: float) -> float:
        rest = statics.solve(np.array([[0, pull]]))
        return float((statics.rest_points + statics.point_matrix @ rest["q"][0])[tip, 2])

    sim = supple.Simulation(smooth)
    for pull in (1e-3, 5.5e-3):
        sim.commands[:] = [0, pull]
        sim.settle()
        assert sim.contact_forces[0, :, 0, 2].sum() > 0.1  # its weight bends it onto the floor
        np.testing.assert_allclose(height(pull), sim.effectors[0, 0, 2], atol=1e-8)
        slope = statics.gradient(q=statics.point_matrix[tip, 2][None])["commands"][0, 1]
        assert slope == pytest.approx((height(pull + 1e-6) - height(pull - 1e-6)) / 2e-6, rel=1e-4)


def test_what_does_not_fit(statics: supple.Statics) -> None:
    with pytest.raises(ValueError, match="commands is not of shape"):
        statics.solve(np.zeros((3, 2)))
    with pytest.raises(supple.InputError, match="not finite"):
        statics.solve(np.full((ROBOTS, 2), np.nan))
    with pytest.raises(supple.InputError, match="no equilibrium to differentiate"):
        statics.gradient()


def test_pytorch(statics: supple.Statics, given: dict[str, np.ndarray]) -> None:
    torch = pytest.importorskip("torch")
    from supple import torch as soft

    tensors = {name: torch.tensor(values, requires_grad=True) for name, values in given.items()}
    q, forces = soft.rest(statics, **tensors)
    tip = soft.points(statics, q)[:, statics.effector_points["tip"]]
    (tip.square().sum() + 1e-3 * forces.sum()).backward()
    rest = statics.solve(**given)
    points = statics.rest_points + np.einsum("pin,rn->rpi", statics.point_matrix, rest["q"])
    at = statics.effector_points["tip"]
    by_q = np.einsum("in,ri->rn", statics.point_matrix[at], 2 * points[:, at])
    expected = statics.gradient(q=by_q, forces=np.full((ROBOTS, 2), 1e-3))
    for name, tensor in tensors.items():
        np.testing.assert_allclose(tensor.grad, expected[name], rtol=1e-9)
    with pytest.raises(supple.InputError, match="shape"):
        soft.rest(statics, torch.zeros((1, 1), dtype=torch.float64))


def test_jax(statics: supple.Statics, given: dict[str, np.ndarray]) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from supple import jax as soft

    def cost(values: dict[str, object]) -> object:
        q, forces = soft.rest(statics, **values)
        return jax.numpy.sum(q**2) + 1e-3 * jax.numpy.sum(forces)

    found = jax.jit(jax.grad(cost))(given)
    rest = statics.solve(**given)
    expected = statics.gradient(q=2 * rest["q"], forces=np.full((ROBOTS, 2), 1e-3))
    for name in given:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
