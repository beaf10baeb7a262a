"""Which outputs of a component depend on its inputs within a cycle."""

from typing import Any

from amaranth.hdl import Fragment, Value
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.lib import wiring

__all__ = ["combinational_paths"]

_DIRECTIONS = {wiring.In: PortDirection.Input, wiring.Out: PortDirection.Output}


def combinational_paths(top: wiring.Component) -> set[tuple[str, str]]:
    """Pairs of an input, not the clock, and an output that depends on it within a cycle."""
    ports = [
        ("__".join(map(str, path)), Value.cast(value), _DIRECTIONS[member.flow])
        for path, member, value in top.signature.flatten(top)
    ]
    netlist = build_netlist(Fragment.get(top, None), ports=ports)
    own: Any = netlist.cells[0]
    inputs = {
        bit: name
        for name, (start, width) in own.ports_i.items()
        for bit in range(start, start + width)
    }
    found = set()
    for output, nets in own.ports_o.items():
        seen, waiting = set(), [*nets]
        while waiting:
            net = netlist.resolve_net(waiting.pop())
            if net in seen or net.is_const:
                continue
            seen.add(net)
            if net.cell == 0:
                found.add((inputs[net.bit], output))
            else:
                waiting += [source for source, _ in netlist.cells[net.cell].comb_edges_to(net.bit)]
    return {(source, output) for source, output in found if source != "clk"}
