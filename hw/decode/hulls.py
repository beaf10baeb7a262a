"""The rows that an operation names, as its command says it: before they are known to exist."""

from amaranth import Mux, unsigned
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.hw.decode.ops import Space
from celosia.isa.config import AcceleratorConfig

__all__ = ["Hull", "blocks_of", "space_of"]


class Hull(data.StructLayout):
    """Local rows `row` to `row + extent`."""

    def __init__(self) -> None:
        super().__init__({
            "valid": 1,
            "space": Space,
            "row": unsigned(32),
            "extent": unsigned(33),
        })


def space_of(accumulator: Value) -> Value:
    """The memory that a local address names."""
    return Mux(accumulator, Value.cast(Space.ACCUMULATOR), Value.cast(Space.SCRATCHPAD))


def blocks_of(config: AcceleratorConfig, cols: Value) -> Value:
    """Blocks of ``dim`` columns, the last one perhaps short."""
    return (cols + (config.dim - 1)) >> (config.dim - 1).bit_length()
