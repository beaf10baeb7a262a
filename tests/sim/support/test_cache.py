"""A cache beside processes that work, and what killed ones leave there."""

import multiprocessing
import threading
from pathlib import Path

import pytest

from celosia.sim.support.cache import CACHE_VARIABLE, cached


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path


def making(text):
    def make(work: Path) -> Path:
        (work / "file").write_text(text)
        return work / "file"

    return make


def test_what_a_killed_process_has_left_is_removed_and_what_another_makes_is_not(place):
    (place / "a" / ".making-old" / "model").mkdir(parents=True)
    (place / "a" / ".making-old" / "model" / "part.cpp").touch()
    seen = []

    def make(work):
        # Meanwhile another one makes its file, and looks for what is left.
        assert not (place / "a" / ".making-old").exists()
        cached("a/other", making("2"))
        seen.append(work.exists())
        return making("1")(work)

    assert cached("a/one", make).read_text() == "1"
    assert seen == [True]
    assert list(place.rglob(".making-*")) == []


def begun_and_killed(folder, begun):
    def make(work):
        begun.set()
        threading.Event().wait()
        return work

    cached("a/one", make)


def test_a_build_that_is_killed_leaves_nothing_behind_the_next(place):
    context = multiprocessing.get_context("fork")
    begun = context.Event()
    process = context.Process(target=begun_and_killed, args=(place, begun))
    process.start()
    assert begun.wait(20)
    process.kill()
    process.join()
    assert len(list((place / "a").glob(".making-*"))) == 1
    cached("a/two", making("2"))
    assert list(place.rglob(".making-*")) == []


def test_who_waits_for_another_process_says_so(place):
    told, asked, go = [], threading.Event(), threading.Event()

    def slow(work):
        asked.set()
        go.wait(20)
        return making("slow")(work)

    other = threading.Thread(target=cached, args=("a/one", slow))
    other.start()
    assert asked.wait(20)

    def wait():
        told.append("waiting")
        go.set()

    found = cached("a/one", making("fast"), wait)
    other.join()
    assert (found.read_text(), told) == ("slow", ["waiting"])
    cached("a/one", making("again"), lambda: told.append("for nobody"))
    assert told == ["waiting"]
