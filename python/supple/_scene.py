"""Scenes written in Python: nested dictionaries with the keys of the scene reference."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ._core import Scene
from ._errors import InputError

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def scene_from_dict(tables: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Scene:
    """A scene from nested dictionaries with the keys of a scene file.

    Values are SI numbers or texts with units: ``{"young": "450 kPa"}`` is ``{"young": 450e3}``. Lists of tables such as
    ``actuator`` and ``effector`` are lists of dictionaries. Paths of meshes start from ``folder``.

    Raises InputError as a scene file does; the place is that in ``scene_text(tables)``.
    """
    return Scene.from_text(scene_text(tables), str(Path(folder).absolute() / "scene.toml"))


def scene_text(tables: Mapping[str, Any]) -> str:
    """The TOML text of nested dictionaries, as ``scene_from_dict`` reads it."""
    lines = [f"{_key(name)} = {_value(value, name)}" for name, value in tables.items() if not _is_table(value)]
    for name, value in tables.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(name)}]", *_entries(value, name)]
        elif _is_table(value):
            for entry in value:
                lines += ["", f"[[{_key(name)}]]", *_entries(entry, name)]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return _is_list(value) and len(value) > 0 and all(isinstance(entry, Mapping) for entry in value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _entries(table: Mapping[str, Any], where: str) -> list[str]:
    return [f"{_key(name)} = {_value(value, f'{where}.{name}')}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE.match(name) else _text(name)


def _text(text: str) -> str:
    # TOML's basic strings are JSON's, but for DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return _text(os.fspath(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(_entries(value, where)) + "}"
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _value(value.tolist(), where)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise InputError(f"'{where}' is {value}", "a number, inf for no limit")
        return repr(value)  # inf as TOML has it
    if _is_list(value):
        return "[" + ", ".join(_value(entry, where) for entry in value) + "]"
    raise InputError(f"'{where}' is a {type(value).__name__}", "a text, number, list or dictionary")
