"""Where scores wait in memory: places of blocks by turns, in a tensor of the program's own."""

from celosia.sw.models.cases import attention_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.spills import spill_name, spill_view, with_spills
from celosia.sw.planning.forms.stages import AttentionStage
from tests.support.levels import configured

CONFIG = configured("tiny", accumulator_kib=1)


def test_blocks_of_rows_have_places_of_their_own_by_turns():
    graph = attention_case(2, 90, 4, seed=1).graph
    plan = decide_graph(graph, CONFIG)
    (stage,) = plan.stages
    assert isinstance(stage, AttentionStage)
    (group,) = stage.groups
    assert group.spill is not None
    tensor = with_spills(graph, plan).tensors[spill_name(group)]
    assert (tensor.type, tensor.scratch, tensor.cols) == ("int16", True, 90)
    views = [spill_view(group, block, max(group.rows)) for block in range(group.spill.blocks)]
    assert not any(a.meets(b) for a in views for b in views if a is not b)
    assert max(view.row + view.rows for view in views) == tensor.rows
    assert spill_view(group, group.spill.blocks, 1).row == 0


def test_plans_without_long_rows_add_nothing():
    graph = attention_case(1, 9, 4, seed=1).graph
    assert with_spills(graph, decide_graph(graph, CONFIG)).tensors == graph.tensors
