"""What all tests share: Hypothesis profiles, and processes that waste little time.

The tests are the same on every run, except at night.
"""

import gc
import logging
import signal
from collections.abc import Generator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from rich.console import RenderableType
from rich.table import Table

import celosia.sim as _one_thread_of_blas  # noqa: F401 (before a test imports NumPy)
from celosia.sim.run import origin
from celosia.sw.decoding import bucket
from celosia.sw.rewriting.mistakes import MISTAKES
from tests.support.documents import validate
from tests.support.shared_results import set_folder

# Simulations are slow and xdist's workers share two cores: no deadline, no complaint about speed.
_UNHURRIED = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("ci", derandomize=True, database=None, **_UNHURRIED)
settings.register_profile("dev", print_blob=True, **_UNHURRIED)
settings.register_profile("nightly", max_examples=5_000, print_blob=True, **_UNHURRIED)

settings.load_profile("ci")  # `--hypothesis-profile` on the command line overrides it.

# Collection makes a million objects that live until the end: to look for garbage among them, over
# and over, takes longer than to make them.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage again, of what tests make."""
    gc.freeze()  # Modules and tests, which nobody needs to look at again.
    # Graphs and programs are trees of small objects without cycles, so that references are enough
    # for nearly all; designs and simulators have cycles, but are few and large.
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def documents_follow_their_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test fails if a command that it calls writes JSON that is not what it has declared."""
    write = origin.as_json

    def checked(document: Mapping[str, Any]) -> str:
        validate(document)
        return write(document)

    monkeypatch.setattr(origin, "as_json", checked)


@pytest.fixture(autouse=True)
def tables_have_a_heading_for_each_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test fails if it shows a table with more, or fewer, cells in a row than headings.

    Rich would add columns without a heading, or leave cells empty.  A lone cell may head the rows
    below.
    """
    add_row = Table.add_row

    def checked(table: Table, *cells: RenderableType | None, **more: Any) -> None:
        columns = len(table.columns) if any(each.header for each in table.columns) else len(cells)
        assert len(cells) in {1, columns}, f"{len(cells)} cells below {columns} headings"
        add_row(table, *cells, **more)

    monkeypatch.setattr(Table, "add_row", checked)


@pytest.fixture
def compared_steps() -> None:
    """For tests of which sizes a decoder's step has: they are compared, as for users."""


@pytest.fixture(autouse=True)
def steps_have_the_usual_sizes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs of steps compute the same with any: comparing takes longer than compiling one."""
    if "compared_steps" not in request.fixturenames:
        monkeypatch.setattr(bucket, "choose_step", lambda _graph, _config, usual: usual)


_SECONDS = 100
"""A test's processor time, which no busy machine makes longer; it should take three seconds."""


class _Late(BaseException):
    """No `Exception`, of which Hypothesis would look for a simpler example."""


def _late(*_) -> None:
    raise _Late(f"the test did not finish in {_SECONDS} s of processor time")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Let a test that goes on for ever fail, unless it may take long."""
    if not any(item.get_closest_marker(name) for name in ("slow", "nightly", "formal")):
        signal.signal(signal.SIGVTALRM, _late)
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.fixture(scope="session", autouse=True)
def _shared_results(tmp_path_factory):
    set_folder(tmp_path_factory)


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


@pytest.fixture(autouse=True)
def mistakes():
    """Fails what makes Celosia tell a mistake of its own, unless the test clears the list."""
    listener = _Listener()
    MISTAKES.addHandler(listener)
    MISTAKES.setLevel(logging.DEBUG)
    yield listener.found
    MISTAKES.removeHandler(listener)
    assert not listener.found, listener.found[0]
