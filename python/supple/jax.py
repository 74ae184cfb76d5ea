# mypy: disable-error-code="import-not-found,no-untyped-call,no-any-return"
"""Runs and equilibria of reduced robots in JAX's automatic differentiation. Needs JAX: pip install jax.

>>> from supple import jax as soft
>>> rollout = supple.Rollout(model)
>>> def cost(commands):                                # [steps, robots, actuators]
...     q, v, forces = soft.run(rollout, commands)
...     return jax.numpy.sum((soft.points(rollout, q)[-1, :, 0] - goal) ** 2)
>>> jax.grad(cost)(commands)

In single precision, JAX's default, what crosses is rounded to it; jax.config.update("jax_enable_x64", True).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import numpy as jnp

from . import _derivatives

if TYPE_CHECKING:
    from ._core import Rollout, Statics

__all__ = ["points", "rest", "run"]


def run(
    rollout: Rollout,
    commands: jax.Array,
    q: jax.Array | None = None,
    v: jax.Array | None = None,
    loads: jax.Array | None = None,
    gravity: jax.Array | None = None,
    material_scale: jax.Array | None = None,
    friction: jax.Array | None = None,
    applied: jax.Array | None = None,
    density: jax.Array | None = None,
    rayleigh_mass: jax.Array | None = None,
    rayleigh_stiffness: jax.Array | None = None,
) -> tuple[jax.Array, ...]:
    """Rollout.run(): q and v [steps + 1, robots, n], forces [steps, robots, rows], differentiable once, in reverse."""
    values = (
        *(commands, q, v, loads, gravity, material_scale, friction, applied),
        *(density, rayleigh_mass, rayleigh_stiffness),
    )
    return _apply(rollout, _derivatives.GIVEN, values)


def rest(
    statics: Statics,
    commands: jax.Array,
    loads: jax.Array | None = None,
    gravity: jax.Array | None = None,
    material_scale: jax.Array | None = None,
    density: jax.Array | None = None,
) -> tuple[jax.Array, ...]:
    """Statics.solve(): q [robots, n] and forces [robots, rows], differentiable once, in reverse."""
    return _apply(statics, _derivatives.GIVEN_AT_REST, (commands, loads, gravity, material_scale, density))


def _apply(of: Rollout | Statics, names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[jax.Array, ...]:
    arrays = {name: jnp.asarray(array) for name, array in zip(names, values, strict=True) if array is not None}
    for name, array in arrays.items():
        _derivatives.check_type(name, array.dtype in (np.float64, np.float32))
    _derivatives.check_shapes(of, {name: array.shape for name, array in arrays.items()})
    return tuple(_run(of, arrays))


def points(of: Rollout | Statics, q: jax.Array) -> jax.Array:
    """Mapped points [..., points, 3, m] of coordinates [..., n]; of.effector_points names those of effectors."""
    return jnp.asarray(of.rest_points) + jnp.einsum("pin,...n->...pi", jnp.asarray(of.point_matrix), q)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(of: Rollout | Statics, arrays: dict[str, jax.Array]) -> tuple[jax.Array, ...]:
    return tuple(_forward(of, arrays)[0])


def _forward(of: Rollout | Statics, arrays: dict[str, jax.Array]) -> tuple[Any, Any]:
    shape, dtype = arrays["commands"].shape, arrays["commands"].dtype
    steps = shape[:-2]  # none at rest
    states = tuple(step + 1 for step in steps)
    shapes = (
        *(jax.ShapeDtypeStruct((*states, of.robots, of.n), dtype) for _ in _derivatives.results_of(of)[:-1]),
        jax.ShapeDtypeStruct((*steps, of.robots, of.rows), dtype),
        jax.ShapeDtypeStruct((), np.int32),
    )

    def call(given: dict[str, Any]) -> tuple[Any, ...]:
        number, result = _derivatives.run(of, given)
        return (*(array.astype(dtype) for array in result), np.int32(number))

    *result, number = jax.pure_callback(call, shapes, arrays)
    return tuple(result), (arrays, number)


def _backward(of: Rollout | Statics, kept: Any, by: Any) -> tuple[dict[str, jax.Array]]:
    arrays, number = kept

    def call(given: dict[str, Any], number: Any, by: Any) -> dict[str, Any]:
        results = dict(zip(_derivatives.results_of(of), by, strict=True))
        found = _derivatives.gradient(of, int(number), given, results)
        return {name: found[name].astype(given[name].dtype) for name in given}

    shapes = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in arrays.items()}
    return (jax.pure_callback(call, shapes, arrays, number, by),)


_run.defvjp(_forward, _backward)
