"""Units by turns."""

from celosia.isa import encoding
from celosia.isa.encoding import Funct
from celosia.isa.presets import PRESETS
from celosia.lab.compilers.serialize import serialize
from celosia.lab.graphs.pairs import scores_case
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.program import Load, Products, Store, Transform
from celosia.sw.models.cases import attention_case

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


def test_loads_and_stores_may_go_on_beside_products_and_transforms():
    """But a load of what was stored behind the last fence waits for one."""
    compiled = compile_graph(scores_case(2, 24, 8, 0, spilled=True).graph, TINY)
    ops = [written.op for written in compiled.ops]
    begin, *each = serialize(
        ops, TINY, compiled.graph.tensors, compiled.addresses, beside=("load", "store")
    )
    fence, turn = encoding.FENCE.encode(), None
    stores = safe = fenced_loads = 0
    for op, commands in zip(ops, each, strict=True):
        fenced = commands[0] == fence
        assert fence not in commands[1:]
        own = {Products: "execute", Transform: "transform"}.get(type(op))
        safe = stores if fenced else safe
        if own:
            assert fenced == (turn not in (None, own))
            turn = own
        elif isinstance(op, Load):
            assert op.after <= safe
            fenced_loads += fenced
        else:
            assert not fenced
        stores += isinstance(op, Store)
    assert stores
    assert fenced_loads
    configured = [c for c in begin if c.funct == Funct.CONFIG and c not in compiled.program]
    assert not configured, "no load waits for a counter"
