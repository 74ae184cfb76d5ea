"""Reduced models that are made once and then kept."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import _core
from ._core import Model, Scene
from ._reduction import Progress, reduce, reduce_world


def cached_model(scene: Scene, *, progress: bool | Progress = True, **recipe: Any) -> Model:
    """The reduced model of a scene: from the cache, or reduced now and kept there.

    The cache is ``$SUPPLE_CACHE``, else ``$XDG_CACHE_HOME/supple``, else ``~/.cache/supple``. A model is found again by
    the contents of its scene and mesh, the version of the package and ``recipe``, the arguments of ``reduce``.
    """
    what = {name: value for name, value in recipe.items() if name not in ("jobs", "snapshots", "rate_seconds")}
    path = _place(scene, sorted(what.items())).with_suffix(".rom.h5")
    if path.exists():
        return Model.load(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    model = reduce(scene, progress=progress, **recipe).model
    model.save(path, overwrite=True)
    return model


def cached_world(scene: Scene, *, progress: bool | Progress = True) -> Scene:
    """A scene of several bodies with reduced parts: from the cache, or reduced now and kept there."""
    folder = _place(scene, [])
    if (folder / "scene.toml").exists():
        return Scene(folder)
    return reduce_world(scene, folder, progress=progress, overwrite=True)[0]


def _place(scene: Scene, recipe: list[tuple[str, Any]]) -> Path:
    words = repr((scene.fingerprint, _core.version, _core.commit, recipe))
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", scene.name)
    return _folder() / f"{name}-{sha256(words.encode()).hexdigest()[:16]}"


def _folder() -> Path:
    if folder := os.environ.get("SUPPLE_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple"
