"""What a learned model begins with: logs that stand beside each other, sound and damaged."""

import json
from pathlib import Path

import pytest

from celosia.lab.sweep.version import whole_version
from celosia.lab.tune.features import FEATURES
from celosia.lab.tune.history import history_beside
from celosia.sim.support.problems import InputError
from tests.support.command_line import invoke, refused

PRODUCT = ("matmul", "--shape", "9x10x11", "--preset", "tiny")
NUMBERS = [0.5] * len(FEATURES)


def logged(path: Path, *trials: dict, **head) -> None:
    first = {"key": "k", "oracle": "rtl", "version": whole_version(), "schema": "celosia.tune/1"}
    lines = [first | head, *({"strategy": "x", "trial": 0, "chosen": {}} | each for each in trials)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_runs_of_all_other_logs_of_these_sources_are_known(tmp_path):
    ran = {"cycles": 110, "predicted": 100, "features": NUMBERS}
    logged(tmp_path / "a", ran, {"refused": "rule"}, {"cycles": 9})
    logged(tmp_path / "b", ran | {"cycles": 120})
    logged(tmp_path / "older", ran, version="another")
    logged(tmp_path / "model", {"cycles": 3}, oracle="model")
    logged(tmp_path / "mine", ran)
    (tmp_path / "notes.txt").write_text("no log")
    (tmp_path / "bytes").write_bytes(b"\x00\xff")
    (tmp_path / "folder").mkdir()
    known = history_beside(tmp_path / "mine")
    assert [each.cycles for each in known.samples] == [110, 120]
    assert known.samples[0].seen.predicted == 100
    assert (known.logs, known.left_out) == (2, 1)
    assert history_beside(tmp_path / "nowhere" / "log").samples == ()


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        ({"cycles": 0}, "line 2: cycles: 0 is not a whole number of 1 or more"),
        ({"predicted": -1}, "line 2: predicted: -1 is not a whole number of 1 or more"),
        ({"features": NUMBERS[1:]}, f"line 2: features: they are not {len(FEATURES)} numbers"),
        ({"features": [*NUMBERS[1:], "x"]}, "line 2: features: they are not"),
        ({"features": [*NUMBERS[1:], float("nan")]}, "line 2: features: they are not"),
        ({"features": 7}, "line 2: features: they are not"),
        ({"chosen": 7}, "line 2: not a line of a tuning log"),
    ],
)
def test_a_damaged_log_beside_is_a_message(tmp_path, trial, message):
    logged(tmp_path / "a", trial)
    with pytest.raises(InputError, match=message):
        history_beside(tmp_path / "mine")


def test_a_log_that_was_cut_short_is_a_message_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    logged(Path("a"), {"cycles": 5})
    Path("a").write_text(Path("a").read_text()[:-4])
    words = ("--oracle", "rtl", "--storage", "log", "--trials", "1")
    refused("a: line 2 was cut short", "tune", *PRODUCT, *words)
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


def test_nothing_is_learned_of_the_timeline_by_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("--strategy", "learned", "--storage", "log")
    refused("--strategy learned: it learns how far the timeline is off", "tune", *PRODUCT, *words)
    assert invoke("tune", *PRODUCT, "--strategy", "learner", "--storage", "log").exit_code == 2
    assert not list(tmp_path.iterdir())
