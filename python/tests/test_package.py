"""Pictures, the command, and types."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
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


def test_threads_that_wait_sleep_soon(model_file: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    program = os.environ["SUPPLE_PROGRAM"]
    for given in ({}, {"GOMP_SPINCOUNT": "7"}):
        run = [program, "run", str(model_file), "--steps", "1000000", "--quiet"]
        with subprocess.Popen(run, env=clean | given, cwd=model_file.parent, stderr=subprocess.DEVNULL) as process:
            there: list[bytes] = []
            end = time.monotonic() + 20  # a busy machine starts late
            while not any(entry.startswith(b"GOMP_SPINCOUNT") for entry in there) and time.monotonic() < end:
                time.sleep(0.1)
                there = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            time.sleep(1)  # until it steps, and can be interrupted
            process.terminate()
        assert process.returncode == 130 and (model_file.parent / "bar-interrupted").exists()
        shutil.rmtree(model_file.parent / "bar-interrupted")
        assert f"GOMP_SPINCOUNT={given.get('GOMP_SPINCOUNT', 10000)}".encode() in there
    loader = next(Path("/lib64").glob("ld-linux-x86-64.so*"), None)
    if loader:  # which starts the program itself
        answer = subprocess.run([loader, program, "--version"], env=clean, capture_output=True, text=True, check=True)
        assert answer.stdout.startswith("supple ")
    # The package sets it while OpenMP is loaded, and leaves the environment as it was.
    code = "import os, supple; assert 'GOMP_SPINCOUNT' not in os.environ; assert supple.robots()"
    subprocess.run([sys.executable, "-c", code], env=clean, check=True)
