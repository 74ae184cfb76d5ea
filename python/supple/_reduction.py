"""From a scene to a reduced model, with a report that a notebook shows."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from . import _core
from ._command import command_words
from ._core import Model, Scene
from ._errors import InputError

Progress = Callable[[str, float, str], object]


class Reduction:
    """A reduced model and everything that was measured on the way.

    Attributes:
        model: the reduced model.
        report: all figures, as ``supple reduce --json`` writes them: table, curve, singular_values, validation, ...
        warning: why not to trust the model, or an empty text.
    """

    def __init__(self, model: Model, report: dict[str, Any], sweep_warning: str) -> None:
        self.model = model
        self.report = report
        self.warning: str = report["warning"] or sweep_warning

    @property
    def tip_error(self) -> float:
        """Mean error of the end effectors on the test set, as a fraction of their mean displacement."""
        return float(self.report["validation"]["goal_error_mean"])

    @property
    def shape_error(self) -> float:
        """Mean error of the shape on the test set, as a fraction."""
        return float(self.report["validation"]["shape_error_mean"])

    @property
    def notes(self) -> list[str]:
        return list(self.report["notes"])

    def rows(self) -> list[list[str]]:
        """The table of models as texts: model, modes, elements, errors, steps per second. First the head."""
        rows = [["model", "modes", "elements", "tip error", "largest", "shape error", "largest", "steps/s"]]
        for row in self.report["table"]:
            full = row["modes"] == 0
            errors = [row[k] for k in ("goal_error_mean", "goal_error_max", "shape_error_mean", "shape_error_max")]
            rows.append(
                [
                    row["label"],
                    "-" if full else str(row["modes"]),
                    str(self.report["elements"]) if full else _forces(row),
                    *("-" if full else _percent(e) for e in errors),
                    "-" if row["steps_per_s"] is None else f"{row['steps_per_s']:.4g}",
                ]
            )
        return rows

    def __repr__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        lines = [
            "  ".join(cell.ljust(w) if c == 0 else cell.rjust(w) for c, (cell, w) in enumerate(zip(row, widths)))
            for row in rows
        ]
        lines.append(self._measured_on())
        lines += [f"note: {note}" for note in self.notes]
        if self.warning:
            lines.append(f"warning: {self.warning}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *rows = self.rows()
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        warning = f"<p><b>Warning: {escape(self.warning)}</b></p>" if self.warning else ""
        return (
            f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(self._measured_on())}</p>{f'<ul>{notes}</ul>' if notes else ''}{warning}"
        )

    def _measured_on(self) -> str:
        validation = self.report["validation"]
        text = f"errors on {validation['states']} unseen states"
        motion = validation["dynamic_goal_error_mean"]
        return text if motion is None else f"{text}; along an unseen path {_percent(motion)} on average"


def reduce(
    scene: Scene | str | os.PathLike[str],
    *,
    error: float | str | None = None,
    modes: int | None = None,
    elements: int | None = None,
    modes_tolerance: float | None = None,
    tolerance: float | None = None,
    solids: str | None = None,
    seed: int | None = None,
    snapshots: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    progress: bool | Progress = False,
    rate_seconds: float | None = None,
    accept_errors: bool = False,
) -> Reduction:
    """Makes a reduced model of a scene and measures its errors on actuation that no training used.

    Args:
        scene: a Scene, or the path of a scene file or folder.
        error: mean error that the model may have, a fraction or "1 %"; modes and elements are added until it holds.
            By default that of the scene, or 1 %.
        modes, elements, modes_tolerance, tolerance: instead of an error, as ``supple reduce`` takes them.
        solids: "elements", "strains" for modes of the body's strains in the place of elements, or "fastest": both are
            made, and the model whose steps take less arithmetic is returned. None: as the scene has it.
        seed: of all that is drawn.
        snapshots: folder of training snapshots, which a later call uses again. None: a temporary one.
        jobs: worker processes for the training snapshots.
        progress: True: a line on stderr; or called with the stage, the fraction done and a detail.
        rate_seconds: measuring time of each rate.
        accept_errors: return a model whose errors are too large, marked as such, instead of raising.

    Raises:
        InputError: the scene cannot be reduced.
        RunError: the model misses the error that is asked for; the message states what limits it.
    """
    changes = _changes(
        error=error,
        modes=modes,
        elements=elements,
        modes_tolerance=modes_tolerance,
        tolerance=tolerance,
        solids=solids,
        seed=seed,
    )
    callback = _Line() if progress is True else progress or None
    own = tempfile.TemporaryDirectory(prefix="supple-") if snapshots is None else None
    try:
        folder = Path(own.name, "snapshots") if own else Path(snapshots or "")
        return Reduction(
            *_core.reduce(
                _scene(scene),
                str(folder),
                changes,
                jobs,
                command_words(),
                rate_seconds,
                callback,
                accept_errors,
                own is None,
            )
        )
    finally:
        if isinstance(callback, _Line):
            callback.finish()
        if own:
            own.cleanup()


def reduce_world(
    scene: Scene | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    error: float | str | None = None,
    modes: int | None = None,
    seed: int | None = None,
    progress: bool | Progress = False,
    accept_errors: bool = False,
    overwrite: bool = False,
) -> tuple[Scene, dict[str, Any]]:
    """Reduces the parts of a scene of several bodies under the loads of their world, as ``supple reduce`` does.

    Args:
        scene: a Scene of several bodies, or its path.
        folder: where a model for each kind of part is written, and the scene with these models.
        error: mean error of the whole on unseen equilibria, a fraction or "1 %". By default that of the scene, or 1 %.
        modes: most modes of a part. seed: of all that is drawn.
        progress: True: a line on stderr; or called with the stage, the fraction done and a detail.
        accept_errors: write models whose errors are too large instead of raising.
        overwrite: into a folder that is not empty.

    Returns:
        The scene with reduced parts, ready for ``Simulation``, and all figures, as ``supple reduce --json`` has them.

    Raises:
        InputError: the scene cannot be reduced.
        RunError: the reduced parts miss the error that is asked for.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or (any(target.iterdir()) and not overwrite)):
        raise InputError(f"'{folder}' exists already", "another folder, or overwrite=True")
    scene = _scene(scene)
    if scene.several_bodies and target.exists() and target.samefile(Path(scene.file).parent):
        raise InputError(f"'{folder}' is the folder of the scene itself", "another folder")
    fraction = _core.quantity(error, "number") if isinstance(error, str) else error
    callback = _Line() if progress is True else progress or None
    try:
        with tempfile.TemporaryDirectory(prefix="supple-") as work:
            report = _core.reduce_world(scene, str(target), work, fraction, modes, seed, callback, accept_errors)
    finally:
        if isinstance(callback, _Line):
            callback.finish()
    return Scene(target), dict(report)


def expected_cost(scene: Scene | str | os.PathLike[str], *, jobs: int = 1, **recipe: Any) -> dict[str, Any]:
    """What ``reduce(scene, jobs=jobs, **recipe)`` is expected to take.

    Keys: seconds, most_seconds (if snapshots are added), memory and disk [bytes], and "text" for people. It is
    measured on a few snapshots, for some tenths of a second. ``recipe``: error, modes, elements, modes_tolerance,
    tolerance, seed.
    """
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        return dict(_core.expected_cost(_scene(scene), folder + "/snapshots", _changes(**recipe), jobs))


def _changes(
    *,
    error: float | str | None = None,
    modes: int | None = None,
    elements: int | None = None,
    modes_tolerance: float | None = None,
    tolerance: float | None = None,
    solids: str | None = None,
    seed: int | None = None,
) -> _core.RecipeChanges:
    changes = _core.RecipeChanges()
    changes.error = _core.quantity(error, "number") if isinstance(error, str) else error
    changes.modes, changes.elements = modes, elements
    changes.modes_tolerance, changes.tolerance, changes.seed = modes_tolerance, tolerance, seed
    changes.solids = solids or ""
    return changes


def _scene(scene: Scene | str | os.PathLike[str]) -> Scene:
    return scene if isinstance(scene, Scene) else Scene(os.fspath(scene))


def _forces(row: dict[str, Any]) -> str:
    """What the forces of a row of the table are made of, as ``supple reduce`` prints it."""
    if row["strain_modes"] == 0:
        return str(row["elements"])
    strains = f"{row['strain_modes']} strains"
    return strains if row["elements"] == 0 else f"{row['elements']} + {strains}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"


class _Line:
    """Progress as one line on stderr, rewritten in place on a terminal, else one line a stage."""

    def __init__(self) -> None:
        self.stage, self.width = "", 0
        self.terminal = sys.stderr.isatty()

    def __call__(self, stage: str, fraction: float, detail: str) -> None:
        if self.terminal:
            text = f"{stage}: {100 * fraction:3.0f} %" + (f"  ({detail})" if detail else "")
            sys.stderr.write("\r" + text.ljust(self.width))
            self.width = len(text)
        elif stage != self.stage:
            sys.stderr.write(stage + "\n")
        self.stage = stage
        sys.stderr.flush()

    def finish(self) -> None:
        if self.terminal and self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
