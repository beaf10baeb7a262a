"""What a cell computes, read off the gates of its functional Verilog model.

The models are those of the SkyWater PDK: a list of ports, then instances of Verilog's gates and of
the PDK's own primitives, each with its output first.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["CellModel", "read_model"]

_MODULE: Final = re.compile(r"^module\s+(\w+)\s*\(.*?\);(.*?)^endmodule", re.MULTILINE | re.DOTALL)
_PORT: Final = re.compile(r"^\s*(input|output)\s+(\w+)\s*;", re.MULTILINE)
_GATE: Final = re.compile(
    r"^\s*([\w$]+)\s+(?:`UNIT_DELAY\s+)?\w+\s*\(([^;]*)\);", re.MULTILINE
)  # A type, a name, and connections in order.
_COMMENT: Final = re.compile(r"//.*")

_FLIP_FLOP: Final = "udp_dff$P"
"""Output, next state, clock: rising edges, nothing else."""
STATE: Final = "IQ"


@dataclass(frozen=True)
class CellModel:
    """A cell as a Liberty file describes it, without areas and delays."""

    name: str
    inputs: Sequence[str]
    functions: Mapping[str, str]
    """Each output's function of the inputs, or of `STATE`."""
    clock: str = ""
    """The input whose rising edge takes `next_state` over; empty: no flip-flop."""
    next_state: str = ""


def read_model(text: str) -> CellModel | None:
    """The cell of a functional model; None for one that is not built of gates and one flip-flop.

    That is what synthesis has no use for here: latches, tristate buffers, constants, set and reset,
    and flip-flops that choose what they take (scan and enable).
    """
    module = _MODULE.search(_COMMENT.sub("", text))
    if module is None:
        return None
    ports = _PORT.findall(module[2])
    inputs = [name for direction, name in ports if direction == "input"]
    outputs = [name for direction, name in ports if direction == "output"]
    values = {name: name for name in inputs}
    clock = next_state = ""
    for primitive, connections in _GATE.findall(module[2]):
        target, *sources = (word.strip() for word in connections.split(","))
        kind = primitive.rpartition("__")[2]
        if not sources or not values.keys() >= {*sources}:
            return None
        if kind == _FLIP_FLOP and not clock and {*sources} <= {*inputs}:
            next_state, clock = sources
            values[target] = STATE
            continue
        value = _gate(kind, [values[source] for source in sources])
        if value is None:
            return None
        values[target] = value
    if not outputs or not values.keys() >= {*outputs}:
        return None
    functions = {name: values[name] for name in outputs}
    return CellModel(module[1], inputs, functions, clock, next_state)


def _gate(kind: str, inputs: Sequence[str]) -> str | None:
    joined = {"and": "*", "nand": "*", "or": "+", "nor": "+", "xor": "^", "xnor": "^"}
    if kind in joined:
        value = f"({joined[kind].join(inputs)})"
        return f"(!{value})" if kind.startswith(("na", "no", "xn")) else value
    if kind in {"buf", "not"} and len(inputs) == 1:
        return inputs[0] if kind == "buf" else f"(!{inputs[0]})"
    if kind in {"udp_mux_2to1", "udp_mux_2to1_N"}:
        low, high, select = inputs
        value = _choose(low, high, select)
        return f"(!{value})" if kind.endswith("N") else value
    if kind == "udp_mux_4to2":
        a, b, c, d, low, high = inputs
        return _choose(_choose(a, b, low), _choose(c, d, low), high)
    return None


def _choose(low: str, high: str, select: str) -> str:
    return f"((!{select}*{low})+({select}*{high}))"
