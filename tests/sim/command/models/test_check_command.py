"""`celosia check` shows what becomes of each node, and why, where it is not supported."""

import json
import sys
from pathlib import Path

import pytest
from onnx import helper

from celosia.sim.command.models.check_command import CHECK_SCHEMA, parse_sizes
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.text import parse_float_graph
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats, model


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
    assert document["schema"] == CHECK_SCHEMA
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
    assert document["placement"] == {
        "accelerator_mac_share": 1.0,
        "nodes": [
            {
                "name": "/product",
                "operator": "MatMul",
                "where": "accelerator",
                "reason": "",
                "macs": 96,
            },
            {
                "name": "/gelu",
                "operator": "Gelu",
                "where": "accelerator",
                "reason": "",
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
