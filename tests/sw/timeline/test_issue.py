"""Whether loops issue commands as fast as their operations are."""

import pytest

from celosia.isa.encoding import Funct
from celosia.isa.latencies import LOOP_ISSUE_CYCLES
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import attention_case
from celosia.sw.timeline.issue import loops_keep_up
from celosia.sw.timeline.limits import graph_limit

SHORT = attention_case(3, 12, 8, seed=1).graph
"""Products of a few cycles each."""
LONG = attention_case(4, 128, 64, seed=1).graph


@pytest.mark.parametrize(("graph", "preset"), [(SHORT, "tiny"), (LONG, "base")])
def test_commands_take_an_eighth_of_the_least_cycles_at_most(graph, preset):
    config = PRESETS[preset]
    least = graph_limit(graph, config, MemoryTiming()).cycles
    most = least // (8 * LOOP_ISSUE_CYCLES)
    assert loops_keep_up(graph, config, most)
    assert not loops_keep_up(graph, config, most + 1)


@pytest.mark.parametrize(("graph", "preset", "loops"), [(SHORT, "tiny", 0), (LONG, "base", 1)])
def test_short_operations_are_in_no_loop(graph, preset, loops):
    compiled = compile_graph(graph, PRESETS[preset])
    found = any(command.funct is Funct.REPEAT for command in compiled.program)
    assert found == loops
