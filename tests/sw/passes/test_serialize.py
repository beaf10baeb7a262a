"""Units by turns."""

from celosia.isa import encoding
from celosia.isa.encoding import Funct
from celosia.isa.presets import PRESETS
from celosia.sw.models.cases import attention_case
from celosia.sw.passes.serialize import serialize
from celosia.sw.pipeline import compile_graph

TINY = PRESETS["tiny"]
KINDS = {
    Funct.MVIN: "load",
    Funct.MVIN2: "load",
    Funct.MVIN3: "load",
    Funct.MVIN_PARAM: "load",
    Funct.COMPUTE_PRELOADED: "execute",
    Funct.TRANSFORM: "transform",
    Funct.MVOUT: "store",
}


def test_a_fence_is_between_operations_of_different_units_and_only_there():
    compiled = compile_graph(attention_case(2, 9, 8, 0).graph, TINY)
    ops = [written.op for written in compiled.ops]
    lowered = serialize(ops, TINY, compiled.graph.tensors, compiled.addresses)
    commands = [command for part in lowered for command in part]
    fence, unit, fenced, changes = encoding.FENCE.encode(), None, True, 0
    for command in commands:
        if command == fence:
            fenced = True
        elif kind := KINDS.get(Funct(command.funct)):
            assert fenced or kind == unit
            changes += kind != unit
            unit, fenced = kind, False
    assert changes == commands.count(fence)
    configured = [c for c in commands if c.funct == Funct.CONFIG and c not in compiled.program]
    assert not configured, "no load waits for a counter"
