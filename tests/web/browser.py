"""Headless Chromium, driven by its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

SIZE = (1100, 700)  # pixels
LIMIT = 60.0  # s: pages are drawn by the processor here


class Browser:
    """One tab. `requests`: addresses that it asked for; `errors`: exceptions and warnings of pages."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={folder}",
             f"--window-size={SIZE[0]},{SIZE[1]}", "--hide-scrollbars", "--use-angle=swiftshader", "--use-gl=angle",
             "--enable-unsafe-swiftshader", "--disable-background-networking", "--no-first-run", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        port_file = folder / "DevToolsActivePort"
        port = self._until(lambda: port_file.exists() and port_file.read_text().split("\n")[0], "Chromium starts")

        def tab() -> Any:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                return next((tab for tab in json.load(answer) if tab["type"] == "page"), None)

        self.socket = connect(self._until(tab, "a tab opens")["webSocketDebuggerUrl"], max_size=None)
        self.numbers = itertools.count(1)
        self.requests: list[str] = []
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=SIZE[0], height=SIZE[1], deviceScaleFactor=1, mobile=False
        )

    def close(self) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait()

    def call(self, method: str, **arguments: Any) -> Any:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": arguments}))
        while True:
            message = json.loads(self.socket.recv(timeout=LIMIT))
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return message["result"]
            event = message.get("method")
            if event == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif event == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"]))
            elif event == "Runtime.consoleAPICalled" and message["params"]["type"] in ("error", "warning"):
                self.errors.append(json.dumps(message["params"]["args"]))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of its promise."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, page: Path, query: str = "") -> None:
        """A page of a robot, as soon as the robot is there."""
        self.requests.clear()
        self.errors.clear()
        self.call("Page.navigate", url=page.resolve().as_uri() + query)
        self._until(lambda: self.evaluate("Boolean(window.supple)") or self.errors, f"{page.name} shows a robot")
        assert not self.errors, self.errors

    def mouse(self, kind: str, x: float, y: float) -> None:
        """kind: mousePressed, mouseMoved, mouseReleased; in pixels."""
        buttons = 0 if kind == "mouseReleased" else 1
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def wait(self, expression: str, what: str) -> None:
        """Until a JavaScript expression is true."""
        self._until(lambda: self.evaluate(expression), what)

    def screenshot(self, file: Path) -> Path:
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        return file

    @staticmethod
    def _until(test: Any, what: str) -> Any:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            value = test()
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {LIMIT:.0f} s: {what}")
