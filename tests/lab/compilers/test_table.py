"""The rows of the table, with measurements that are made up: nothing is measured here."""

from types import SimpleNamespace
from typing import Any

import pytest
from onnx import TensorProto, helper

from celosia.lab.bench.line import Lines
from celosia.lab.bench.suite import Bench
from celosia.lab.compilers import table
from celosia.lab.compilers.expressions import expressions
from celosia.lab.compilers.latency import tvm
from celosia.lab.compilers.row import Row, System, gained
from celosia.lab.compilers.substitutions import GRAPHS, GraphLine, metaflow
from celosia.lab.compilers.table import ROWS, run_compilers
from celosia.lab.compilers.tuning import autotvm, autotvm_of
from celosia.lab.compilers.workload import ModelFiles, Workload
from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.lab.graphs.expressions import gram
from celosia.lab.graphs.rewritable import REWRITABLE
from celosia.sim.support.display import table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sw.models.cases import attention_case

ABOUT = System(system="A", mechanism="an idea", claim="2 x", source="a paper")


def test_a_row_has_what_readers_of_the_table_look_for():
    row = Row(about=ABOUT, work="w", gain=1.5, cycles={"before": 3, "after": 2})
    wanted = {"system", "mechanism", "work", "gain", "claim", "source"}
    assert wanted < row.document().keys()
    assert row.document()["cycles"] == {"before": 3, "after": 2}


def test_a_way_that_took_no_cycles_gains_nothing():
    rows = [gained(ABOUT, "w", ("a", "b"), {"a": 6, "b": b}, True) for b in (4, 0)]
    assert [row.gain for row in rows] == [1.5, None]


def test_the_larger_a_models_graph_is_the_fewer_programs_are_predicted(monkeypatch):
    found = []

    def tuned(track, trials, looks):
        found.append((track.work.graph.macs, trials, looks))
        return 5

    where = "celosia.lab.compilers.tuning"
    monkeypatch.setattr(f"{where}.Runs", lambda track: SimpleNamespace(own_cycles=10))
    monkeypatch.setattr(f"{where}.tuned_cycles", tuned)
    small, large = (attention_case(1, rows, 64, 0) for rows in (16, 600))
    rows = [autotvm_of(silent, Workload("m", cases)) for cases in ((small,), (small, large))]
    (least, trials, many), (most, _, few) = found
    assert (least, most) == (small.graph.macs, large.graph.macs)
    assert many > few > 0
    assert [row.gain for row in rows] == [2.0, 2.0]
    turns = 4 + trials - 1
    assert f"up to {turns * few} predictions, {trials} runs" in rows[1].work


def test_substitutions_gain_the_geometric_mean_over_graphs_as_imported():
    lines = [
        GraphLine("one", {"imported": 400, "greedy": 300, "search": 100}, right=True),
        GraphLine("two", {"imported": 90, "greedy": 90, "search": 90}, right=True),
    ]
    row = metaflow(silent, lambda tell: lines)
    assert row.gain == pytest.approx(2)
    assert row.cycles["one, greedy"] == 300
    assert row.right
    wrong = GraphLine("three", {"imported": 2, "greedy": 2, "search": 1}, right=False)
    assert not metaflow(silent, lambda tell: [wrong]).right


def test_the_graphs_are_those_of_the_repository_and_one_of_the_corpus():
    assert {*REWRITABLE} < {*GRAPHS}
    assert len(GRAPHS) == len(REWRITABLE) + 1


def test_hidden_latency_gains_what_units_by_turns_take_longer():
    def line(name):
        cycles = {"serial": 300, "as compiled": 200}[name]
        return SimpleNamespace(measured=SimpleNamespace(cycles=cycles))

    found: Any = SimpleNamespace(line=line, utilization=lambda _: 0.5, shape="x", seq=8, right=True)
    row = tvm(silent, lambda tell: found)
    assert row.gain == pytest.approx(1.5)
    assert "50.0% and 50.0%" in row.work


def test_tuning_gains_the_geometric_mean_over_workloads(monkeypatch):
    cycles = {"one": (400, 100), "two": (90, 90)}
    where = "celosia.lab.compilers.tuning"
    monkeypatch.setattr(
        f"{where}.Runs", lambda track: SimpleNamespace(own_cycles=cycles[track.name][0])
    )
    monkeypatch.setattr(f"{where}.tuned_cycles", lambda track, *_: cycles[track.name][1])
    tracks: Any = [SimpleNamespace(name=name) for name in cycles]
    row = autotvm(silent, tracks)
    assert row.gain == pytest.approx(2)
    assert row.cycles["one, tuned"] == 100


def test_operators_are_measured_beside_products_of_their_sizes(monkeypatch):
    monkeypatch.setattr(
        "celosia.lab.compilers.expressions.graph_cycles", lambda case, *_: (case.graph.macs, True)
    )
    monkeypatch.setattr(
        "celosia.lab.compilers.expressions._product_cycles", lambda product, *_: 2 * product.macs
    )

    def small():
        return gram(8, 8)

    row = expressions(silent, [small], "tiny")
    assert row.gain == pytest.approx(2)
    assert list(row.cycles) == ["small", "small, a product of 8x8x8"]
    assert row.cycles["small"] == 512


def test_each_system_has_a_row_and_a_wrong_one_is_a_failure(capsys, monkeypatch):
    assert len(ROWS) == 9
    made = Row(about=ABOUT, work="w", gain=2.0, cycles={})
    monkeypatch.setattr(table, "ROWS", [lambda tell: made] * 2)
    rows = run_compilers(silent)
    bench = Bench(parts={"compilers": Lines(rows)})
    assert bench.right
    assert bench.document()["rows"][0]["system"] == "A"
    bench.show(table_console(None))
    assert "an idea" in capsys.readouterr().out
    wrong = Row(about=ABOUT, work="w", gain=1.0, cycles={}, right=False)
    assert not Bench(parts={"compilers": Lines((wrong,))}).right


def test_rows_of_files_are_all_those_that_a_model_has(tmp_path, monkeypatch):
    path = tmp_path / "bert.onnx"
    path.write_bytes(EXPORTS["bert-13"].build(SMALL).SerializeToString())

    def row(tell, workload):
        macs = sum(case.graph.macs for case in workload.cases)
        return Row(about=ABOUT, work=workload.name, gain=1.0, cycles={"macs": macs})

    monkeypatch.setattr(table, "OF_A_MODEL", [row])
    monkeypatch.setattr(
        table,
        "run_graphs",
        lambda tell, graphs: [
            GraphLine(name, {"imported": 3, "greedy": 2, "search": 1}, right=True)
            for name in graphs
        ],
    )
    sizes = {"batch": 1, "sequence": 8}
    rows = run_compilers(silent, ModelFiles(paths=(path, path), sizes=sizes))
    assert [(each.work, each.gain) for each in rows[::2]] == [("bert.onnx", 1.0)] * 2
    assert all(each.cycles["macs"] > 0 for each in rows[::2])
    assert [(each.about.system, each.gain) for each in rows[1::2]] == [("MetaFlow", 3.0)] * 2


def test_a_file_of_which_the_accelerator_computes_nothing_is_refused(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Erf", ["x"], ["y"])],
        "host",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
    )
    path = tmp_path / "host.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(InputError, match=r"host\.onnx: the accelerator computes nothing of it"):
        run_compilers(silent, ModelFiles(paths=(path,)))
