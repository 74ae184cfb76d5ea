"""Pages of `supple export --format page`, opened in headless Chromium as files: robots step there, are led and are seen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import supple
from browser import SIZE, Browser
from matplotlib import image

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build-web"
sys.path.insert(0, str(ROOT / "python" / "tests"))
import conftest as bar  # noqa: E402: the small robot of the Python tests


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


def page_of(model: supple.Model, folder: Path) -> Path:
    model.export(folder / "robot.html", "page")
    return folder / "robot.html"


def tip(browser: Browser, name: str = "effectors") -> np.ndarray[Any, Any]:
    """Where effector 0 is [m], or its goal."""
    return np.array(browser.evaluate(f"Array.from(supple.page.simulation.array('{name}').slice(0, 3))"))


def pixels(browser: Browser, x: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Where a point is in the window."""
    right, up, _ = browser.evaluate(f"supple.page.camera.project({json.dumps(list(x))})")
    return SIZE[0] * (1 + right) / 2, SIZE[1] * (1 - up) / 2


def share_of_skin(file: Path) -> float:
    """Fraction of the picture's pixels that have the colour of a robot."""
    red, _, blue = np.moveaxis(image.imread(file)[..., :3], -1, 0)
    return float(np.mean(red > 1.4 * blue))


def test_a_page_needs_no_other_file_and_shows_its_robot(browser: Browser) -> None:
    page = BUILD / "diamond.html"
    assert page.stat().st_size < 1_500_000
    browser.open(page)
    browser.wait("supple.page.simulation.time > 0.5", "the robot moves by itself")
    assert browser.requests == [page.as_uri()]
    assert share_of_skin(browser.screenshot(BUILD / "diamond.png")) > 0.03
    assert browser.evaluate("document.title") == "diamond"
    assert "34 modes" in browser.evaluate("document.getElementById('figures').textContent")
    assert not browser.errors


def test_the_tip_follows_the_mouse(browser: Browser) -> None:
    browser.open(BUILD / "diamond.html", "?still")
    browser.wait("supple.page.simulation.time > 0.1", "the robot steps")
    start = tip(browser)
    x, y = pixels(browser, start)
    browser.mouse("mousePressed", x + 3, y - 2)
    # Sideways and up, as four cables can move it.
    for k in range(1, 11):
        browser.mouse("mouseMoved", x + 3 + 4 * k, y - 2 - 4 * k)
    browser.mouse("mouseReleased", x + 43, y - 42)
    goal = tip(browser, "goals")
    assert np.allclose(pixels(browser, goal), (x + 40, y - 40), atol=0.5)
    away = "Math.hypot(...[0, 1, 2].map((i) => supple.page.simulation.array('effectors')[i] - supple.page.simulation.array('goals')[i]))"
    browser.wait(f"{away} < 5e-4", "the tip is within 0.5 mm of the goal")
    moved = tip(browser) - start
    assert np.linalg.norm(moved) > 5e-3
    assert float(moved @ (goal - start)) > 0.9 * float(np.linalg.norm(moved) * np.linalg.norm(goal - start))
    # The sliders show the cables that it found.
    browser.wait("Math.max(...supple.page.sliders.map((s) => s.slider.valueAsNumber)) > 1e-3", "the sliders show it")
    assert share_of_skin(browser.screenshot(BUILD / "diamond_led.png")) > 0.03
    assert not browser.errors


def test_sliders_command_the_robot_and_the_view_turns(browser: Browser) -> None:
    browser.open(BUILD / "diamond.html", "?still")
    start = tip(browser)
    browser.evaluate("""(() => { const s = supple.page.sliders[0].slider;
        s.value = 0.02; s.dispatchEvent(new Event("input")); })()""")
    browser.wait("supple.page.simulation.array('applied')[0] > 0.0199", "the cable is pulled")
    browser.wait(f"Math.hypot(supple.page.simulation.array('effectors')[0] - {start[0]}, "
                 f"supple.page.simulation.array('effectors')[1] - {start[1]}) > 0.01", "the tip moves")  # fmt: skip
    azimuth = browser.evaluate("supple.page.camera.azimuth")
    browser.mouse("mousePressed", 900, 650)
    browser.mouse("mouseMoved", 960, 650)
    browser.mouse("mouseReleased", 960, 650)
    assert browser.evaluate("supple.page.camera.azimuth") == pytest.approx(azimuth - 0.6)
    browser.evaluate("document.getElementById('reset').click()")
    browser.wait("supple.page.simulation.array('applied')[0] === 0", "the commands are 0 again")
    browser.wait(f"Math.abs(supple.page.simulation.array('effectors')[0] - {start[0]}) < 1e-4", "the tip is back")
    assert not browser.errors


def compare(browser: Browser, own: supple.Simulation, values: np.ndarray[Any, Any], steps: int, state: float) -> None:
    """Steps robots from rest here and in the page, whose model is the same. Tips are equal to 1e-12 of their motion,
    states to `state`. Rounding alone parts them: WebAssembly cannot multiply and add in one instruction."""
    name, inputs = ("goals", own.goals) if own.inverse else ("commands", own.commands)
    rest = own.effectors.copy()
    inputs[:] = values
    own.step(steps)
    there = browser.evaluate(f"""(() => {{
        const sim = supple.page.model.simulation({{robots: {own.robots}, inverse: {str(own.inverse).lower()}}});
        sim.array("{name}").set({json.dumps(values.ravel().tolist())});
        sim.step({steps});
        const all = Object.fromEntries(["q", "effectors", "contactForces"].map((n) => [n, Array.from(sim.array(n))]));
        all.time = sim.time;
        sim.free();
        return all;
    }})()""")
    assert there["time"] == own.time
    motion = float(np.abs(own.effectors - rest).max())
    assert motion > 1e-3
    tips = float(np.abs(np.reshape(there["effectors"], own.effectors.shape) - own.effectors).max())
    assert tips < 1e-12 * motion
    q = float(np.abs(np.reshape(there["q"], own.q.shape) - own.q).max() / np.abs(own.q).max())
    print(f"{name}: tips differ by {tips:.1e} m of {motion:.1e} m, states by {q:.1e} of the largest coordinate")
    assert q < state
    if own.contact_forces.size:
        most = float(np.abs(own.contact_forces).max())
        assert most > 1e-3
        forces = np.reshape(there["contactForces"], own.contact_forces.shape)
        assert np.allclose(forces, own.contact_forces, rtol=0, atol=1e-10 * most)  # stiffer than shapes


def test_the_motion_is_that_of_the_engine(browser: Browser) -> None:
    browser.open(BUILD / "diamond.html", "?still")
    model = supple.Model.load(str(BUILD / "diamond.rom.h5"))
    commands = np.array([[0.02, 0.0, 0.0, 0.005], [0.0, 0.015, 0.01, 0.0]])
    compare(browser, supple.Simulation(model, 2), commands, 50, 1e-12)
    led = supple.Simulation(model, 2, inverse=True)
    goals = led.goals.copy()
    goals[:, 0] += [[0.008, 0.002, 0.004], [-0.004, 0.006, 0.002]]
    # A small regularisation alone shares three numbers of the goal among four cables: it magnifies rounding.
    compare(browser, led, goals, 50, 1e-8)


def test_a_robot_in_contact(browser: Browser, tmp_path: Path) -> None:
    bar.write_bar(tmp_path / "bar.vtk")
    tables = bar.bar_tables()
    tables["name"] = "</script><!--<script> bar"
    tables["obstacle"] = [
        {"name": "floor", "type": "plane", "position": [0.0, 0.0, "-4 mm"], "friction": 0.3},
        {"name": "ball", "type": "sphere", "position": ["60 mm", "10 mm", "45 mm"], "radius": "10 mm"},
    ]
    tables["contact"] = {"spacing": "10 mm"}
    scene = supple.scene_from_dict(tables, tmp_path)
    model = supple.reduce(scene, rate_seconds=0.02, accept_errors=True).model
    browser.open(page_of(model, tmp_path), "?still")
    assert browser.evaluate("document.title") == "</script><!--<script> bar"
    browser.evaluate("""(() => { const s = supple.page.sliders[1].slider;
        s.value = 0.006; s.dispatchEvent(new Event("input")); })()""")
    browser.wait("supple.page.simulation.array('contactForces').some((f) => f > 1e-3)", "the floor pushes")
    assert share_of_skin(browser.screenshot(BUILD / "contact.png")) > 0.03
    # Contact that sets on a step earlier or later would be another motion: it does not.
    compare(browser, supple.Simulation(model), np.array([[0.0, 0.006]]), 100, 1e-12)
    assert not browser.errors


def test_the_front_page_of_the_documentation(browser: Browser, tmp_path: Path) -> None:
    mkdocs = ROOT / "build-docs/venv/bin/mkdocs"
    if not mkdocs.exists():
        pytest.skip("no MkDocs here: scripts/docs.sh installs it")
    subprocess.run([mkdocs, "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"], cwd=ROOT, check=True)
    browser.requests.clear()
    browser.call("Page.navigate", url=(tmp_path / "site/index.html").as_uri())
    browser.wait("document.querySelector('iframe')?.getBoundingClientRect().height > 300", "the frame of the robot")
    browser.evaluate("document.querySelector('iframe').scrollIntoView()")
    for _ in range(100):
        share = share_of_skin(browser.screenshot(BUILD / "front_page.png"))
        if share > 0.02:
            break
    assert share > 0.02
    assert (tmp_path / "site/diamond.html").as_uri() in browser.requests
    assert not any(address.endswith("circle.gif") for address in browser.requests)


def test_the_code_of_the_documentation_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```js\n(.*?)^```$", (ROOT / "docs/howto/web.md").read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "step.mjs").write_text(code + "console.log(JSON.stringify(Array.from(robots.array('effectors'))));\n")
    for folder in ("engine", "build-web"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    bar.write_bar(tmp_path / "bar.vtk")
    tables = bar.bar_tables()
    tables["actuator"] = tables["actuator"][:1]  # one cable, as the finger has
    model = supple.reduce(supple.scene_from_dict(tables, tmp_path), rate_seconds=0.02).model
    model.export(tmp_path / "finger.supple", "runtime")
    done = subprocess.run(["node", "step.mjs"], cwd=tmp_path, check=True, capture_output=True, text=True)
    own = supple.Simulation(model, 4)
    own.commands[:, 0] = [0, 0.002, 0.004, 0.006]
    own.step(100)
    there = np.reshape(json.loads(done.stdout.splitlines()[-1]), own.effectors.shape)
    assert np.ptp(own.effectors[:, 0, 2]) > 1e-3
    assert np.abs(there - own.effectors).max() < 1e-12


ERRORS = """
import { readFileSync } from "node:fs";
import { Runtime } from "./engine/runtime/web/runtime.mjs";
const runtime = await Runtime.load(readFileSync("build-web/runtime/supple.wasm"));
const model = runtime.model(readFileSync("robot.supple"));
const robots = model.simulation();
const tries = [() => model.simulation({ integrator: "quasi_static" }), () => robots.array("command"),
  () => robots.array("goals"), () => robots.step(-1), () => robots.step(2 ** 32), () => model.names("cables"),
  () => runtime.model(new Uint8Array(100)), () => model.simulation({ robots: 0 }),
  () => { robots.free(); robots.free(); robots.step(); }];
for (const attempt of tries) {
  try { attempt(); console.log("no error"); } catch (error) { console.log(error.message); }
}
"""


def test_errors_in_javascript(tmp_path: Path) -> None:
    (tmp_path / "errors.mjs").write_text(ERRORS)
    for folder in ("engine", "build-web"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    supple.Model.load(str(BUILD / "diamond.rom.h5")).export(tmp_path / "robot.supple", "runtime")
    done = subprocess.run(["node", "errors.mjs"], cwd=tmp_path, check=True, capture_output=True, text=True)
    words = ["no integrator 'quasi_static' (try: implicit-euler", "no array 'command'", "inverse", "no number of steps",
             "no number of steps", "no kind 'cables'", "not a", "robots", "is null"]  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == len(words), lines
    for line, word in zip(lines, words):
        assert word in line


def test_only_the_tip_that_is_dragged_has_a_goal(browser: Browser, tmp_path: Path) -> None:
    bar.write_bar(tmp_path / "bar.vtk")
    tables = bar.bar_tables()
    middle = bar.WIDTH / 2
    tables["effector"] = [
        {"name": "height", "type": "position", "point": [bar.LENGTH, middle, middle], "directions": [[0, 0, 1]]},
        {"name": "half", "type": "position", "point": [bar.LENGTH / 2, middle, middle]},
        {"name": "turn", "type": "orientation", "box": [[0.09, -1, -1], [1, 1, 1]]},
    ]
    model = supple.reduce(supple.scene_from_dict(tables, tmp_path), rate_seconds=0.02, accept_errors=True).model
    browser.open(page_of(model, tmp_path), "?still")
    start = tip(browser)
    x, y = pixels(browser, start)
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseMoved", x - 5, y + 25)
    browser.mouse("mouseReleased", x - 5, y + 25)
    browser.wait("supple.page.simulation.array('goalErrors')[0] < 1e-5", "the height is reached")
    browser.wait("document.getElementById('state').textContent === '0.0 mm from the goal'", "and shown")
    assert browser.evaluate("[...supple.page.led]") == [0]
    reached = tip(browser)
    assert start[2] - reached[2] > 2e-3
    found = browser.evaluate("Array.from(supple.page.simulation.array('applied'))")
    # The other command stays as it was found when a slider takes over.
    browser.evaluate("""(() => { const s = supple.page.sliders[0].slider;
        s.value = 0.0001; s.dispatchEvent(new Event("input")); })()""")
    browser.wait("supple.page.simulation.array('applied')[0] === 0.0001", "the slider commands")
    assert browser.evaluate("supple.page.simulation.array('applied')[1]") == pytest.approx(found[1], abs=1e-12)
    assert found[1] > 1e-3
    assert not browser.errors


def test_a_failed_step_is_shown_and_mended(browser: Browser) -> None:
    browser.open(BUILD / "diamond.html", "?still")
    message = "document.getElementById('message').textContent"
    browser.evaluate("supple.page.forward.array('commands')[0] = NaN")
    browser.wait(f"{message}.includes('north')", "the command that is no number is named")
    assert browser.evaluate("supple.page.paused")
    browser.evaluate("document.getElementById('reset').click()")
    browser.wait(f"{message} === '' && !supple.page.paused", "the robot is reset")
    time = browser.evaluate("supple.page.simulation.time")
    browser.wait(f"supple.page.simulation.time > {time} + 0.1", "it moves again")


def test_a_damaged_page_says_so(browser: Browser, tmp_path: Path) -> None:
    text = (BUILD / "diamond.html").read_text()
    start = text.index('id="model">') + len('id="model">')
    (tmp_path / "cut.html").write_text(text[: start + 4000] + text[text.index("</script>", start) :])
    browser.call("Page.navigate", url=(tmp_path / "cut.html").as_uri())
    browser.wait("document.querySelector('#message.error')?.textContent.length > 5", "the page says what is wrong")
