"""`celosia opt`, `celosia optimize` and `--optimize`, from outside."""

import builtins
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from celosia.lab.graphs.rewritable import Sizes, adapter, packed_classifier
from celosia.lab.substitute.graph_file import save_text
from celosia.sw.frontend.nn.text import print_float_graph
from tests.support.command_line import refused, right

TINY = Sizes(layers=1, width=32, heads=2, hidden=32, tokens=6, rank=4, classes=4)
ATTENTION = ("attention", "--heads", "1", "--seq", "6", "--dim", "4")


@pytest.fixture
def graph():
    made = adapter(TINY)
    save_text(print_float_graph(made), made.constants, Path("adapter.mlir"))
    return Path("adapter.mlir")


def test_passes_run_in_order_and_say_whether_the_meaning_is_the_same(graph):
    words = ("--passes", "fold-factors,associate-right,merge-sums", "--interpret")
    output = right("opt", graph, *words, "-o", "out.mlir").stdout
    assert output.splitlines() == [
        "// fold-factors: 6 replaced",
        "//   it means the same",
        "// associate-right: 6 replaced",
        "//   it means the same",
        "// merge-sums: 6 replaced",
        "//   it means the same",
    ]
    assert Path("out.mlir").read_text().count("nn.matmul") == 6
    right("opt", "out.mlir")


def test_what_no_pass_can_be_is_refused_and_nothing_is_written(graph):
    refused("--passes: there is no pass 'fold'; for nn there are norms", "opt", graph, "--passes",
            "fold", "-o", "out.mlir")  # fmt: skip
    refused("pass drop-unread is for cel, and this graph is nn", "opt", graph, "--passes",
            "drop-unread")  # fmt: skip
    graph.write_text(graph.read_text().replace('"nn.gelu"', '"nn.gelo"'))
    refused("adapter.mlir: line", "opt", graph)
    refused("Operation nn.gelo is not registered", "opt", graph)
    graph.with_suffix(".npz").unlink()
    graph.write_text(graph.read_text().replace('"nn.gelo"', '"nn.gelu"'))
    refused("there is no value of resource", "opt", graph)
    refused("-o out.txt: the name of a graph's text ends with .mlir", "opt", graph, "-o", "out.txt")
    refused("--dim: only for an .onnx", "opt", graph, "--dim", "batch=1")
    assert not Path("out.mlir").exists()


def test_without_xdsl_what_to_install_is_named(graph, monkeypatch):
    loaded = ("xdsl", "celosia.sw.frontend.dialects", "celosia.sw.models.dialects")
    for name in [name for name in sys.modules if name.startswith(loaded)]:
        monkeypatch.delitem(sys.modules, name)
    imported = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "xdsl":
            raise ModuleNotFoundError(f"No module named {name!r}", name="xdsl")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    refused("this needs the package xdsl: pip install -e '.[compiler]'", "opt", graph)


def test_a_search_prints_its_steps_and_writes_the_cheapest_graph(graph):
    right("optimize", graph, "--preset", "tiny", "-o", "best.mlir", "--json", "found.json")
    found = json.loads(Path("found.json").read_text())["graphs"]
    floats = next(each for each in found if each["level"] == "nn")
    assert {"associate-right", "merge-sums"} <= {step["rule"] for step in floats["steps"]}
    costs = [floats["predicted_cycles_before"]]
    costs += [step["predicted_cycles"] for step in floats["steps"]]
    assert any(later > before for before, later in pairwise(costs))
    assert floats["predicted_cycles"] == costs[-1] < costs[0]
    assert Path("best.mlir").read_text().count("nn.matmul") == 6


def test_a_workload_runs_rewritten():
    right("run", *ATTENTION, "--optimize", "--preset", "tiny", "--sim", "functional")
    plain = right("compile", *ATTENTION, "--preset", "tiny", "--print-after", "graph").stdout
    rewritten = right("compile", *ATTENTION, "--preset", "tiny", "--optimize",
                      "--print-after", "graph").stdout  # fmt: skip
    assert rewritten == plain
    refused("--optimize: matmul is no graph", "run", "matmul", "--shape", "4x4x4", "--optimize")
    refused("only workloads have such options", "optimize", "small-adapter", "--seq", "4")


def test_one_token_of_a_packed_product_needs_few_rows():
    made = packed_classifier(TINY)
    save_text(print_float_graph(made), made.constants, Path("packed.mlir"))
    right("optimize", "packed.mlir", "--preset", "tiny", "--json", "found.json")
    found = json.loads(Path("found.json").read_text())["graphs"]
    rules = {step["rule"] for each in found for step in each["steps"]}
    assert "drop-unread" in rules
