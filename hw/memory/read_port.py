"""How a unit reads rows of a local memory."""

from amaranth import Signal, signed
from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.memory.ports import row_shape
from celosia.isa.config import AcceleratorConfig

__all__ = ["LOCAL_READ_LATENCY", "ParameterRead", "RowRead", "RowReadInterface"]

LOCAL_READ_LATENCY = 2
"""Cycles from a granted request to its row on `data`."""


class RowReadInterface(wiring.PureInterface):
    """What type checkers know of an interface with the signature `RowRead`; never instantiated."""

    valid: Signal
    row: Signal
    ready: Signal
    data: data.View


class RowRead(wiring.Signature):
    """Requests for rows, seen from the unit that asks.

    A request is granted in a cycle with `valid` and `ready`; `ready` depends on `valid` and `row`
    of all requesters of the memory, combinationally.  `data` carries the row exactly
    `LOCAL_READ_LATENCY` cycles after the grant, for one cycle: the requester counts.
    """

    def __init__(self, row_shape: ShapeLike, data_shape: ShapeLike):
        super().__init__({
            "valid": Out(1),
            "row": Out(row_shape),
            "ready": In(1),
            "data": In(data_shape),
        })


class ParameterRead(RowRead):
    """Reads of parts of parameter rows: int32, one for each lane."""

    def __init__(self, config: AcceleratorConfig):
        elements = data.ArrayLayout(signed(32), config.lanes)
        super().__init__(row_shape(config.parameter_rows * config.row_parts), elements)
