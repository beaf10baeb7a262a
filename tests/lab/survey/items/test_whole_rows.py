"""The plan that keeps whole rows on the chip."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.graphs.pairs import linear_norm_case
from celosia.lab.survey.items.whole_rows import whole_rows
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.program import Load
from celosia.sw.planning.forms.stages import LinearStage


@pytest.mark.parametrize(("kib", "tall"), [(64, 21), (256, 64)])
def test_rows_are_whole_and_never_pass_through_memory(kib, tall):
    config = resolve_config("base", (f"accumulator_kib={kib}",))
    graph = linear_norm_case(100, 768, 32, 0, spilled=False).graph
    plan = whole_rows(graph, config)
    (stage,) = plan.stages
    assert isinstance(stage, LinearStage)
    assert stage.tiles == (48,)
    assert sum(stage.rows) == 100
    assert max(stage.rows) == tall
    ops = [written.op for written in compile_graph(graph, config, Decide(plan)).ops]
    assert not [op for op in ops if isinstance(op, Load) and op.view.tensor == "total"]


def test_the_height_is_the_better_one_by_predicted_cycles():
    """With 128 KiB 32 rows instead of 42: a multiple of the array's."""
    graph = linear_norm_case(96, 768, 128, 0, spilled=False).graph
    config = resolve_config("base", ("accumulator_kib=128",))
    (stage,) = whole_rows(graph, config).stages
    assert isinstance(stage, LinearStage)
    assert max(stage.rows) == 32


def test_a_block_leaves_half_of_the_statistics_to_the_next_one():
    """The accumulator holds 85 rows of 48 tiles, the ring of sums 74, but 64 slots are 2 x 32."""
    config = resolve_config("base", ("accumulator_kib=256", "statistics_rows=64"))
    graph = linear_norm_case(100, 768, 32, 0, spilled=False).graph
    (stage,) = whole_rows(graph, config).stages
    assert isinstance(stage, LinearStage)
    assert stage.rows == (32, 32, 32, 4)
