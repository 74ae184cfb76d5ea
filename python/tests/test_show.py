"""The view in a browser, as a client of its server finds it."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import supple

viser = pytest.importorskip("viser")

import msgspec
import zstandard
from websockets.sync.client import connect


class Page:
    """A browser, as far as the server can tell."""

    def __init__(self, view: supple.View) -> None:
        self.socket = connect(
            view.url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"], max_size=None
        )
        self.messages: list[dict[str, Any]] = []
        self.arrays = 0  # bytes
        self.do("ViewerCameraMessage", wxyz=[1, 0, 0, 0], position=[1, 0, 0], fov=1, near=0.01, far=9, image_height=600)
        self.until(lambda: any(m["type"] == "ReplayDoneMessage" for m in self.messages))

    def do(self, kind: str, **fields: Any) -> None:
        if kind == "ViewerCameraMessage":
            fields |= {"image_width": 800, "look_at": [0, 0, 0], "up_direction": [0, 0, 1]}
        self.socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def receive(self, seconds: float) -> None:
        try:
            data = self.socket.recv(timeout=seconds)
        except TimeoutError:
            return
        assert isinstance(data, bytes)
        length = int.from_bytes(data[8:16], "little")
        decoded = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data[16 : 16 + length]))
        self.messages += decoded["messages"]
        self.arrays += sum(decoded["binaryBufferLengths"])

    def until(self, condition: Callable[[], bool], also: Callable[[], None] = lambda: None) -> None:
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end, [m["type"] for m in self.messages]
            also()
            self.receive(0.02)

    def find(self, kind: str, label: str) -> str:
        """The key of a slider or button."""
        return str(next(m["uuid"] for m in self.messages if m["type"] == kind and m["props"]["label"] == label))

    def press(self, label: str) -> None:
        self.do("GuiUpdateMessage", uuid=self.find("GuiButtonMessage", label), updates={"value": True})

    def set(self, label: str, value: float) -> None:
        self.do("GuiUpdateMessage", uuid=self.find("GuiSliderMessage", label), updates={"value": value})

    def texts(self) -> str:
        return str([m["updates"].get("_markdown") for m in self.messages if m["type"] == "GuiUpdateMessage"])

    def nodes(self) -> set[str]:
        return {m["name"] for m in self.messages if "name" in m}


@pytest.fixture
def no_thread_remains() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + 20
    while left := set(threading.enumerate()) - before:
        assert time.monotonic() < end, left
        time.sleep(0.01)


pytestmark = pytest.mark.usefixtures("no_thread_remains")


def test_a_slider_gives_commands_to_all_shown_robots(model: supple.Model) -> None:
    sim = supple.Simulation(model, 3)
    sim.settle()
    with supple.show(sim, robots=[0, 2], run=False) as view:
        page = Page(view)
        assert {"/robots/0/skin", "/robots/2/skin", "/robots/2/effectors/tip"} <= page.nodes()
        page.set("upper [mm]", 4.0)
        page.until(lambda: bool(sim.commands[0, 0] == 0.004), view.update)
        assert sim.commands.tolist() == [[0.004, 0], [0, 0], [0.004, 0]]
        sim.commands[0, 1] = 0.002  # the slider follows
        key = page.find("GuiSliderMessage", "lower [mm]")
        page.until(
            lambda: any(m.get("uuid") == key and m["type"] == "GuiUpdateMessage" for m in page.messages), view.update
        )
        assert sim.commands[2, 1] == 0  # and gives no command itself
        page.press("Reset")
        page.until(lambda: not sim.commands.any(), view.update)


def test_only_what_has_changed_is_sent(model: supple.Model) -> None:
    with supple.show(model, run=False) as view:
        page = Page(view)
        page.arrays = 0
        for _ in range(4):
            view.update()
            page.receive(0.05)
        assert page.arrays == 0
        view.sim.commands[0, 0] = 0.004
        view.sim.step(5)
        view.update()
        page.until(lambda: page.arrays > 0)
        assert page.arrays == 12 * len(view.sim.skin())


def test_the_tip_follows_a_goal_that_is_dragged(model: supple.Model) -> None:
    with supple.show(model, inverse=True) as view:
        sim, page = view.sim, Page(view)
        with view.lock:
            start, goal = sim.effectors[0, 0].copy(), sim.goals[0, 0] + [0, 0, 0.004]
        name = "/robots/0/goals/tip"
        page.do("TransformControlsUpdateMessage", name=name, wxyz=[1, 0, 0, 0], position=goal.tolist())

        def distance() -> float:
            with view.lock:
                return float(np.linalg.norm(sim.effectors[0, 0] - goal))

        page.until(lambda: distance() < 1e-4)
        with view.lock:
            assert np.array_equal(sim.goals[0, 0], goal)
        page.press("Pause")
        page.until(lambda: not view.running)
        page.press("Reset")
        page.until(lambda: bool(np.array_equal(sim.effectors[0, 0], start)))
        assert sim.goals[0, 0] == pytest.approx(start)
        steps = sim.steps
        page.press("Step")
        page.until(lambda: sim.steps == steps + 1)


def test_it_keeps_to_real_time_and_survives_its_clients(model: supple.Model) -> None:
    with supple.show(model) as view:
        Page(view).socket.close()
        page = Page(view)
        begin, simulated = time.monotonic(), view.sim.time
        page.until(lambda: view.sim.time > simulated + 0.3)
        assert time.monotonic() - begin > 0.25
        page.until(lambda: "real-time factor" in page.texts())
        assert page.socket.recv(timeout=10)


def test_a_failed_robot_is_named(model: supple.Model) -> None:
    sim = supple.Simulation(model, 2)
    with supple.show(sim, robots=[0, 1]) as view:
        page = Page(view)
        with view.lock:
            state = sim.get_state()
            state["v"][1] = 1e200
            sim.set_state(state)
        page.until(lambda: "robot 1: step" in page.texts())
        assert view.running and not view.error
        with view.lock:
            state["v"][0] = 1e200
            sim.set_state(state)
        page.until(lambda: "all 2 robots failed" in page.texts())
        assert not view.running
        page.press("Reset")
        page.until(lambda: not view.error)
        assert not sim.failed.any()


def test_obstacles_and_contacts(model_on_floor: supple.Model) -> None:
    with supple.show(supple.Simulation(model_on_floor), run=False) as view:
        page = Page(view)
        assert "/robots/0/obstacles/floor" in page.nodes()
        view.sim.commands[0, 1] = 0.004
        view.sim.step(40)
        time.sleep(0.5)  # figures are sent twice a second
        view.update()
        page.until(lambda: "contacts" in page.texts())


def test_close_frees_the_port(model: supple.Model) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for _ in range(2):
        view = supple.show(model, port=port)
        assert view.url == f"http://127.0.0.1:{port}" and view.url in view._repr_html_()
        view.close()
        view.close()
    assert "closed" in repr(view) and "closed" in view._repr_html_()
    view.wait()


def test_close_by_the_holder_of_the_lock(model: supple.Model) -> None:
    view = supple.show(model)
    with view.lock:
        time.sleep(0.1)  # the thread of the view waits for the lock
        view.close()
    assert "closed" in repr(view)


def test_other_failures_are_shown_too(model: supple.Model) -> None:
    with supple.show(model) as view:
        view._asked.put(lambda: 1 / 0)
        end = time.monotonic() + 20
        while not view.error and time.monotonic() < end:
            time.sleep(0.01)
        assert "ZeroDivisionError" in view.error and not view.running
        view.reset()
        assert not view.error


def test_errors(model: supple.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    sim = supple.Simulation(model)
    with pytest.raises(supple.InputError, match="not in a batch"):
        supple.show(sim, robots=[1])
    for wrong in ([], [0, 0], [-1]):
        with pytest.raises(supple.InputError, match="no indices of different robots"):
            supple.show(model, robots=wrong)
    with pytest.raises(supple.InputError, match="options of a new simulation"):
        supple.show(sim, inverse=True)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(supple.CapabilityError, match="needs viser"):
        supple.show(sim)
