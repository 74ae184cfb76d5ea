"""Pictures, the command, and types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import supple


def test_pictures_show_the_robots(model: supple.Model, reduction: supple.Reduction, tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    sim = supple.Simulation(model, 4, inverse=True)
    supple.draw(sim, tmp_path / "robots.png", robots=range(4))
    supple.plot_reduction(reduction, tmp_path / "reduction.png")
    for name in ("robots.png", "reduction.png"):
        pixels = pyplot.imread(tmp_path / name)
        assert pixels.shape[0] > 200 and np.ptp(pixels[..., :3]) > 0.5
    # The colour of the skin is on a good part of it.
    pixels = pyplot.imread(tmp_path / "robots.png")[..., :3]
    assert ((pixels[..., 0] > 1.2 * pixels[..., 2]) & (pixels[..., 0] > 0.3)).mean() > 0.02
    with pytest.raises(supple.InputError):
        supple.draw(sim, robots=[4])


def test_the_command_line(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "supple", *words], cwd=tmp_path, capture_output=True, text=True)

    assert supple.__version__ in run("info").stdout
    wrong = run("reduce", "nothing")
    assert wrong.returncode == 2 and "nothing" in wrong.stderr


def test_errors_are_written_out() -> None:
    error = supple.RunError("it failed", "slower")
    assert str(error) == "it failed\n  try: slower"
    assert issubclass(supple.Interrupted, KeyboardInterrupt) and not issubclass(supple.Error, KeyboardInterrupt)
