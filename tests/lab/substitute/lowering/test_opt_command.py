"""`celosia opt`: where its output goes, how it ends, and what it refuses before it works."""

from pathlib import Path

import numpy as np
import pytest

from celosia.lab.graphs.rewritable import SMALL
from celosia.lab.substitute.lowering import opt_command
from celosia.lab.substitute.run_passes import PassDone
from tests.support.command_line import invoke, refused, right
from tests.sw.models.gelu_model import gelu_file

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


PIPELINE = "import,recognize,quantize{calibrate=c.npz},decide,expand,lower"


@pytest.fixture
def gelu():
    """A file with a product and a GELU of 4 rows and 8 columns, and samples of its input."""
    Path("m.onnx").write_bytes(gelu_file().SerializeToString())
    random = np.random.default_rng(0)
    np.savez("c.npz", x=random.standard_normal((3, 4, 8)).astype(np.float32))
    return "m.onnx", "--dim", "n=4", "--preset", "tiny"


def test_a_file_goes_through_all_levels_to_commands(gelu):
    shown = right("opt", *gelu, "--pipeline", PIPELINE, "--interpret", "-o", "all.mlir").stdout
    assert [line for line in shown.splitlines() if not line.startswith("//   ")] == [
        "// import: nn, 7 operators",
        "// recognize: nn, 3 operators",
        "// quantize: cel, 1 operator in 1 segment, 0 operators of the host",
        "// decide: cel.plan, 1 stage",
        "// expand: cel.program, 18 operations",
        "// lower: commands, 29 commands",
    ]
    assert shown.count("//   its text reads back as it was") == 6
    assert shown.count("//   executed: the same bits in ") == 3
    assert "within the tolerance of proofs" in shown
    # What was written is read again, step by step, and ends where all at once did.
    right("opt", *gelu, "--pipeline", "import,recognize", "-o", "a.mlir")
    right("opt", "a.mlir", *gelu[3:], "--pipeline", "quantize{calibrate=c.npz}", "-o", "b.mlir")
    right("opt", "b.mlir", *gelu[3:], "--pipeline", "decide", "-o", "c.mlir")
    right("opt", "c.mlir", "--pipeline", "expand", "-o", "d.mlir")
    right("opt", "d.mlir", "--pipeline", "lower", "-o", "e.mlir")
    assert Path("e.mlir").read_text() == Path("all.mlir").read_text()
    assert right("opt", "e.mlir").stdout == Path("all.mlir").read_text()


def test_each_level_is_printed_between():
    shown = right("opt", NAME, "--pipeline", "quantize,decide,expand,lower", "--print-between")
    lines = shown.stdout.splitlines()
    tops = [line for line in lines if line.startswith('"') and line.endswith('"() ({')]
    assert tops == 4 * ['"cel.model"() ({']
    for level in ("cel.plan", "cel.program", "cel.commands"):
        assert f'"{level}"' in shown.stdout


def test_inputs_are_those_of_a_file(gelu):
    np.savez("x.npz", x=np.zeros((4, 8), np.float32))
    words = ("opt", *gelu, "--pipeline", PIPELINE, "--interpret", "-o", "all.mlir")
    assert "bits" in right(*words, "--input", "x.npz").stdout
    np.savez("x.npz", y=np.zeros((4, 8), np.float32))
    refused("m.onnx: y: there is no such input; there are x", *words, "--input", "x.npz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pipeline", "import,cook"), "--pipeline: there is no pass 'cook'; there are import"),
        (("--pipeline", "recognize"), "--pipeline: pass recognize takes nn, and m.onnx is a file"),
        (("--pipeline", "import,expand"), "--pipeline: pass expand takes cel.plan, and what"),
        (("--pipeline", "import,quantize{calibrate=no.npz}"), "no.npz"),
        (("--pipeline", "import,quantize{calibrate=m.onnx}"), "m.onnx: is no .npz file"),
        (("--pipeline", "import", "--passes", "fold-factors"), "--passes: not with --pipeline"),
        (("--input", "c.npz"), "--input: only with --pipeline"),
        ((), "--preset: only with --pipeline"),
    ],
)
def test_wrong_pipelines_are_refused_before_work(gelu, words, message):
    refused(message, "opt", *gelu, *words)


def test_texts_with_errors_and_missing_arrays_are_refused(gelu):
    right("opt", *gelu, "--pipeline", PIPELINE.removesuffix(",expand,lower"), "-o", "p.mlir")
    text = Path("p.mlir").read_text()
    refused("--preset, --set: p.mlir is of cel.plan", "opt", "p.mlir", "--preset", "tiny",
            "--pipeline", "expand")  # fmt: skip
    refused("p.mlir: --passes: rules are for a graph of nn or cel, not a model of cel.plan", "opt",
            "p.mlir", "--passes", "fold-factors")  # fmt: skip
    refused("p.mlir: one graph of nn or cel is optimized, not a model of cel.plan", "optimize",
            "p.mlir")  # fmt: skip
    Path("p.mlir").write_text(text.replace("rows = [4 : i64]", "rows = [3 : i64]"))
    refused("cel.plan: ", "opt", "p.mlir", "--pipeline", "expand")
    Path("p.mlir").write_text(text)
    Path("p.npz").unlink()
    refused("p.mlir: line", "opt", "p.mlir", "--pipeline", "expand")
