# mypy: disable-error-code="import-not-found,misc,untyped-decorator,no-untyped-call"
"""Runs and equilibria of reduced robots in PyTorch's automatic differentiation. Needs PyTorch: pip install torch.

>>> from supple import torch as soft
>>> rollout = supple.Rollout(model)
>>> q, v, forces = soft.run(rollout, commands)         # commands [steps, robots, actuators]
>>> tip = soft.points(rollout, q)[..., 0, :]           # [steps + 1, robots, 3, m]
>>> (tip[-1] - goal).square().sum().backward()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import once_differentiable

from . import _derivatives

if TYPE_CHECKING:
    from ._core import Rollout, Statics

__all__ = ["points", "rest", "run"]


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, of: Rollout | Statics, names: tuple[str, ...], *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        ctx.of, ctx.names = of, names
        ctx.save_for_backward(*tensors)
        given = {name: tensor.detach().cpu().numpy() for name, tensor in zip(names, tensors, strict=True)}
        ctx.set_materialize_grads(False)
        ctx.number, result = _derivatives.run(of, given)
        like = tensors[0]
        return tuple(torch.from_numpy(array).to(like) for array in result)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        tensors = ctx.saved_tensors
        given = {name: tensor.detach().cpu().numpy() for name, tensor in zip(ctx.names, tensors, strict=True)}
        lists = [None if one is None else one.detach().cpu().numpy() for one in by]
        names = _derivatives.results_of(ctx.of)
        found = _derivatives.gradient(ctx.of, ctx.number, given, dict(zip(names, lists, strict=True)))
        return (None, None, *(torch.from_numpy(found[n]).to(t) for n, t in zip(ctx.names, tensors, strict=True)))


def run(
    rollout: Rollout,
    commands: torch.Tensor,
    q: torch.Tensor | None = None,
    v: torch.Tensor | None = None,
    loads: torch.Tensor | None = None,
    gravity: torch.Tensor | None = None,
    material_scale: torch.Tensor | None = None,
    friction: torch.Tensor | None = None,
    applied: torch.Tensor | None = None,
    density: torch.Tensor | None = None,
    rayleigh_mass: torch.Tensor | None = None,
    rayleigh_stiffness: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rollout.run(): q and v [steps + 1, robots, n], forces [steps, robots, rows], differentiable once by all that is given.

    Steps are computed in float64 on the CPU; results have the type and device of commands.
    """
    values = (
        *(commands, q, v, loads, gravity, material_scale, friction, applied),
        *(density, rayleigh_mass, rayleigh_stiffness),
    )
    result: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = _apply(rollout, _derivatives.GIVEN, values)
    return result


def rest(
    statics: Statics,
    commands: torch.Tensor,
    loads: torch.Tensor | None = None,
    gravity: torch.Tensor | None = None,
    material_scale: torch.Tensor | None = None,
    density: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Statics.solve(): q [robots, n] and forces [robots, rows], differentiable once by all that is given."""
    values = (commands, loads, gravity, material_scale, density)
    result: tuple[torch.Tensor, torch.Tensor] = _apply(statics, _derivatives.GIVEN_AT_REST, values)
    return result


def _apply(of: Rollout | Statics, names: tuple[str, ...], values: tuple[torch.Tensor | None, ...]) -> Any:
    tensors = {name: tensor for name, tensor in zip(names, values, strict=True) if tensor is not None}
    for name, tensor in tensors.items():
        _derivatives.check_type(name, tensor.dtype in (torch.float64, torch.float32))
    _derivatives.check_shapes(of, {name: tuple(tensor.shape) for name, tensor in tensors.items()})
    return _Run.apply(of, tuple(tensors), *tensors.values())


def points(of: Rollout | Statics, q: torch.Tensor) -> torch.Tensor:
    """Mapped points [..., points, 3, m] of coordinates [..., n]; of.effector_points names those of effectors."""
    rest = torch.from_numpy(of.rest_points).to(q)
    return rest + torch.einsum("pin,...n->...pi", torch.from_numpy(of.point_matrix).to(q), q)
