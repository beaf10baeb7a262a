"""Layer normalization: blocks, passes, and what is loaded."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.graph import LayerNorm, View
from celosia.sw.ir.program import Load, LoadParameters, Op, Products, Transform
from celosia.sw.lowering.graph import lower_graph
from celosia.sw.lowering.norm import affine_row
from celosia.sw.lowering.writer import Written
from celosia.sw.models.cases import encoder_layer_case, layernorm_case, random_integer_encoder
from celosia.sw.reference.encoder import EncoderShape
from tests.support.levels import CONFIGS, configured


def written(rows: int, cols: int, config) -> list[Written]:
    return list(lower_graph(layernorm_case(rows, cols, seed=1).graph, config).ops)


def transforms(ops: list[Written], function: Function) -> list[Transform]:
    found = (one.op for one in ops)
    return [op for op in found if isinstance(op, Transform) and op.function is function]


def loaded(ops: list[Written]) -> int:
    return sum(
        one.op.view.rows * one.op.view.cols
        for one in ops
        if isinstance(one.op, Load) and one.op.view.tensor == "source"
    )


def test_rows_that_fit_are_loaded_once():
    assert loaded(written(100, 384, CONFIGS["base"])) == 100 * 384


def test_longer_rows_are_loaded_twice():
    config = configured("tiny", scratchpad_kib=2)
    assert loaded(written(3, 1000, config)) == 2 * 3 * 1000


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_moments_begin_and_end_with_the_row(config):
    for cols in (5, 300):
        moments = transforms(written(3, cols, config), Function.MOMENTS)
        by_slot: dict[int, list[Transform]] = {}
        for op in moments:
            by_slot.setdefault(op.settings["statistics"], []).append(op)
            assert op.norm == {"channels": cols}
        for ops in by_slot.values():
            row, flags = 0, [(op.settings["start"], op.settings["finish"]) for op in ops]
            for op, (start, finish) in zip(ops, flags, strict=True):
                assert start == (row == 0)
                row += op.cols
                assert finish == (row == cols)
                row %= cols


def test_blocks_take_turns_with_slots():
    config = CONFIGS["base"]
    moments = transforms(written(200, 64, config), Function.MOMENTS)
    slots = [op.settings["statistics"] for op in moments if op.settings["start"]]
    half = config.statistics_rows // 2
    assert slots == [half, 0] * (len(slots) // 2)
    assert len(slots) > 2


def test_parameters_are_those_of_the_columns():
    config = CONFIGS["tiny"]
    ops = written(3, 300, config)
    loads = [one.op for one in ops if isinstance(one.op, LoadParameters)]
    norms = transforms(ops, Function.LAYERNORM)
    assert len(norms) == len(loads) > 1
    position = 0
    for load, norm in zip(loads, norms, strict=True):
        assert norm.norm is not None
        assert norm.norm["parameter_row"] == load.to.row
        assert load.view.col == position * 2 * config.dim // (config.dim // 2)
        assert load.to.rows == 2 * -(-norm.cols // (config.dim // 2))
        position += norm.cols
    assert position == 300


def test_each_output_has_its_own_shift_and_type():
    graph = layernorm_case(3, 40, seed=1).graph
    (op,) = graph.ops
    assert isinstance(op, LayerNorm)
    shifts = [output.shift for output in op.outputs]
    assert shifts[0] != shifts[1]
    for norm in transforms(written(3, 40, CONFIGS["tiny"]), Function.LAYERNORM):
        assert norm.norm is not None
        assert [norm.norm["shift"], norm.norm["shift2"]] == shifts
        assert norm.settings["type"] == ElementType.INT8
        assert norm.norm["type2"] == ElementType.INT16


@pytest.mark.parametrize("dim", [4, 8])
def test_gamma_and_beta_may_be_columns_of_a_wider_tensor(dim):
    graph = layernorm_case(3, 9, seed=1).graph
    (op,) = graph.ops
    assert isinstance(op, LayerNorm)
    wide, outputs = {}, []
    for output in op.outputs:
        views = {"gamma": output.gamma, "beta": output.beta}
        for kind, view in views.items():
            value = graph.constants[view.tensor]
            wide[view.tensor] = np.hstack([value[:, :5] + 1, value, value[:, :2] - 1])
            views[kind] = View(view.tensor, 0, 5, 1, 9)
        outputs.append(replace(output, **views))
    other = replace(graph, constants=wide)
    packed = affine_row(other, replace(op, outputs=tuple(outputs)), dim)
    assert (packed == affine_row(graph, op, dim)).all()


def test_in_an_encoder_products_go_on_while_rows_are_normalized():
    shape = EncoderShape(layers=2, width=32, heads=1, hidden=96)
    case = encoder_layer_case(random_integer_encoder(shape, 1), [150], seed=1)
    ops = lower_graph(case.graph, CONFIGS["base"]).ops
    kinds = [one.op for one in ops]
    products = [
        products_until_normalized(kinds[index:])
        for index, op in enumerate(kinds)
        if isinstance(op, Transform) and op.settings.get("moments") and op.settings["finish"]
    ]
    assert len(products) == 7, "three blocks of rows twice, the last one of all in two parts"
    assert sum(count > 0 for count in products) >= len(products) - 1


def products_until_normalized(ops: list[Op]) -> int:
    """How many there are until the statistics that the first operation completes are used."""
    (slot,) = (op.settings["statistics"] for op in ops[:1] if isinstance(op, Transform))
    end = next(
        index
        for index, op in enumerate(ops)
        if isinstance(op, Transform)
        and op.function is Function.LAYERNORM
        and op.settings["statistics"] == slot
    )
    return sum(isinstance(op, Products) for op in ops[:end])
