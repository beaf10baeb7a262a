"""Weights of four bits in graphs: every level computes the same, and memory has half the bytes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import CONFIG_EX, WeightType
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir import program_interpret
from celosia.sw.ir.graph import Graph, Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.packing import with_whole_tiles
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.planning.cost import predict_stage
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.forms.plan import only_stage
from celosia.sw.timeline.limits import graph_limit

SLOW = MemoryTiming(latency=40, bytes_per_cycle=8)


def product(
    m: int, k: int, n: int, kind: WeightType = WeightType.INT4, *, transposed: bool = False
) -> tuple[Graph, np.ndarray, np.ndarray]:
    """A graph of one product, and its operands."""
    random = np.random.default_rng([m, k, n])
    a = random.integers(-128, 128, (m, k)).astype(np.int8)
    w = random.integers(-8, 8, (n, k) if transposed else (k, n)).astype(np.int8)
    build = GraphBuilder("product")
    source, weights = build.input(Tensor("a", "int8", m, k)), build.constant("w", w, kind)
    out = build.tensor(Tensor("out", "int32", m, n))
    build.matmul("product", out, source, weights, Sums(), b_transposed=transposed)
    return build.finish("out"), a, w


@pytest.mark.parametrize(
    ("preset", "m", "k", "n"),
    [
        ("tiny", 5, 24, 13),
        ("base", 1, 96, 200),
        ("base", 40, 160, 70),
        ("small", 20, 64, 33),
        # The last tile is not whole: odd, less than half of one, one line, and behind many.
        ("tiny", 5, 7, 13),
        ("base", 3, 22, 40),
        ("base", 2, 1, 20),
        ("base", 40, 201, 70),
        ("small", 20, 36, 33),
    ],
)
def test_every_level_computes_what_numpy_does(preset, m, k, n):
    graph, a, w = product(m, k, n)
    compiled = compile_graph(graph, PRESETS[preset], timing=SLOW)
    wanted = a.astype(int) @ w.astype(int)
    assert (interpret(graph, {"a": a})["out"] == wanted).all()
    ops = [written.op for written in compiled.ops]
    values = {"a": a, **compiled.graph.constants}
    tensors = compiled.graph.tensors
    left = program_interpret.interpret(ops, compiled.config, tensors, values)
    assert (left["out"] == wanted).all()
    device = FunctionalDevice(compiled.config, memory_bytes=1 << 20, seed=1)
    run = GraphRun(device, compiled)
    run.load({"a": a})
    run.run()
    assert (run.read("out") == wanted).all()
    settings = [CONFIG_EX.decode(each) for each in compiled.program if CONFIG_EX.matches(each)]
    assert {each["b_type"] for each in settings} == {WeightType.INT4}


@pytest.mark.parametrize("n", [32, 29])
def test_a_transposed_operand_is_packed_along_its_rows_too(n):
    graph, a, w = product(3, 20, n, transposed=True)
    compiled = compile_graph(graph, PRESETS["tiny"])
    run = GraphRun(FunctionalDevice(compiled.config, memory_bytes=1 << 20, seed=1), compiled)
    run.load({"a": a})
    run.run()
    assert (run.read("out") == a.astype(int) @ w.T.astype(int)).all()


def test_memory_and_its_limit_have_half_the_weights_and_fewer_cycles_are_expected():
    found = {}
    for kind in WeightType:
        graph, _, _ = product(1, 384, 96, kind)
        config = PRESETS["base"]
        compiled = compile_graph(graph, config, timing=SLOW)
        limit = graph_limit(graph, config, SLOW).reads
        cycles = predict(graph, config, compiled.plan, SLOW).cycles
        found[kind] = graph.tensors["w"].bytes, limit, cycles
    whole, half = found[WeightType.INT8], found[WeightType.INT4]
    assert (whole[0], half[0]) == (384 * 96, 384 * 48)
    assert whole[1] - half[1] == 384 * 48 // 8
    assert half[2] < 0.6 * whole[2]


def test_pairs_of_lines_halve_the_arrays_limit_and_nearly_the_expected_cycles():
    """At a memory that sends a row of the scratchpad in each cycle, the array sets the pace."""
    graph, _, _ = product(1, 384, 96, WeightType.INT4)
    found = {}
    for name in ("base", "base-int4"):
        config, timing = PRESETS[name], MemoryTiming()
        compiled = compile_graph(graph, config, timing=timing)
        cycles = predict(graph, config, compiled.plan, timing).cycles
        op, stage = only_product(graph), only_stage(compiled.plan)
        array = predict_stage(op, graph, config, stage, timing).array_cycles
        found[name] = graph_limit(graph, config, timing).compute, cycles, array
    tiles = 24 * 6
    assert (found["base"][0], found["base-int4"][0]) == (16 * tiles, 8 * tiles)
    assert (found["base"][2], found["base-int4"][2]) == (16 * tiles, 8 * tiles)
    assert found["base-int4"][1] < 0.6 * found["base"][1]


def test_a_packed_constant_survives_as_text():
    graph, _, _ = product(2, 16, 5)
    text = print_graph(graph)
    assert 'packing = "int4"' in text
    assert parse_graph(text, graph.constants).tensors == graph.tensors
    assert "int4" in str(graph)
    with pytest.raises(ValueError, match=r"packing: 'int5' is none of int8, int4"):
        parse_graph(text.replace('"int4"', '"int5"'), graph.constants)


@pytest.mark.parametrize(("rows", "whole"), [(24, 32), (16, 16), (7, 16)])
def test_weights_in_memory_end_with_a_whole_tile_of_which_nobody_reads_the_zeros(rows, whole):
    graph, _, w = product(2, rows, 5)
    compiled = compile_graph(graph, PRESETS["base"]).graph
    assert compiled.tensors["w"].rows == whole
    assert compiled.tensors["w"].bytes == whole // 2 * 5
    assert (compiled.constants["w"][:rows] == w).all()
    assert not compiled.constants["w"][rows:].any()
    assert compiled.ops == graph.ops
    assert with_whole_tiles(compiled, 16) is compiled
    assert graph.tensors["w"].rows == rows, "the graph itself stays as it is"


def test_weights_that_begin_within_a_tile_are_refused_with_the_size_of_a_tile():
    build = GraphBuilder("product")
    source = build.input(Tensor("a", "int8", 2, 8))
    weights = build.constant("w", np.zeros((16, 5), np.int8), WeightType.INT4)
    out = build.tensor(Tensor("out", "int32", 2, 5))
    build.matmul("product", out, source, weights.part(row=4, rows=8), Sums())
    graph = build.finish("out")
    compile_graph(graph, PRESETS["tiny"])
    message = "operator product: w[4:12, 0:5] is int4, whose rows are packed in tiles of 16, but 4"
    with pytest.raises(ValueError, match=re.escape(message)):
        compile_graph(graph, PRESETS["base"])


def graph_with(value: np.ndarray) -> Graph:
    build = GraphBuilder("product")
    source = build.input(Tensor("a", "int8", 2, value.shape[0]))
    weights = build.constant("w", value, WeightType.INT4)
    out = build.tensor(Tensor("out", "int32", 2, value.shape[1]))
    build.matmul("product", out, source, weights, Sums())
    return build.finish("out")


@pytest.mark.parametrize("value", [-9, 8])
def test_a_value_beyond_four_bits_is_named(value):
    weights = np.zeros((4, 3), np.int8)
    weights[2, 1] = value
    with pytest.raises(ValueError, match=rf"tensor w.*: {value} is not in -8\.\.7"):
        graph_with(weights)


def test_only_constants_are_packed():
    graph = graph_with(np.zeros((4, 3), np.int8))
    tensors = {**graph.tensors, "a": replace(graph.tensors["a"], packing=WeightType.INT4)}
    with pytest.raises(ValueError, match=r"tensor a.*: only constants of int8 are packed"):
        parse_graph(print_graph(replace(graph, tensors=tensors)), graph.constants)


def test_nothing_but_products_reads_packed_weights():
    build = GraphBuilder("product")
    b = build.input(Tensor("b", "int8", 4, 5))
    weights = build.constant("w", np.zeros((4, 4), np.int8), WeightType.INT4)
    out = build.tensor(Tensor("out", "int32", 4, 5))
    build.matmul("product", out, weights, b, Sums())
    with pytest.raises(ValueError, match=r"w\[0:4, 0:4\] is packed: only products read it"):
        build.finish("out")
