"""Products that read int16: halves, sums that meet, closeness to float, what runs on devices."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.exports.imported import imported_export
from celosia.lab.exports.writing.size import Size
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.ir import graph_interpret
from celosia.sw.ir.graph import MatMul, Requantize, Subtract, View
from celosia.sw.models.steps import Calibrate, Model
from celosia.sw.quantize.graphs.emit_products import WIDE_LARGEST
from celosia.sw.quantize.graphs.formats import Formats, with_int16
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.wide_operands import may_be_wide
from tests.support.quantized_exports import imported, inputs, recognized


@cache
def each_formats() -> tuple[Formats, Formats]:
    """The small Llama, and it with formats of all operands that may be int16."""
    samples = [inputs("llama", seed) for seed in range(1, 9)]
    known = Model.of(imported("llama").recognized)
    usual, wide = Calibrate(samples, wide=True).make_each(known, (Calibrate(samples).weights,))
    return usual, wide


def formats(chosen: frozenset[str] = frozenset()) -> Formats:
    """The formats of the small Llama with some products that read int16."""
    usual, wide = each_formats()
    return with_int16(usual, wide, chosen, units_of(recognized("llama")))


def names(*words: str) -> frozenset[str]:
    graph = recognized("llama")
    found = may_be_wide(graph, units_of(graph))
    return frozenset(name for name in found if not words or any(word in name for word in words))


def tensors(graph, given):
    return {**graph.constants, **given, **graph_interpret.interpret(graph, given)}


@cache
def watched():
    """A model whose products read int16 where they can, and the tensors of a run."""
    model, seen = instantiate(recognized("llama"), formats(names())), {}

    def segment(_, graph, given):
        seen.update(tensors(graph, given))
        return seen

    run_model(model, inputs("llama", 0), segment)
    return model, seen


def test_both_halves_of_an_operand_are_int8_and_are_all_of_it():
    model, seen = watched()
    differences = [op for op in model.segments[0].graph.ops if isinstance(op, Subtract)]
    found = [op for op in differences if ".rest." in op.out.tensor]
    # Layers; what two norms, attention and the gate have made; and the last norm.
    assert len(found) == 2 * 4 + 1
    for op in found:
        x = seen[op.a.tensor].astype(np.int64)
        halves = seen[op.out.tensor.replace(".rest.", ".halves.")].astype(np.int64)
        high, low = np.split(halves, 2)
        inside = np.abs(x) <= WIDE_LARGEST
        assert inside.mean() > 0.999, "other texts may have larger numbers than the calibration"
        missed = np.where(inside, 256 * high + low - x, 0)
        tied = (x % 256 == 128) & (missed != 0)
        np.testing.assert_array_equal(missed, -tied.astype(np.int64), "a low half of 128 is 127")
        assert np.abs(low).max() > 100, "low halves are any number"


def test_a_product_is_that_of_int16_but_for_its_last_bits():
    model, seen = watched()
    graph = model.segments[0].graph
    products = [op for op in graph.ops if isinstance(op, MatMul) and ".halves." in op.a.tensor]
    checked = 0
    for op in products:
        unit = op.name.removesuffix(".product")
        (last,) = [each for each in graph.ops if each.name == f"{unit}.together"]
        assert isinstance(last, Subtract)
        assert isinstance(op.finish, Requantize)
        assert isinstance(op.finish.scale, View)
        if last.b.tensor.endswith(".low"):
            continue
        high, low = np.split(seen[op.a.tensor].astype(np.float64), 2)
        scale = seen[op.finish.scale.tensor][0].astype(np.float64) * last.scale
        exact = (high + low / 256) @ seen[op.b.tensor] * scale
        found = seen[last.out.tensor]
        assert np.abs(found).max() > 1000
        assert np.abs(found - exact).max() <= last.scale + 1
        checked += 1
    # Those of queries, keys and values, and up; others add a residual.
    assert checked == 2 * 4 + 1


def test_values_have_two_bytes_where_attention_makes_int16():
    model, seen = watched()
    graph = model.segments[0].graph
    products = [op for op in graph.ops if isinstance(op, MatMul) and ".context." in op.name]
    # Layers, texts and heads.
    assert len(products) == 2 * 2 * 4
    for op in products:
        view, width = op.b, op.b.cols // 2
        whole = seen[view.tensor.replace(".halves", ".whole")].astype(np.int64)
        halves = seen[view.tensor][view.row : view.row + view.rows].astype(np.int64)
        high, low = np.split(halves[:, view.col : view.col + view.cols], 2, axis=1)
        x = whole[view.row : view.row + view.rows, view.col // 2 : view.col // 2 + width]
        assert np.abs(256 * high + low - np.clip(x, -WIDE_LARGEST, WIDE_LARGEST)).max() <= 1
        assert np.abs(low).max() > 100
        both = seen[op.out.tensor].astype(np.float64)
        (last,) = [e for e in graph.ops if isinstance(e, Subtract) and e.a.tensor == op.out.tensor]
        found = seen[last.out.tensor]
        found = found[last.out.row : last.out.row + last.out.rows]
        found = found[:, last.out.col : last.out.col + width]
        together = both[:, :width] + both[:, width:] / 256
        assert np.abs(found - together).max() <= 1


def test_values_have_one_byte_where_products_read_int8_of_attention():
    model = instantiate(recognized("llama"), formats(names("v_proj")))
    graph = model.segments[0].graph
    widths = {op.b.cols for op in graph.ops if isinstance(op, MatMul) and ".context." in op.name}
    assert widths == {16}


def test_values_have_one_byte_where_attention_is_of_a_later_segment():
    """Heads of 24 columns are rotated on the host, between the products and attention."""
    size = Size(layers=1, width=48, heads=2, key_heads=1, hidden=64, vocabulary=32)
    known = imported_export("llama", size, tokens=8)
    graph = known.recognized.graph
    given = {"input_ids": np.arange(8)[np.newaxis], "attention_mask": np.ones((1, 8), np.int64)}
    how = Calibrate([given], wide=True)
    usual, wide = how.make_each(known, (how.weights,))
    units = units_of(graph)
    model = instantiate(graph, with_int16(usual, wide, may_be_wide(graph, units), units))
    assert len(model.segments) > 1
    (real,), (found,) = (
        each.values() for each in (interpret(graph, given), run_model(model, given).outputs)
    )
    assert np.square(real).sum() > 100 * np.square(real - found).sum(), "20 dB"


def test_outputs_are_closer_to_float_with_wider_operands():
    graph, lost = recognized("llama"), []
    for chosen in (frozenset[str](), names()):
        model, total = instantiate(graph, formats(chosen)), 0.0
        for seed in range(11, 19):
            given = inputs("llama", seed)
            shown = given["attention_mask"] == 1
            (real,), (found,) = (
                each.values() for each in (interpret(graph, given), run_model(model, given).outputs)
            )
            total += np.square(real[shown] - found[shown]).sum() / np.square(real[shown]).sum()
        lost.append(total)
    assert 10 * np.log10(lost[0] / lost[1]) > 1.5


def test_devices_compute_every_tensor_of_it():
    config = resolve_config("base", ())

    def segment(_, graph, given):
        run = GraphRun(FunctionalDevice(config, memory_bytes=1 << 25), compile_graph(graph, config))
        run.load(given)
        run.run()
        expected = graph_interpret.interpret(graph, given)
        assert any(".halves." in tensor for tensor in run.written)
        for tensor in run.written:
            np.testing.assert_array_equal(run.read(tensor), expected[tensor], tensor)
        return expected

    chosen = names("layers.0")
    model = instantiate(recognized("llama"), formats(chosen))
    run_model(model, inputs("llama", 0), segment)


def test_weights_are_in_memory_once():
    graph = recognized("llama")
    eight, wide = (
        instantiate(graph, formats(chosen)).segments[0].graph.constants
        for chosen in (frozenset[str](), names())
    )
    sizes = [
        {name: value.size for name, value in each.items() if name.endswith(".weights")}
        for each in (eight, wide)
    ]
    assert sizes[0] == sizes[1]


def test_formats_of_another_model_are_refused_by_name():
    graph = recognized("llama")
    gates = frozenset({next(name for name in formats().integers if "gate" in name)})
    with pytest.raises(GraphError, match=r"gate_proj.*: cannot read int16"):
        instantiate(graph, replace(formats(), int16_operands=gates))
