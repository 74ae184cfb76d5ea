"""The code of the how-to page runs, block after block."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "python.md"


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert (tmp_path / "fingers.png").stat().st_size > 10_000
    assert (tmp_path / "reduction.png").stat().st_size > 10_000
    robot = names["robot"]
    assert robot.goal_errors[0, 0] < 1e-3  # type: ignore[attr-defined]
    # One cable reaches no place of three numbers: 1.4 mm of 4.5 are left.
    follower, goal = names["follower"], names["goal"]
    assert np.linalg.norm(follower.effectors[0] - goal) < 2e-3  # type: ignore[attr-defined]
