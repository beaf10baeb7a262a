"""One damaged file, and what is wrong with how a command takes it."""

import time
from pathlib import Path

import pytest

from celosia.lab.fuzz.files import attempt as attempts
from celosia.lab.fuzz.files import command
from celosia.lab.fuzz.files.attempt import attempt
from celosia.lab.fuzz.files.command import Ended, celosia
from celosia.lab.fuzz.files.kinds import KINDS, FileKind, kinds

KIND = FileKind(file="a", words=("x",), make=lambda: {"a": b"1"})
CACHE = FileKind(file="", words=("x",), make=lambda: {}, cache_folder="cache")


@pytest.mark.parametrize(
    ("kind", "ended", "why"),
    [
        (KIND, Ended(0, "fine"), ""),
        (KIND, Ended(1, "wrong"), ""),
        (KIND, Ended(2, "a: no"), ""),
        (KIND, Ended(2, " \n"), "without a word"),
        (KIND, Ended(None, "x"), "exit code None"),
        (KIND, Ended(3, "x"), "exit code 3"),
        (KIND, Ended(0, "Traceback (most recent"), "Traceback"),
        (KIND, Ended(0, "note: x; the mistake is Celosia's,\nplease report it"), "a mistake"),
        (KIND, Ended(2, "x; the mistake is Celosia's, please report it"), "a mistake"),
        (CACHE, Ended(0, "made again"), ""),
        (CACHE, Ended(2, "damaged"), "not made again"),
    ],
)
def test_what_a_command_must_not_do(kind, ended, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = attempts._wrong(kind, ended, {})
    assert why in found
    assert bool(found) == bool(why)


def test_bad_input_that_leaves_something_behind_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("new").write_text("")
    assert "it wrote new" in attempts._wrong(KIND, Ended(2, "no"), {})


def test_the_same_seed_is_the_same_attempt():
    first, second = (attempt(5, ("program",)) for _ in range(2))
    assert first == second
    assert first.data != attempt(6, ("program",)).data


def test_all_kinds_are_good_before_they_are_damaged(tmp_path, monkeypatch):
    """But for the cache and runs, which need a simulator, and a patch, which is of nothing."""
    monkeypatch.chdir(tmp_path)
    for name in kinds():
        kind = KINDS[name]
        if kind.cache_folder or name in {"energies", "patch"} or name.startswith("report"):
            continue
        for file, data in kind.make().items():
            Path(file).write_bytes(data)
        ended = celosia(kind.words, seconds=600)
        assert ended.code == 0, (name, ended.output)


def test_a_command_that_does_not_end(monkeypatch):
    class Endless:
        def load(self):
            def main():
                while True:
                    pass

            return main

    monkeypatch.setattr(command, "entry_points", lambda **_: [Endless()])
    ended = celosia(("run",), seconds=0.2)
    assert ended.code is None
    assert "did not end within 0.2 s of processor time" in ended.output


def test_a_command_that_waits_for_ever(monkeypatch):
    class Waiting:
        def load(self):
            return lambda: time.sleep(60)

    monkeypatch.setattr(command, "entry_points", lambda **_: [Waiting()])
    ended = celosia(("run",), seconds=0.01)
    assert ended.code is None
    assert "did not end" in ended.output


def test_a_traceback_is_kept(monkeypatch):
    class Broken:
        def load(self):
            raise KeyError("x")

    monkeypatch.setattr(command, "entry_points", lambda **_: [Broken()])
    ended = celosia(("run",))
    assert ended.code is None
    assert "KeyError" in ended.output
