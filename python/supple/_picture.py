"""Pictures without a display, by matplotlib (``pip install supple[plot]``)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._core import Simulation
from ._errors import CapabilityError, InputError
from ._reduction import Reduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIGHT = np.array([0.4, -0.6, 0.7]) / np.linalg.norm([0.4, -0.6, 0.7])
_SKIN = np.array([0.93, 0.62, 0.42])


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise CapabilityError("pictures need matplotlib", "pip install supple[plot]") from None
    return pyplot


def draw(
    sim: Simulation,
    file: str | os.PathLike[str] | None = None,
    *,
    robots: Iterable[int] = (0,),
    spacing: float | None = None,
    elevation: float = 20.0,
    azimuth: float = -60.0,
    axes: Axes | None = None,
) -> Axes:
    """Draws the skins of robots as they are now, with their effectors and, in inverse control, their goals.

    Args:
        file: the picture is written there; None: nowhere.
        robots: which of the batch; they stand side by side.
        spacing: distance between two robots [m]; by default what their size takes.
        elevation, azimuth: of the camera [degrees].
        axes: three-dimensional axes of matplotlib to draw into; by default new ones.

    Returns the axes. Lengths are in millimetres.
    """
    pyplot = _pyplot()
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    chosen = list(robots)
    skins, shifts = place_skins(sim, chosen, spacing)
    triangles = np.asarray(sim.triangles)
    if axes is None:
        axes = pyplot.figure(figsize=(7, 6), layout="constrained").add_subplot(projection="3d")
    assert axes is not None
    place: Any = axes
    everything = []
    for b, skin, shift in zip(chosen, skins, shifts):
        corners = 1e3 * (skin[triangles] + shift)
        place.add_collection3d(Poly3DCollection(corners, facecolors=_shades(corners), linewidths=0))
        places = [e for e, kind in enumerate(sim.effector_kinds) if kind == "position"]
        points = [(np.asarray(sim.effectors)[b, places], "black")]
        if sim.inverse:
            points.append((np.asarray(sim.goals)[b, places], "red"))
        for at, colour in points:
            if at.size:
                place.scatter(*(1e3 * (at + shift)).T, color=colour, s=14, depthshade=False)
        everything.append(corners.reshape(-1, 3))
    bounds = np.concatenate(everything)
    lower, upper = bounds.min(axis=0), bounds.max(axis=0)
    place.set(xlim=(lower[0], upper[0]), ylim=(lower[1], upper[1]), zlim=(lower[2], upper[2]))
    place.set_box_aspect(np.maximum(upper - lower, 1e-3 * float((upper - lower).max())))
    place.set(xlabel="x [mm]", ylabel="y [mm]", zlabel="z [mm]")
    place.view_init(elev=elevation, azim=azimuth)
    if file is not None:
        _save(axes, file)
    return axes


def place_skins(
    sim: Simulation, robots: list[int], spacing: float | None
) -> tuple[list[npt.NDArray[np.float64]], list[npt.NDArray[np.float64]]]:
    """Skins of robots [nodes, 3, m], and the shift of each [3, m] that places them side by side. See ``draw``."""
    if not robots or not all(0 <= b < sim.robots for b in robots):
        raise InputError(f"robots {robots} are not in a batch of {sim.robots}", f"0 to {sim.robots - 1}")
    skins = [np.asarray(sim.skin(b)) for b in robots]
    extents = np.ptp(np.concatenate(skins), axis=0)
    step = float(spacing if spacing is not None else 1.2 * max(extents[0], 0.5 * extents[1]))
    columns = int(np.ceil(np.sqrt(len(robots))))
    return skins, [step * np.array([k % columns, k // columns, 0.0]) for k in range(len(robots))]


def plot_reduction(reduction: Reduction, file: str | os.PathLike[str] | None = None) -> Any:
    """Plots the singular values, and the error against the number of elements. Returns the figure."""
    pyplot = _pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    values = np.asarray(reduction.report["singular_values"])
    shown = values[values > 1e-12 * values[0]]  # the others are rounding
    left.semilogy(np.arange(1, shown.size + 1), shown / shown[0])
    left.axvline(reduction.model.modes, color="grey", linestyle=":")
    left.set(xlabel="mode", ylabel="singular value / largest", title=f"{reduction.model.modes} modes")
    curve = reduction.report["curve"]
    elements = [row["elements"] for row in curve]
    right.loglog(elements, [100 * row["goal_error_mean"] for row in curve], "o-", label="end effector")
    right.loglog(elements, [100 * row["shape_error_mean"] for row in curve], "s--", label="shape")
    right.set(xlabel="elements", ylabel="mean error [%]", title="on the validation set")
    right.legend()
    if file is not None:
        figure.savefig(file, dpi=150)
        pyplot.close(figure)
    return figure


def _shades(corners: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Colours of triangles [n, 3, 3] under a light: both sides of a face look alike."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    towards = np.abs((normal / np.maximum(length, 1e-300)) @ _LIGHT)
    shades: npt.NDArray[np.float64] = (0.35 + 0.65 * towards)[:, None] * _SKIN
    return shades


def _save(axes: Axes, file: str | os.PathLike[str]) -> None:
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    figure = axes.figure
    assert isinstance(figure, Figure)
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
