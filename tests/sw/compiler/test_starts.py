"""Plans that a schedule begins with: the plain one decides as little as it can."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.compiler.starts import plain_plan, scheduled_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case, layernorm_case, softmax_case
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.schedules.primitives import ScheduleFile

GRAPHS = {
    "product": graph_of("matmul", MatMul(m=20, n=20, k=24, scale=0.01)),
    "attention": attention_case(2, 40, 16, 0).graph,
    "norm": layernorm_case(40, 60, 0).graph,
    "softmax": softmax_case(40, 60, 0).graph,
}


@pytest.mark.parametrize("preset", ["tiny", "base"])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_plain_plan_has_low_blocks_and_nothing_waits(name, preset):
    config = resolve_config(preset)
    plan = plain_plan(GRAPHS[name], config)
    assert (plan.defer, plan.scheduler, plan.spare_tiles) == (False, "regular", 0)
    for stage in plan.stages:
        assert all(each <= config.dim for each in getattr(stage, "rows", ()))
        for group in getattr(stage, "groups", ()):
            assert all(each <= config.dim for each in group.rows)
            assert (group.k.k_tiles, group.k.columns, group.drain.tiles) == (1, 1, 1)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_schedule_without_steps_is_what_it_starts_with(name):
    graph, config = GRAPHS[name], resolve_config("base")
    plain = plain_plan(graph, config)
    assert scheduled_plan(ScheduleFile(start="plain", steps=()), graph, config) == plain
    assert (
        scheduled_plan(ScheduleFile(steps=()), graph, config) == find_plan(graph, config) != plain
    )


def test_a_schedule_starts_with_the_plan_for_its_memory():
    """A narrow memory asks for another plan; the plain one does not depend on it."""
    graph, config, narrow = (
        GRAPHS["product"],
        resolve_config("base"),
        MemoryTiming(bytes_per_cycle=1),
    )
    found = scheduled_plan(ScheduleFile(steps=()), graph, config, narrow)
    assert found == find_plan(graph, config, narrow) != find_plan(graph, config)
    plain = scheduled_plan(ScheduleFile(start="plain", steps=()), graph, config, narrow)
    assert plain == plain_plan(graph, config)
