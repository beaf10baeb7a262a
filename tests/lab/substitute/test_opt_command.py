"""`celosia opt`: where its output goes, how it ends, and what it refuses before it works."""

from pathlib import Path

import numpy as np
import pytest

from celosia.lab.graphs.rewritable import SMALL
from celosia.lab.substitute import opt_command
from celosia.lab.substitute.run_passes import PassDone
from tests.support.command_line import invoke, refused, right

NAME = "small-adapter"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_graph_goes_to_standard_output_once():
    alone = right("opt", NAME).stdout
    assert alone.count('"nn.graph"()') == 1
    assert not alone.startswith("//")
    assert right("opt", NAME, "-o", "-").stdout == alone
    shown = right("opt", NAME, "--passes", "fold-factors", "--print-between").stdout
    assert shown.count('"nn.graph"()') == 1
    behind = right("opt", NAME, "--passes", "fold-factors").stdout
    assert behind.count('"nn.graph"()') == 1
    assert behind.splitlines()[0].startswith("// fold-factors: ")


def test_a_file_has_the_text_and_its_constants_beside_it():
    assert right("opt", NAME, "-o", "out.mlir").stdout == ""
    assert Path("out.mlir").read_text() == right("opt", NAME).stdout
    with np.load("out.npz") as found:
        constants = SMALL[NAME]().constants
        assert {name.removeprefix("values/") for name in found.files} == set(constants)
    # With both, the text is printed and written.
    shown = right("opt", NAME, "--passes", "fold-factors", "--print-between", "-o", "b.mlir").stdout
    assert Path("b.mlir").read_text() in shown


def test_places_that_cannot_be_written_are_refused_first():
    refused("-o out.npz: the name of a graph's text ends with .mlir", "opt", NAME, "-o", "out.npz")
    refused("there is no directory", "opt", NAME, "-o", "none/out.mlir")
    Path("out.npz").mkdir()
    refused("out.npz: is a directory, not a file to write", "opt", NAME, "-o", "out.mlir")
    assert not Path("out.mlir").exists()


def test_a_file_that_is_not_there_or_takes_no_sizes():
    refused("none.mlir", "opt", "none.mlir")
    refused("none.onnx", "opt", "none.onnx")
    refused("--dim: only for an .onnx, not x.mlir", "opt", "x.mlir", "--dim", "seq=3")


@pytest.mark.parametrize("difference", [None, "outputs differ by 3"])
def test_a_pass_that_changes_the_meaning_ends_with_1(difference, monkeypatch):
    def passes(graph, rules, interpret):
        assert interpret
        yield PassDone("one", graph, ("a", "b"), (), difference)
        yield PassDone("other", graph, (), (), None)

    monkeypatch.setattr(opt_command, "run_passes", passes)
    result = invoke("opt", NAME, "--interpret", "-o", "out.mlir")
    assert result.exit_code == (0 if difference is None else 1)
    assert result.stdout.splitlines() == [
        "// one: 2 replaced",
        f"//   {difference or 'it means the same'}",
        "// other: 0 replaced",
        "//   it means the same",
    ]


def test_the_text_ends_with_one_line_end():
    assert right("opt", NAME).stdout.endswith("\n")
    assert not right("opt", NAME).stdout.endswith("\n\n")
