# mypy: disable-error-code="import-not-found,no-untyped-call,no-any-return"
"""Runs of reduced robots in JAX's automatic differentiation. Needs JAX: pip install jax.

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
    from ._core import Rollout

__all__ = ["points", "run"]


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
) -> tuple[jax.Array, ...]:
    """Rollout.run(): q and v [steps + 1, robots, n], forces [steps, robots, rows], differentiable once, in reverse."""
    values = (commands, q, v, loads, gravity, material_scale, friction, applied)
    given = dict(zip(_derivatives.GIVEN, values, strict=True))
    arrays = {name: jnp.asarray(array) for name, array in given.items() if array is not None}
    for name, array in arrays.items():
        _derivatives.check_type(name, array.dtype in (np.float64, np.float32))
    _derivatives.check_shapes(rollout, {name: array.shape for name, array in arrays.items()})
    return tuple(_run(rollout, arrays))


def points(rollout: Rollout, q: jax.Array) -> jax.Array:
    """Mapped points [..., points, 3, m] of coordinates [..., n]; rollout.effector_points names those of effectors."""
    return jnp.asarray(rollout.rest_points) + jnp.einsum("pin,...n->...pi", jnp.asarray(rollout.point_matrix), q)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(rollout: Rollout, arrays: dict[str, jax.Array]) -> tuple[jax.Array, ...]:
    return tuple(_forward(rollout, arrays)[0])


def _forward(rollout: Rollout, arrays: dict[str, jax.Array]) -> tuple[Any, Any]:
    steps, dtype = arrays["commands"].shape[0], arrays["commands"].dtype
    of_states = jax.ShapeDtypeStruct((steps + 1, rollout.robots, rollout.n), dtype)
    shapes = (
        of_states,
        of_states,
        jax.ShapeDtypeStruct((steps, rollout.robots, rollout.rows), dtype),
        jax.ShapeDtypeStruct((), np.int32),
    )

    def call(given: dict[str, Any]) -> tuple[Any, ...]:
        number, result = _derivatives.run(rollout, given)
        return (*(array.astype(dtype) for array in result), np.int32(number))

    *result, number = jax.pure_callback(call, shapes, arrays)
    return tuple(result), (arrays, number)


def _backward(rollout: Rollout, kept: Any, by: Any) -> tuple[dict[str, jax.Array]]:
    arrays, number = kept

    def call(given: dict[str, Any], number: Any, by: Any) -> dict[str, Any]:
        found = _derivatives.gradient(rollout, int(number), given, dict(zip(("q", "v", "forces"), by, strict=True)))
        return {name: found[name].astype(given[name].dtype) for name in given}

    shapes = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in arrays.items()}
    return (jax.pure_callback(call, shapes, arrays, number, by),)


_run.defvjp(_forward, _backward)
