"""A browser without a window, to look at pages with."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["PROGRAMS", "console_errors", "find_browser", "page_source", "picture", "print_page"]

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Names of Chromium; Debian's package is the first."""

_MILLISECONDS: Final = 20_000
"""Milliseconds of the page's own time in which it must have drawn everything."""
_PATIENCE: Final = 240


def find_browser() -> str | None:
    """The path of a Chromium; None: there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def page_source(page: Path, query: str = "", width: int = 1280) -> tuple[str, list[str]]:
    """What has become of `page` when all is drawn, and errors of its console."""
    done = _run(page, query, "--dump-dom", f"--window-size={width},2000")
    return done.stdout, console_errors(done.stderr)


def picture(
    page: Path, target: Path, query: str = "", size: tuple[int, int] = (1280, 2000)
) -> None:
    """Write what a window of `size` shows of `page` to the PNG file `target`."""
    width, height = size
    _run(page, query, f"--screenshot={target.absolute()}", f"--window-size={width},{height}")


def print_page(page: Path, target: Path) -> None:
    """Print `page` to the PDF file `target`."""
    _run(page, "", f"--print-to-pdf={target.absolute()}", "--no-pdf-header-footer")


def console_errors(log: str) -> list[str]:
    """The lines of a browser's log that its page has written as errors."""
    lines = [line for line in log.splitlines() if ":CONSOLE" in line]
    return [line for line in lines if ":ERROR:" in line or "Uncaught" in line or "rror:" in line]


def _run(page: Path, query: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = find_browser()
    if program is None:
        raise EnvironmentProblem(f"there is no {PROGRAMS[0]} on PATH (Debian package chromium)")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            program,
            "--headless",
            "--no-sandbox",  # Pages are our own; containers often forbid the sandbox.
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            f"--user-data-dir={folder}",
            f"--virtual-time-budget={_MILLISECONDS}",
            *options,
            f"{page.absolute().as_uri()}{query}",
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    if done.returncode:
        raise EnvironmentProblem(f"{program} ended with exit code {done.returncode}")
    return done
