"""Batches on a device (a GPU, or the emulated one) beside the same on the processor."""

from __future__ import annotations

import os

import numpy as np
import pytest
import supple

ROBOTS = 5


@pytest.fixture(scope="module")
def device(model: supple.Model) -> str:
    try:
        supple.Simulation(model, 1, device="cuda:0")
    except supple.CapabilityError as error:
        assert "SUPPLE_REQUIRE_CUDA" not in os.environ, error
        pytest.skip(str(error))
    return "cuda:0"


def both(model: supple.Model, device: str, **options: object) -> tuple[supple.Simulation, supple.Simulation]:
    return supple.Simulation(model, ROBOTS, **options), supple.Simulation(model, ROBOTS, device=device, **options)  # type: ignore[arg-type]


def agree(here: supple.Simulation, there: supple.Simulation) -> None:
    """Products are summed in another order there: equal to rounding, which steps do not magnify beyond this."""
    assert there.time == here.time and not there.failed.any()
    for name in ("q", "effectors", "forces", "applied"):
        own, other = getattr(here, name), getattr(there, name)
        assert np.allclose(other, own, rtol=0, atol=1e-9 * max(float(np.abs(own).max()), 1e-6)), name


def test_commands_states_and_resets(model: supple.Model, device: str) -> None:
    pair = both(model, device)
    start = supple.Simulation(model).effectors[0, 0]
    for sim in pair:
        sim.commands[:, 0] = np.linspace(0, 0.005, ROBOTS)
        sim.step(20)
    agree(*pair)
    assert np.linalg.norm(pair[1].effectors[-1, 0] - start) > 2e-3
    state = pair[1].get_state()
    for sim in pair:
        sim.reset(np.arange(ROBOTS) % 2 == 1)
        sim.step(3)
    agree(*pair)
    pair[1].set_state(state)
    assert np.array_equal(pair[1].q, state["q"]) and pair[1].time == pytest.approx(0.2)
    for sim in pair:
        sim.reset()
        assert sim.time == 0
        sim.settle()
    agree(*pair)


def test_goals(model: supple.Model, device: str) -> None:
    pair = both(model, device, inverse=True)
    for sim in pair:
        sim.settle()
        sim.goals[:, 0, 2] -= np.linspace(0, 0.003, ROBOTS)
        sim.known[2] = [0.001, np.nan]
        sim.step(10)
    agree(*pair)
    assert np.allclose(pair[1].goal_errors, pair[0].goal_errors, rtol=0, atol=1e-9)
    assert pair[1].applied[2, 0] == pytest.approx(0.001)


def test_contact_and_variations(model_on_floor: supple.Model, device: str) -> None:
    pair = both(model_on_floor, device)
    for sim in pair:
        sim.set_variations(material_scale=np.linspace(0.9, 1.2, ROBOTS)[:, None])
        sim.commands[:, 1] = 0.005
        sim.step(30)
    assert (np.abs(pair[0].contact_forces).sum(axis=(1, 2, 3)) > 1e-3).all()
    agree(*pair)
    most = np.abs(pair[0].contact_forces).max()
    assert np.allclose(pair[1].contact_forces, pair[0].contact_forces, rtol=0, atol=1e-6 * most)
    assert len(pair[1].touches(0)) == len(pair[0].touches(0)) > 0


def test_environments(model: supple.Model, device: str) -> None:
    gym = pytest.importorskip("supple.gym", exc_type=ImportError)
    pair = [gym.SuppleVectorEnv("DiamondReach", ROBOTS, model=model, device=name) for name in ("cpu", device)]
    seen = [envs.reset(seed=2)[0] for envs in pair]
    rng = np.random.default_rng(0)
    for _ in range(6):
        actions = rng.uniform(-1, 1, (ROBOTS, 2))
        seen = [envs.step(actions)[0] for envs in pair]
    assert np.allclose(seen[0], seen[1], rtol=0, atol=1e-6)  # float32
    assert pair[1].sim.device == device


def test_a_batch_of_one_and_many(model: supple.Model, device: str) -> None:
    for count in (1, 33):
        sim = supple.Simulation(model, count, device=device)
        sim.commands[:, 1] = 0.002
        sim.step(4)
        assert np.ptp(sim.q, axis=0).max() < 1e-12 and np.abs(sim.q).max() > 0
