"""Chromium without a window, steered by the DevTools protocol through pipes: no port is opened."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time

LIMIT_SECONDS = 60


def program():
    """The browser's path, or None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page of one browser. What it logs and asks for is kept."""

    def __init__(self, profile):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # DevTools reads from descriptor 3 and writes to 4; they are put there from numbers beyond both.
        there = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        place = f"import os, sys; os.dup2({there[0]}, 3); os.dup2({there[1]}, 4); os.execv(sys.argv[1], sys.argv[1:])"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
                 "--remote-debugging-pipe", f"--user-data-dir={profile}"]  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-c", place, program(), *flags, "about:blank"],
            pass_fds=there,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in there:
            os.close(end)
        self._left = b""
        self._script = True
        self._number = 0
        self.events = []
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", session=None, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.call("Browser.close", session=None)
            self._process.wait(timeout=20)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def _receive(self):
        while b"\0" not in self._left:
            more = os.read(self._in, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self._left += more
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def call(self, method, session="page", **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def run(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def look(self, width, height=900, dark=False, media="", script=True):
        """Sets what a reader's screen is like. Below 500 pixels only this makes a window that narrow."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=media, features=scheme)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self._script = script

    def open(self, file):
        self.events = []
        self.call("Page.navigate", url=f"file://{file}")
        end = time.monotonic() + LIMIT_SECONDS
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            assert time.monotonic() < end, "the page does not load"
            self.await_event()
        if self._script:
            self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def await_event(self):
        self.events.append(self._receive())

    def saved(self):
        """Downloads that are complete, each once."""
        ended = [e["params"] for e in self.events if e.get("params", {}).get("state") == "completed"]
        return {one["guid"] for one in ended}

    def complaints(self):
        """Errors that the page threw or logged, broken rules of its policy among them."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("text"))
            elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                found.append(parameters["args"])
            elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def picture(self, path, full=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(shot["data"]))

    def print_to(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF")["data"]))
