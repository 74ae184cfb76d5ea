"""Gradients through runs, in NumPy, PyTorch and JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import supple
from conftest import bar_tables

STEPS, ROBOTS = 12, 3


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape)


@pytest.fixture(scope="module")
def rollout(model: supple.Model) -> supple.Rollout:
    return supple.Rollout(model, ROBOTS)


@pytest.fixture
def given(rollout: supple.Rollout) -> dict[str, np.ndarray]:
    """A run in the middle of all ranges, in which cables pull."""
    return {
        "commands": 2e-3 + 1e-3 * np.sin(random(STEPS, ROBOTS, 2)),
        "q": 1e-5 * random(ROBOTS, rollout.n),
        "v": 1e-3 * random(ROBOTS, rollout.n),
        "loads": 1e-3 * random(STEPS, ROBOTS, rollout.n),
        "gravity": np.array([0, 0, -9.81]) + random(ROBOTS, 3),
        "material_scale": 1 + 0.1 * random(ROBOTS, rollout.regions),
        "density": 1 + 0.1 * random(ROBOTS),
        "rayleigh_mass": 0.2 + 0.1 * np.abs(random(ROBOTS)),
        "rayleigh_stiffness": 0.002 + 0.001 * np.abs(random(ROBOTS)),
    }


def test_steps_are_those_of_a_simulation(rollout: supple.Rollout, model: supple.Model) -> None:
    commands = 2e-3 + 1e-3 * np.sin(random(STEPS, ROBOTS, 2))
    record = rollout.run(commands)
    assert record["q"].shape == (STEPS + 1, ROBOTS, rollout.n) and record["forces"].shape == (STEPS, ROBOTS, 2)
    sim = supple.Simulation(model, ROBOTS)
    for k in range(STEPS):
        sim.commands[:] = commands[k]
        sim.step()
        assert np.array_equal(record["q"][k + 1], sim.q) and np.array_equal(record["forces"][k], sim.forces)
    points = rollout.rest_points + np.einsum("pin,rn->rpi", rollout.point_matrix, record["q"][-1])
    np.testing.assert_allclose(points, sim.points, atol=1e-12)
    tip = rollout.effector_points["tip"]
    np.testing.assert_allclose(points[:, tip], sim.effectors[:, 0], atol=1e-12)


def test_gradients_are_those_of_differences(rollout: supple.Rollout, given: dict[str, np.ndarray]) -> None:
    by = {"q": random(STEPS + 1, ROBOTS, rollout.n), "forces": 1e-3 * random(STEPS, ROBOTS, 2)}

    def cost(values: dict[str, np.ndarray]) -> float:
        record = rollout.run(**values)
        return float(sum((by[name] * record[name]).sum() for name in by))

    rollout.run(**given)
    gradient = rollout.gradient(**by)
    sizes = {"commands": 1e-6, "q": 1e-6, "v": 1e-4, "loads": 1e-4, "gravity": 1e-2, "material_scale": 1e-3}
    sizes |= {"density": 1e-4, "rayleigh_mass": 1e-3, "rayleigh_stiffness": 1e-6}
    for name, size in sizes.items():
        direction = size * random(*given[name].shape)
        ahead, behind = (cost(given | {name: given[name] + sign * direction}) for sign in (1, -1))
        exact = (gradient[name] * direction).sum()
        # Central differences are off by their steps squared, and by rounding over them.
        assert exact == pytest.approx((ahead - behind) / 2, rel=1e-5), name


def test_what_does_not_fit(rollout: supple.Rollout, model: supple.Model, folder: Path) -> None:
    tables = bar_tables() | {"implicit_velocity": 0.5}
    trapezoid = supple.reduce(supple.scene_from_dict(tables, folder), rate_seconds=0.02, accept_errors=True).model
    with pytest.raises(supple.InputError, match="implicit factors"):
        supple.Rollout(trapezoid)
    with pytest.raises(TypeError):
        rollout.run(np.zeros((STEPS, 2)))
    with pytest.raises(ValueError, match="q is not of shape"):
        rollout.run(np.zeros((STEPS, ROBOTS, 2)), q=np.zeros(3))
    with pytest.raises(supple.InputError, match="not finite"):
        rollout.run(np.full((STEPS, ROBOTS, 2), np.nan))
    with pytest.raises(supple.InputError):
        supple.Rollout(model, robots=0)


def test_a_run_continues(rollout: supple.Rollout) -> None:
    commands = 2e-3 + 1e-3 * np.sin(random(STEPS, ROBOTS, 2))
    whole = rollout.run(commands)
    rollout.run(commands[:5])
    part = rollout.run(commands[5:], q=whole["q"][5], v=whole["v"][5], applied=whole["applied"][4])
    np.testing.assert_allclose(part["q"], whole["q"][5:], atol=1e-12)
    gradient = rollout.gradient(q=np.ones_like(part["q"]))
    assert gradient["applied"].shape == (ROBOTS, 2) and not gradient["applied"].any()  # no rate limits


def test_gradients_are_of_the_last_run(rollout: supple.Rollout) -> None:
    commands = np.full((STEPS, ROBOTS, 2), 2e-3)
    record = rollout.run(commands)
    with pytest.raises(supple.InputError):
        rollout.run(np.full_like(commands, np.nan), material_scale=np.full((ROBOTS, rollout.regions), 2.0))
    with pytest.raises(supple.InputError, match="no run"):
        rollout.gradient(q=np.ones_like(record["q"]))


def test_through_contact(model_on_floor: supple.Model) -> None:
    rollout = supple.Rollout(model_on_floor)
    commands = np.zeros((80, 1, 2))
    commands[:, 0, 1] = np.minimum(np.arange(80) / 40, 1) * 6e-3

    def run(friction: float) -> dict[str, Any]:
        return rollout.run(commands, friction=np.array([[friction]]))

    record = run(0.3)
    forces = record["contact_forces"]
    assert forces[-1, 0, :, 0, 2].sum() > 0.01 and rollout.obstacles == 1
    by = np.zeros_like(record["q"])
    by[-1] = 1
    found = rollout.gradient(q=by)["friction"][0, 0]

    def cost(friction: float) -> float:
        return float(run(friction)["q"][-1].sum())

    assert found != 0 and found == pytest.approx((cost(0.3 + 1e-4) - cost(0.3 - 1e-4)) / 2e-4, rel=1e-4)


def test_pytorch(rollout: supple.Rollout, given: dict[str, np.ndarray]) -> None:
    torch = pytest.importorskip("torch")
    from supple import torch as soft

    tensors = {name: torch.tensor(values, requires_grad=True) for name, values in given.items()}
    q, _, forces = soft.run(rollout, **tensors)
    weights = torch.tensor(random(STEPS + 1, ROBOTS, 3))
    cost = (soft.points(rollout, q)[:, :, rollout.effector_points["tip"]] * weights).sum() + 1e-3 * forces.sum()
    rollout.run(np.zeros((2, ROBOTS, 2)))  # another run in between
    cost.backward()
    matrix = rollout.point_matrix[rollout.effector_points["tip"]]
    rollout.run(**given)
    expected = rollout.gradient(
        q=np.einsum("sri,in->srn", weights.numpy(), matrix), forces=np.full((STEPS, ROBOTS, 2), 1e-3)
    )
    for name, tensor in tensors.items():
        np.testing.assert_allclose(tensor.grad.numpy(), expected[name], rtol=1e-12, atol=1e-15, err_msg=name)
    with pytest.raises(supple.InputError, match="shape"):
        soft.run(rollout, torch.zeros((STEPS, ROBOTS, 2)), q=torch.zeros(3))
    with pytest.raises(supple.InputError, match="floating"):
        soft.run(rollout, torch.zeros((STEPS, ROBOTS, 2), dtype=torch.long))


def test_jax(rollout: supple.Rollout, given: dict[str, np.ndarray]) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    from supple import jax as soft

    weights = random(STEPS + 1, ROBOTS, 3)

    def cost(arrays: dict[str, Any]) -> Any:
        q, v, _ = soft.run(rollout, **arrays)
        return (soft.points(rollout, q)[:, :, rollout.effector_points["tip"]] * weights).sum() + v[-1].sum()

    found = jax.jit(jax.grad(cost))(given)
    rollout.run(**given)
    by_v = np.zeros((STEPS + 1, ROBOTS, rollout.n))
    by_v[-1] = 1
    matrix = rollout.point_matrix[rollout.effector_points["tip"]]
    expected = rollout.gradient(q=np.einsum("sri,in->srn", weights, matrix), v=by_v)
    for name in given:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-15, err_msg=name)

    # In single precision, and with another run between forward and backward.
    single = {name: np.asarray(values, dtype=np.float32) for name, values in given.items()}
    _, back = jax.vjp(lambda arrays: soft.run(rollout, **arrays), single)
    rollout.run(np.zeros((2, ROBOTS, 2)))
    by = (
        np.einsum("sri,in->srn", weights, matrix).astype(np.float32),
        by_v.astype(np.float32),
        np.zeros((STEPS, ROBOTS, 2), dtype=np.float32),
    )
    (rounded,) = back(by)
    for name in given:
        assert rounded[name].dtype == np.float32
        np.testing.assert_allclose(rounded[name], expected[name], rtol=2e-3, atol=1e-4 * np.abs(expected[name]).max())
    with pytest.raises(supple.InputError, match="floating"):
        soft.run(rollout, np.zeros((STEPS, ROBOTS, 2), dtype=np.int64))
