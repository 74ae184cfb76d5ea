"""Robots live in a browser, by viser (``pip install supple[show]``)."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from html import escape
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ._core import Model, Scene, Simulation, format_quantity
from ._errors import CapabilityError, Error, InputError, RunError
from ._picture import place_skins
from ._reduction import Reduction

Array = npt.NDArray[np.float64]
Ask = Callable[[Callable[[], object]], None]  # does it in the next update

_FRAME = 1 / 30  # s between two pictures
_TROUBLES = 6  # texts about failures at once
_SKIN, _FAILED, _OBSTACLE = (237, 158, 107), (200, 60, 60), (120, 144, 156)
_UNITS = {"length": ("mm", 1e-3), "force": ("N", 1.0), "stress": ("kPa", 1e3), "volume": ("mL", 1e-6)}
_DEGREE = ("°", np.pi / 180)
_GOALS = {  # numbers of a goal that has no place: their name, and unit
    "orientation": [(" about x", _DEGREE), (" about y", _DEGREE), (" about z", _DEGREE)],
    "length": [("", _UNITS["length"])],
    "volume": [("", _UNITS["volume"])],
}


def show(
    target: Model | Reduction | Scene | Simulation,
    *,
    robots: Iterable[int] = (0,),
    spacing: float | None = None,
    smooth: bool = False,
    run: bool = True,
    host: str = "127.0.0.1",
    port: int = 8080,
    **options: Any,
) -> View:
    """Shows robots in a browser, live, with a slider for each command or, in inverse control, a goal to drag.

    Args:
        target: a simulation, which is shown from its present state on; or what a simulation is made of: a model, a
            reduction or a scene, whose robots begin in equilibrium where they have one.
        robots: which of the batch; they stand side by side. Sliders drive all of them.
        spacing: distance between two robots [m]; by default what their size takes.
        smooth: shade across the edges of triangles.
        run: a thread of the view steps the simulation in real time, or as fast as it can. Hold ``view.lock`` while you
            use the simulation. False: you step it, and call ``view.update()``.
        host: address that the server listens on; "0.0.0.0" for other machines too.
        port: the first that is tried; the next free one is taken.
        options: of the simulation, where ``target`` is not one: ``inverse=True``, ``device="cuda:0"``, ...

    The browser gets all positions of a skin, not the coordinates of its modes: 12 bytes a node whenever a robot has
    moved, at most 30 times a second; 13 kB each time for the finger, 19 kB for the diamond.

    Raises InputError for robots that are not in the batch, and CapabilityError where viser is not installed.
    """
    try:
        import viser
    except ImportError:
        raise CapabilityError("a view in a browser needs viser", "pip install supple[show]") from None

    chosen = list(robots)
    if len(set(chosen)) != len(chosen) or min(chosen, default=-1) < 0:
        raise InputError(f"robots {chosen} are no indices of different robots", "0, 1, ...")
    if isinstance(target, Simulation):
        if options:
            raise InputError(f"{sorted(options)} are options of a new simulation", "give a model, not a simulation")
        sim = target
    else:
        source = target.model if isinstance(target, Reduction) else target
        sim = Simulation(source, max(chosen, default=0) + 1, **options)
        try:
            sim.settle()
        except RunError:  # without an equilibrium: from rest
            sim.reset()
    place_skins(sim, chosen, spacing)  # raises before a server runs
    server = viser.ViserServer(host=host, port=port, label="Supple", verbose=False)
    try:
        return View(sim, server, chosen, spacing, smooth, run)
    except BaseException:
        server.stop()
        raise


class View:
    """Robots in a browser: what ``show`` returns. A context manager; a notebook shows the page.

    Attributes:
        sim: the simulation.
        lock: held by the view while it uses the simulation; hold it where you do so in another thread.
        running: whether the thread of the view steps. False: paused.
        error: why stepping stopped, or an empty text.
    """

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        robots: list[int],
        spacing: float | None,
        smooth: bool,
        run: bool,
    ) -> None:
        """See ``show``; ``server`` is a viser.ViserServer, which the view closes."""
        self.sim, self.lock, self.running, self.error = sim, threading.RLock(), run, ""
        self._server, self._closed = server, threading.Event()
        self._start = sim.get_state()
        given = ("commands", "motions", "goals") if sim.inverse else ("commands", "motions")
        self._given = {name: getattr(sim, name).copy() for name in given}
        self._asked: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()  # in the browser, not done yet
        skins, shifts = place_skins(sim, robots, spacing)
        size = float(np.ptp(skins[0], axis=0).max())
        points = np.concatenate([skin + shift for skin, shift in zip(skins, shifts)])
        cell = _add_surroundings(server, points, size)
        self._robots = [
            _Robot(sim, server.scene, self._asked.put, b, skin, shift, size, smooth)
            for b, skin, shift in zip(robots, skins, shifts)
        ]
        for robot in self._robots:
            for name, (vertices, triangles) in zip(sim.obstacle_names, sim.obstacle_surfaces()):
                server.scene.add_mesh_simple(
                    f"{robot.node}/obstacles/{name}",
                    vertices,
                    triangles,
                    color=_OBSTACLE,
                    opacity=0.5,
                    flat_shading=True,
                    side="double",
                )
        self._panel = _Panel(self, server.gui, self._asked.put, robots, cell, run)
        self.update()
        self._thread = threading.Thread(target=self._run, name="supple.show", daemon=True) if run else None
        if self._thread:
            self._thread.start()
        atexit.register(self.close)

    @property
    def url(self) -> str:
        """Where the page is."""
        host = self._server.get_host()
        return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{self._server.get_port()}"

    def update(self) -> None:
        """Does what was asked for in the browser since the last call, and sends there what has changed."""
        with self.lock, self._server.atomic():
            while not self._asked.empty():
                self._asked.get()()
            for robot in self._robots:
                robot.send()
            self._panel.send()

    def reset(self) -> None:
        """Back to the state, commands and goals with which the view was opened."""
        with self.lock:
            self.sim.reset()  # of robots that have failed too
            self.sim.set_state(self._start)
            for name, numbers in self._given.items():
                getattr(self.sim, name)[:] = numbers
            self.error = ""

    def wait(self) -> None:
        """Returns when the view is closed; Ctrl-C closes it. For the end of a script."""
        try:
            self._closed.wait()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stops the thread and the server. The simulation stays as it is."""
        if self._closed.is_set():
            return
        self._closed.set()
        atexit.unregister(self.close)
        if self._thread:
            self._thread.join()
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<supple.View {'closed' if self._closed.is_set() else self.url}>"

    def _repr_html_(self) -> str:
        if self._closed.is_set():
            return "<p>The view is closed.</p>"
        return f'<iframe src="{escape(self.url)}" width="100%" height="520" style="border: 1px solid #ddd"></iframe>'

    def _run(self) -> None:
        """Steps in real time. What a slow robot owes beyond one step is dropped."""
        sim, last, owed = self.sim, perf_counter(), 0.0
        while not self._closed.wait(max(1e-3, last + _FRAME - perf_counter())):  # other threads may have the lock now
            if not self.lock.acquire(timeout=_FRAME):  # whoever has it may be closing the view
                continue
            try:
                now = perf_counter()
                owed, last = owed + now - last, now
                while self.running and owed >= sim.time_step and perf_counter() < now + _FRAME:
                    self._step()
                    owed -= sim.time_step
                owed = min(owed, sim.time_step)
                self.update()
            except Exception as error:  # the page shows it, and is served on
                self.error, self.running = f"{type(error).__name__}: {error}", False
            finally:
                self.lock.release()

    def _step(self) -> None:
        begin = perf_counter()
        try:
            self.sim.step()
        except Error as error:
            self.error, self.running = error.problem, False
        self._panel.count(perf_counter() - begin)

    def _toggle(self) -> None:
        self.running, self.error = not self.running, ""

    def _single_step(self) -> None:
        self.running, self.error = False, ""
        self._step()


class _Robot:
    """What is drawn of one robot, in its own frame: skin, effectors, goals to drag."""

    def __init__(
        self, sim: Simulation, scene: Any, ask: Ask, index: int, skin: Array, shift: Array, size: float, smooth: bool
    ) -> None:
        self.sim, self.index, self.node = sim, index, f"/robots/{index}"
        self.places = [e for e, kind in enumerate(sim.effector_kinds) if kind == "position"]
        scene.add_frame(self.node, show_axes=False, position=shift)
        triangles = np.asarray(sim.triangles)
        self.skin = scene.add_mesh_simple(
            f"{self.node}/skin", skin, triangles, color=_SKIN, flat_shading=not smooth, side="double"
        )
        self.tips, self.goals = [], []
        for e in self.places:
            name = sim.effector_names[e]
            self.tips.append(scene.add_icosphere(f"{self.node}/effectors/{name}", 0.012 * size, (20, 20, 20)))
            if sim.inverse and sim.steered[e]:
                self.goals.append(_Goal(scene, ask, f"{self.node}/goals/{name}", sim.goals[index, e], size))

    def send(self) -> None:
        """All that has changed; viser leaves out what has not."""
        self.skin.vertices = self.sim.skin(self.index)
        self.skin.color = _FAILED if self.sim.failed[self.index] else _SKIN
        for e, tip in zip(self.places, self.tips):
            tip.position = self.sim.effectors[self.index, e]
        for goal in self.goals:
            goal.send()


class _Goal:
    """A goal [3, m], a view of the simulation's, that is dragged."""

    def __init__(self, scene: Any, ask: Ask, name: str, goal: Array, size: float) -> None:
        self.goal, self.seen = goal, goal.copy()
        self.gizmo = scene.add_transform_controls(
            name, scale=0.2 * size, disable_rotations=True, depth_test=False, position=goal
        )
        scene.add_icosphere(f"{name}/ball", 0.014 * size, (200, 30, 30))
        self.gizmo.on_update(lambda _: ask(self.take))

    def take(self) -> None:
        self.goal[:] = self.seen[:] = self.gizmo.position

    def send(self) -> None:
        if not np.array_equal(self.seen, self.goal):  # changed in Python
            self.gizmo.position = self.goal
            self.seen[:] = self.goal


class _Panel:
    """Figures, buttons and a number for each command, motion, and goal that has no place."""

    def __init__(self, view: View, gui: Any, ask: Ask, robots: list[int], cell: float, run: bool) -> None:
        self.view, self.first, self.cell = view, robots[0], cell
        self.spent, self.steps = 0.0, 0  # s, steps since the last figures
        self.since = view.sim.time, perf_counter()
        self.figures, self.trouble = _Text(gui), _Text(gui)
        self.pause = None
        if run:
            self.pause = gui.add_button("Pause")
            self.pause.on_click(lambda _: ask(view._toggle))
            gui.add_button("Step").on_click(lambda _: ask(view._single_step))
        gui.add_button("Reset").on_click(lambda _: ask(view.reset))
        self.numbers = [_Number(gui, ask, robots, *row) for row in _numbers(view.sim, robots[0])]

    def count(self, seconds: float) -> None:
        """A step took so long."""
        self.spent, self.steps = self.spent + seconds, self.steps + 1

    def send(self) -> None:
        sim, now = self.view.sim, perf_counter()
        for number in self.numbers:
            number.send()
        trouble = dict.fromkeys([self.view.error, *sim.failures, *(sim.held if sim.inverse else [])])
        self.trouble.send("\n\n".join(f"**{text}**" for text in list(trouble)[:_TROUBLES] if text))
        if self.pause:
            self.pause.label = "Pause" if self.view.running else "Continue"
        time, since = self.since
        if self.figures.text and now - since < 0.5:
            return
        rows = [("time", f"{sim.time:.2f} s")]
        if self.pause:
            step = format_quantity(self.spent / self.steps, "time") if self.steps else "-"
            rows.append(("real-time factor", f"{max(sim.time - time, 0.0) / (now - since):.2f}"))
            rows.append(("time of a step", step))
        if sim.inverse:
            errors = 1e3 * sim.goal_errors[self.first]
            rows += [(f"error of {name}", f"{error:.3f} mm") for name, error in zip(sim.effector_names, errors)]
        if sim.obstacle_names:
            touches = sim.touches(self.first)
            rows.append(("contacts", f"{len(touches)}, {sum(touch['normal_force'] for touch in touches):.3g} N"))
        rows.append(("a square of the grid", f"{1e3 * self.cell:g} mm"))
        self.figures.send("| | |\n|---|---|\n" + "\n".join(f"| {name} | {value} |" for name, value in rows))
        self.since, self.spent, self.steps = (sim.time, now), 0.0, 0


class _Text:
    """Markdown that is sent where it has changed."""

    def __init__(self, gui: Any) -> None:
        self.text, self.handle = "", gui.add_markdown("", visible=False)

    def send(self, text: str) -> None:
        if text != self.text:
            self.text = self.handle.content = text
            self.handle.visible = bool(text)


class _Number:
    """A number of all shown robots: a slider where its range is known. It follows that of the first one."""

    def __init__(
        self,
        gui: Any,
        ask: Ask,
        robots: list[int],
        name: str,
        unit: str,
        factor: float,
        ends: tuple[float, float],
        given: Array,
        shown: Callable[[], float],
        given_by_hand: bool,
    ) -> None:
        """given [robots]: a view of the simulation's numbers; shown(): that of the first robot; both SI."""
        self.robots, self.factor, self.given, self.shown = robots, factor, given, shown
        self.seen = shown()
        label, value, (low, high) = f"{name} [{unit}]", float(self.seen / factor), (float(end / factor) for end in ends)
        off = not given_by_hand
        if np.isfinite([low, high]).all() and high > low:
            step = 10.0 ** np.floor(np.log10((high - low) / 100))
            self.handle = gui.add_slider(label, low, high, float(step), min(max(value, low), high), disabled=off)
        else:
            limits = {key: end for key, end in (("min", low), ("max", high)) if np.isfinite(end)}
            self.handle = gui.add_number(label, value, disabled=off, **limits)
        # Called too where send() sets the number: then without a client.
        self.handle.on_update(lambda event: ask(self.take) if event.client is not None else None)

    def take(self) -> None:
        self.given[self.robots] = self.handle.value * self.factor
        self.seen = self.shown()

    def send(self) -> None:
        value = self.shown()
        if value != self.seen:  # changed in Python, or by inverse control
            self.handle.value = float(f"{value / self.factor:.4g}")
            self.seen = value


def _numbers(sim: Simulation, first: int) -> Iterator[tuple[Any, ...]]:
    """The arguments of a _Number, for each."""
    hand = not sim.inverse
    for k, (name, ends, dimension) in enumerate(zip(sim.actuator_names, sim.ranges, sim.command_dimensions)):
        array = "commands" if hand else "applied"
        yield name, *_UNITS[dimension], ends, sim.commands[:, k], _reader(sim, array, (first, k)), hand
    for k, (name, ends) in enumerate(zip(sim.motion_names, sim.motion_ranges)):
        yield name, *_UNITS["length"], ends, sim.motions[:, k], _reader(sim, "motions", (first, k)), hand
    if hand:
        return
    for e, (name, kind) in enumerate(zip(sim.effector_names, sim.effector_kinds)):
        for k, (axis, unit) in enumerate(_GOALS.get(kind, [])):
            goal = _reader(sim, "goals", (first, e, k))
            yield f"goal of {name}{axis}", *unit, (-np.inf, np.inf), sim.goals[:, e, k], goal, True


def _reader(sim: Simulation, array: str, at: tuple[int, ...]) -> Callable[[], float]:
    """The present number: on a device an array is copied when the property is read."""
    return lambda: float(getattr(sim, array)[at])


def _add_surroundings(server: Any, points: Array, size: float) -> float:
    """Camera and grid for robots of a size [m] whose skins have these points. Returns the width of its squares [m]."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    middle, extent = (lower + upper) / 2, float((upper - lower).max())
    camera = server.initial_camera
    camera.look_at = middle
    camera.position = middle + 2.2 * extent * np.array([0.47, -0.81, 0.34])
    camera.fov, camera.near, camera.far = np.radians(40), 0.01 * size, 100 * extent
    cell = float(10.0 ** np.round(np.log10(size / 10)))
    width = float(10 * cell * np.ceil(0.2 * extent / cell))
    server.scene.add_grid(
        "/grid",
        width,
        width,
        cell_size=cell,
        section_size=10 * cell,
        position=(middle[0], middle[1], lower[2] - 1e-3 * size),
    )
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return cell
