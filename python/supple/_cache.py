"""Reduced models that are made once and then kept."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from . import _core
from ._core import Model, Scene
from ._reduction import Progress, reduce


def cached_model(scene: Scene, *, progress: bool | Progress = True, **recipe: Any) -> Model:
    """The reduced model of a scene: from the cache, or reduced now and kept there.

    The cache is ``$SUPPLE_CACHE``, else ``$XDG_CACHE_HOME/supple``, else ``~/.cache/supple``. A model is found again by
    the contents of its scene and mesh, the version of the package and ``recipe``, the arguments of ``reduce``.
    """
    what = {name: value for name, value in recipe.items() if name not in ("jobs", "snapshots", "rate_seconds")}
    words = repr((scene.fingerprint, _core.version, _core.commit, sorted(what.items())))
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", scene.name)
    path = _folder() / f"{name}-{sha256(words.encode()).hexdigest()[:16]}.rom.h5"
    if path.exists():
        return Model.load(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    model = reduce(scene, progress=progress, **recipe).model
    model.save(path, overwrite=True)
    return model


def _folder() -> Path:
    if folder := os.environ.get("SUPPLE_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple"
