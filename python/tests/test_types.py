"""Types of the package and of its examples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_examples_and_package_have_strict_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    examples = str(Path(__file__).parent.parent / "examples")
    for what in ([examples], ["-p", "supple"]):
        result = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), *what],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert result.returncode == 0, result.stdout + result.stderr
