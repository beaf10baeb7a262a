"""Passes are left out one at a time, and those of the road are all there are."""

import pytest

from celosia.lab.bench.tables import passes_tables
from celosia.lab.compilers import passes
from celosia.lab.compilers.passes import Cycles, ModelPasses, PassGain, by_pass
from celosia.lab.compilers.workload import ModelFiles
from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sim.support.progress import silent
from celosia.sw.frontend.recognize.recognize import PASSES, recognize, road
from tests.support.quantized_exports import imported


def test_the_road_is_what_recognize_follows():
    assert [*road()] == ["roundings", *PASSES, "twins"]
    graph = imported("bert-13", batch=1, tokens=12).imported.graph
    every, found = recognize(graph), recognize(graph, without=("norms",))
    assert set(every.changed) >= {"norms", "attention"}
    assert "norms" not in found.changed
    made = [{node.op for node in each.graph.nodes} for each in (every, found)]
    assert ["layernorm" in ops for ops in made] == [True, False]


def test_a_file_without_each_pass_that_changes_it(tmp_path):
    """A pass that is left out leaves its operators to the host, which takes longer."""
    path = tmp_path / "bert.onnx"
    path.write_bytes(EXPORTS["bert-13"].build(SMALL).SerializeToString())
    asked = ModelFiles(paths=(path,), sizes={"batch": 1, "sequence": 8})
    (line,) = passes.run_passes_bench(silent, asked)
    gains = {each.name: each.gain or 0 for each in line.passes}
    assert line.model == "bert.onnx"
    assert line.right
    assert line.cycles.rtl is None
    assert {"norms", "activations", "attention"} <= gains.keys()
    assert all(gains[name] > 1.5 for name in ("norms", "attention"))


def test_means_are_of_models_that_a_pass_changes():
    time, none = Cycles(accelerator=1, host=1), ()
    lines = [
        ModelPasses(
            model=str(gain),
            cycles=time,
            passes=(PassGain(name="a", without=time, gain=gain),) if gain else none,
            wrong=(),
        )
        for gain in (2.0, 8.0, 0.0)
    ]
    assert by_pass(lines) == {"a": (2, pytest.approx(4.0))}
    shown, summary = passes_tables(lines)
    assert (shown.row_count, summary.row_count) == (5, 1)
