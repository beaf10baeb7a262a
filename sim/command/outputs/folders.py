"""Writes what is asked for of a run: the page, its data, and the trace."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.profile.profile import Profile
from celosia.sim.run.origin import as_json
from celosia.sim.support.display import progress_bar
from celosia.sim.support.extras import check_extra
from celosia.sim.support.output import check_destination, write_file
from celosia.sim.support.problems import OutputError

__all__ = ["PAGE", "RUN", "check_folder", "check_place", "make_folder", "write_reports"]

PAGE: Final = "index.html"
RUN: Final = "RUN.json"
"""Names in the folder of a report."""


def check_folder(folder: Path | None, *beside: str) -> None:
    """Raise `OutputError` if a page, and files `beside` it, can certainly not be in `folder`.

    Raises `EnvironmentProblem` if there is nothing to draw its page with.
    """
    if folder is None:
        return
    check_extra("plotly", "report")
    check_place(folder, *beside)


def check_place(folder: Path, *beside: str) -> None:
    """Raise `OutputError` if a page, and files `beside` it, can certainly not be in `folder`."""
    if not folder.exists():
        check_destination(folder)
    elif not folder.is_dir():
        raise OutputError(f"{folder}: is not a directory")
    else:
        for name in (PAGE, *beside):
            check_destination(folder / name)


def make_folder(folder: Path) -> Path:
    """`folder`, which is there from now on.  Raises `OutputError` if it cannot be."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}") from None
    return folder


def write_reports(document: Mapping[str, Any], folder: Path | None, trace: Path | None) -> None:
    """Write the page and the trace of a run's `document`; no trace of one that took no command."""
    if folder is None and trace is None:
        return
    with progress_bar() as tell:
        tell("making the report", None)
        _write_reports(document, folder, trace)


def _write_reports(document: Mapping[str, Any], folder: Path | None, trace: Path | None) -> None:
    # Loaded when they are asked for: the libraries behind them take a while.
    if folder is not None:
        page = import_module("celosia.sim.reporting.page.page").page(document)
        make_folder(folder)
        write_file(folder / RUN, as_json(document))
        write_file(folder / PAGE, page)
    if trace is not None and document["profile"] is not None:
        writer = import_module("celosia.sim.reporting.trace")
        config = AcceleratorConfig(**document["config"])
        profile = Profile.from_document(document["profile"])
        write_file(trace, writer.trace_file(trace, profile, config))
