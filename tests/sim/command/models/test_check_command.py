"""`celosia check` shows what becomes of each node, and why, where it is not supported."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from onnx import helper

from celosia.sim.command.models.check_table import refusal_notes
from celosia.sim.command.models.checked_model import CheckedModel
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import parse_sizes
from celosia.sw.frontend.nn.text import parse_float_graph
from celosia.sw.rewriting.engine import Fault, Refusal
from tests.support.command_line import invoke, refused, right
from tests.sw.frontend.importer.models import floats, model
from tests.sw.frontend.importer.source.test_fixed import branching


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(*more, weights=True):
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/product"),
        helper.make_node("Shape", ["h"], ["shape"], name="/shape"),
        helper.make_node("Reshape", ["h", "shape"], ["same"], name="/same"),
        helper.make_node("Gelu", ["same"], ["a"], name="/gelu"),
        *more,
    ]
    proto = model(nodes, {"x": ["n", 8]}, ["y" if more else "a"], {"w": floats(8, 4)}, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())


def test_a_table_json_and_the_graph():
    save()
    result = right(*["check", "m.onnx", "--dim", "n=3", "--json", "j.json", "--text", "g.mlir"])
    assert "/product" in result.stdout
    assert "4 nodes in the file, 2 behind folding, 0 not supported; 96" in result.stdout
    document = json.loads(Path("j.json").read_text())
    assert document["schema"] == CheckedModel.schema
    assert document["macs"] == 3 * 8 * 4
    assert document["nodes"] == [
        {
            "name": "/product",
            "operator": "MatMul",
            "float_operators": ["matmul"],
            "macs": 96,
            "reason": "",
        },
        {
            "name": "/gelu",
            "operator": "Gelu",
            "float_operators": ["gelu"],
            "macs": 0,
            "reason": "",
        },
    ]
    predicted = document["placement"].pop("predicted")
    assert predicted["accelerator_cycles"] > 0
    assert (predicted["host_cycles"], predicted["host_nodes"]) == (0, [])
    assert "100.00% of them the accelerator's" in " ".join(result.stdout.split())
    assert document["placement"] == {
        "accelerator_mac_share": 1.0,
        "nodes": [
            {
                "name": "/product",
                "operator": "MatMul",
                "where": "accelerator",
                "reason": "",
                "host_part": "",
                "macs": 96,
            },
            {
                "name": "/gelu",
                "operator": "Gelu",
                "where": "accelerator",
                "reason": "",
                "host_part": "",
                "macs": 0,
            },
        ],
    }
    assert "100.00% of them on the accelerator" in result.stdout
    assert "no node on the host" in result.stdout
    graph = parse_float_graph(Path("g.mlir").read_text(), {"w": floats(8, 4)})
    assert [node.op for node in graph.nodes] == ["matmul", "gelu"]


def test_what_the_host_does_has_a_reason_and_the_recognized_graph_is_written():
    nodes = (
        helper.make_node("Sigmoid", ["a"], ["s"], name="/sigmoid"),
        helper.make_node("Mul", ["a", "s"], ["silu"], name="/mul"),
        helper.make_node("Tanh", ["silu"], ["y"], name="/tanh"),
    )
    save(*nodes)
    arguments = ["check", "m.onnx", "--dim", "n=3", "--recognized", "g.mlir", "--json", "j.json"]
    result = right(*arguments)
    assert "1 as the accelerator has no tanh" in " ".join(result.stdout.split())
    placed = json.loads(Path("j.json").read_text())["placement"]["nodes"]
    (tanh,) = [node for node in placed if node["name"] == "/tanh"]
    assert (tanh["where"], tanh["reason"]) == ("host", "the accelerator has no tanh")
    graph = parse_float_graph(Path("g.mlir").read_text(), {"w": floats(8, 4)})
    assert [node.op for node in graph.nodes] == ["matmul", "gelu", "silu", "tanh"]


def test_the_share_of_time_is_beside_that_of_multiply_accumulates():
    """A sum on the host takes most of the time of a small product."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/product"),
        helper.make_node("Add", ["z", "z"], ["t"], name="/sum"),
    ]
    proto = model(nodes, {"x": [16, 8], "z": [64, 64]}, ["h", "t"], {"w": floats(8, 4)}, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())
    result = right("check", "m.onnx", "--json", "j.json")
    placement = json.loads(Path("j.json").read_text())["placement"]
    assert placement["accelerator_mac_share"] == 1
    predicted = placement["predicted"]
    assert predicted["host_nodes"] == [{"name": "/sum", "operator": "Add", "cycles": 64 * 64 * 48}]
    assert predicted["accelerator_time_share"] < 0.01
    share = 1 - predicted["accelerator_time_share"]
    words = " ".join(result.stdout.replace("│", " ").split())
    assert f"the most on the host: {share:.2%}, /sum (Add)" in words
    assert "it is behind" not in words
    assert "host: its operands are inputs" in words


def test_layers_that_are_alike_are_one_line_unless_all_are_asked_for():
    nodes, last = [], "x"
    for layer in range(3):
        nodes += [
            helper.make_node("MatMul", [last, "w"], [f"h{layer}"], name=f"/layer.{layer}/fc"),
            helper.make_node("Relu", [f"h{layer}"], [f"r{layer}"], name=f"/layer.{layer}/relu"),
        ]
        last = f"r{layer}"
    proto = model(nodes, {"x": [16, 8]}, [last], {"w": floats(8, 8)}, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())
    short, long = right("check", "m.onnx").stdout, right("check", "m.onnx", "--all").stdout
    line = next(line for line in short.splitlines() if "/layer.0-2/fc x3" in line)
    assert "3,072" in line
    assert "100.00%" in line
    assert "/layer.1/" not in short
    assert "/layer.1/fc" in long


def test_what_depends_on_one_node_is_one_line_that_ends_with_its_reason():
    names = ["a", "d", *(f"e{n}" for n in range(5)), "y"]
    more = [
        helper.make_node("Det" if n == 0 else "Exp", [one], [other], name=f"/node{n}")
        for n, (one, other) in enumerate(pairwise(names))
    ]
    save(*more)
    words = " ".join(
        refused("", "check", "m.onnx", "--dim", "n=3").stdout.replace("│", " ").split()
    )
    assert words.count("depend on /node0 (Det): operator Det is not supported") == 1
    assert "6 nodes" in words


def test_refusals_that_are_alike_are_one_note():
    notes = list(
        refusal_notes([Refusal("a mask", f"attention.{n}", "it is none") for n in (1, 2, 3)])
    )
    assert notes == [
        "attention.1-3 x3: looks like a mask, but it is none; it is computed as the file writes it"
    ]


def test_nodes_without_a_meaning_are_named_and_the_exit_code_is_2():
    save(
        helper.make_node("Det", ["a"], ["d"], name="/det"),
        helper.make_node("Exp", ["d"], ["y"], name="/exp"),
    )
    result = refused("", "check", "m.onnx", "--dim", "n=3")
    words = " ".join(result.stdout.replace("│", " ").split())  # Cells wrap in a narrow terminal.
    for text in ("/det", "operator Det is not supported", "it depends on /det (Det)", "output y"):
        assert text in words


def test_standard_output_has_nothing_but_what_was_asked_for():
    save()
    result = right(*["check", "m.onnx", "--dim", "n=3", "--text", "-"])
    assert result.stdout.startswith('"nn.graph"')
    assert "/product" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check missing.onnx", "missing.onnx: No such file or directory"),
        ("check m.onnx", "give --dim n=N"),
        ("check m.onnx --dim n", "--dim n: is not NAME=N"),
        ("check m.onnx --dim n=x", "--dim n=x: is not NAME=N"),
        ("check m.onnx --dim m=3", "--dim m=3: no input has this size; there are n"),
        ("check m.onnx --dim n=3 --set-input x", "--set-input x: is not NAME=VALUE"),
        ("check m.onnx --dim n=3 --set-input y=1", "--set-input y=1: no input has this name"),
        ("check m.onnx --dim n=3 --set-input x=1 --set-input x=2", "x=2: x is 1 already"),
        ("check m.onnx --dim n=3 --json no/j.json", "there is no directory"),
        ("check m.onnx --dim n=3 --text no/g.mlir", "there is no directory"),
        ("check m.onnx --dim n=3 --recognized no/g.mlir", "there is no directory"),
    ],
)
def test_bad_input(words, message):
    save()
    refused(message, *words.split())


def test_sizes():
    assert parse_sizes(["a=1", "b.0=20", "x=y=3"]) == {"a": 1, "b.0": 20, "x=y": 3}
    with pytest.raises(InputError, match="a is 1 already"):
        parse_sizes(["a=1", "a=2"])


def test_an_input_that_is_fixed_decides_a_branch():
    Path("b.onnx").write_bytes(branching().SerializeToString())
    asked = invoke("check", "b.onnx")
    assert asked.exit_code == 2
    assert "give --set-input cached=VALUE" in " ".join(asked.stdout.replace("│", " ").split())
    words = " ".join(right("check", "b.onnx", "--set-input", "cached=true").stdout.split())
    assert "100.00% of them on the accelerator" in words
    assert "note: input cached is true from here on" in words


def test_without_the_package_a_message_says_how_to_get_it(monkeypatch):
    save()
    for name in list(sys.modules):
        if name == "onnx" or name.startswith("celosia.sw.frontend.importer"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    where = "pip install -e '.[onnx]' in the checkout of Celosia"
    refused(where, *["check", "m.onnx", "--dim", "n=3"])


def test_a_model_of_torch_is_told_how_to_become_one():
    Path("m.pt").write_bytes(b"PK\3\4 of torch")
    refused("m.pt: not an ONNX file: weights of torch become an ONNX file where", "check", "m.pt")
    refused("m.pt is no ONNX file: weights of torch become", "run", "m.pt")


def test_operands_that_the_host_puts_together_are_told_of():
    """Nothing of a convolution is the host's but the rows that the product reads."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], name="/conv", pads=[1, 1, 1, 1])]
    proto = model(nodes, {"x": [1, 3, 8, 8]}, ["y"], {"w": floats(16, 3, 3, 3)})
    Path("conv.onnx").write_bytes(proto.SerializeToString())
    result = right("check", "conv.onnx")
    assert "no node on the host: it only puts operands together" in " ".join(result.stdout.split())


def test_a_pass_that_raised_is_told_as_what_it_is():
    fault, refusal = Fault("pass x", "/a", "E: b"), Refusal("a mask", "/m", "it is none")
    first, second = refusal_notes([refusal, fault])
    assert first == str(fault)
    assert second.startswith(str(refusal))
