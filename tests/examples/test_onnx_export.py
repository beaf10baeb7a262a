"""The script that exports models from their producers says what it lacks, and compares."""

import sys
from collections import Counter
from importlib import util
from pathlib import Path

import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL

SCRIPT = Path(__file__).parents[2] / "examples" / "onnx" / "export.py"


@pytest.fixture
def script(monkeypatch):
    spec = util.spec_from_file_location("export", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "export", module)
    spec.loader.exec_module(module)
    return module


def test_producers_have_names_of_the_catalog(script):
    assert set(script.producers(SMALL)) <= set(EXPORTS)


def test_a_name_that_is_not_known_is_refused(script, tmp_path, capsys):
    assert script.main([str(tmp_path / "folder"), "bert-12"]) == 2
    assert "bert-12: is not one of them" in capsys.readouterr().err
    assert not (tmp_path / "folder").exists()


def test_a_missing_producer_is_named(script, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert script.main([str(tmp_path / "folder")]) == 2
    assert "torch: is not installed; pip install torch" in capsys.readouterr().err
    assert not (tmp_path / "folder").exists()


def test_operators_that_differ_are_printed(script):
    said = []
    real = script.operators(EXPORTS["vit"].build(SMALL)) + Counter(Identity=3) - Counter(Erf=1)
    script.compare("vit", real, said.append)
    assert said == ["vit: 174 nodes for 176; Erf 2 for 1, Identity 0 for 3"]
