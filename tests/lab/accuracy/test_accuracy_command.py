"""`celosia accuracy` says how far curves and models are from float."""

import json
from pathlib import Path

import pytest

from celosia.lab.accuracy.accuracy_command import Accuracies
from celosia.lab.accuracy.models import SPREADS, curve_accuracies
from tests.support.command_line import refused, right

CURVES = ("gelu", "silu", "hardswish")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_curves_of_every_size_keep_34_db():
    found = list(curve_accuracies())
    assert [line.curve for line in found] == [name for name in CURVES for _ in SPREADS]
    assert min(line.sqnr_db for line in found) > 34


def test_curves_are_printed_and_written():
    shown = right("accuracy", "curves", "--json", "a.json").stdout
    assert "silu, 1.6 x" in shown
    document = json.loads(Path("a.json").read_text())
    assert document["schema"] == Accuracies.schema
    assert len(document["rows"]) == len(CURVES) * len(SPREADS)


@pytest.mark.slow
def test_a_model_is_measured_with_each_criterion():
    right("accuracy", "t5-encoder", "--compare-clips", "--json", "a.json")
    rows = json.loads(Path("a.json").read_text())["rows"]
    assert [row["clip"] for row in rows] == ["error", "minmax", "percentile", "entropy"]
    assert all(row["sqnr_db"] > 25 for row in rows)


def test_what_is_unknown_is_refused():
    refused("nobody: there is no such model; there are bert-13,", "accuracy", "nobody")
    refused("--clip", "accuracy", "curves", "--clip", "some")
