"""Layer normalization: blocks, passes, and what is loaded."""

import pytest

from celosia.isa.encoding import ElementType, Function
from celosia.sw.ir.graph import LayerNorm
from celosia.sw.ir.program import Load, LoadParameters, Transform, Written
from celosia.sw.models.cases import layernorm_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from tests.support.levels import CONFIGS, configured
from tests.sw.scheduling.expansions import expanded


def written(rows: int, cols: int, config) -> list[Written]:
    case = layernorm_case(rows, cols, seed=1)
    return list(expanded(case, config, decide_graph(case.graph, config)))


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
    assert slots == [0, half] * (len(slots) // 2)
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
