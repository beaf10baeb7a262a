"""A Chromium that tests drive: pages from files, scripts in them, and pictures.

It speaks the DevTools protocol over two pipes, so that no port is open and no library is needed.
"""

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celosia.sim.reporting.page.browser import find_browser

__all__ = ["Page", "open_page"]

_PATIENCE = 60


class Page:
    """A page in a browser without a window."""

    def __init__(self, down: int, up: int):
        self._down, self._up = down, up
        self._number, self._session, self._rest = 0, "", b""
        self.errors: list[str] = []
        """What scripts of the page have thrown, or written as errors."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self._call(f"{domain}.enable")

    def resize(self, width: int, height: int, *, dark: bool = False, calm: bool = False) -> None:
        """Show the page so wide and high, and as readers prefer it."""
        size: dict[str, Any] = {"width": width, "height": height}
        self._call("Emulation.setDeviceMetricsOverride", **size, deviceScaleFactor=1, mobile=False)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        self._call("Emulation.setEmulatedMedia", features=features)

    def go(self, path: Path, query: str = "") -> None:
        """Show the page in a file."""
        self._call("Page.navigate", url=f"{path.absolute().as_uri()}{query}")
        self.until("document.readyState === 'complete'")

    def tell(self, script: str) -> Any:
        """What an expression of the page is; promises are waited for."""
        found = self._call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression of the page is true."""
        wait = (
            f"new Promise((good, bad) => {{ const end = Date.now() + {_PATIENCE}000; (function look"
            f"() {{ if ({condition}) good(true); else if (Date.now() > end) bad(new Error("
            f"{json.dumps(condition)} + ' is never true')); else setTimeout(look, 20); }})(); }})"
        )
        self.tell(wait)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "Tab": 9}[key]
            self._call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **text,
            )

    def picture(self, path: Path) -> None:
        """Write what is seen of the whole page to a PNG file."""
        found = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def _call(self, method: str, **values: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._down, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found["error"]
                return found["result"]
            self._note(found)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._up, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(told["exceptionDetails"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.errors.append(json.dumps(told["args"]))
        elif event.get("method") == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if not url.startswith(("file:", "blob:", "data:", "about:")):
                self.errors.append(f"the page asks for {url}")


@contextmanager
def open_page() -> Iterator[Page]:
    """A page in a browser of its own."""
    browser = find_browser()
    assert browser, "there is no Chromium"
    to_browser, down = os.pipe()
    up, from_browser = os.pipe()

    # Its processes may still write there when the first one has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            # The browser reads from 3 and writes to 4, whatever numbers the pipes have here.
            *("bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", browser),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
            "about:blank",
        ]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_browser, from_browser),
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(down, up)
        finally:
            process.kill()
            process.wait()
            os.close(down)
            os.close(up)
