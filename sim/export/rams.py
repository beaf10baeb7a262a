"""Memories as instances of black boxes, one module for each shape."""

from dataclasses import dataclass
from typing import Final

from amaranth.hdl import Cat, ClockSignal, Fragment, Instance, Shape, Value
from amaranth.lib.memory import Memory

from celosia.hw.lib.sleep import Wakeful

__all__ = ["SINGLE_PORT", "Ram", "RamPlatform"]

SINGLE_PORT: Final = "single_port"
"""Attribute of a memory that is never read and written in one cycle, and has one address."""


@dataclass(frozen=True, order=True)
class Ram:
    """The shape of a memory with synchronous read ports and a write port, on one clock."""

    single_port: bool
    """One address for both; never a read and a write in one cycle."""
    rows: int
    bits: int
    element_bits: int
    """What one bit of the write enable is for."""
    reads: int = 1
    """Read ports; a memory with a single port has one."""

    @property
    def name(self) -> str:
        """The name of its module."""
        ports = "1rw" if self.single_port else f"{self.reads}r1w"
        return f"celosia_ram_{ports}_{self.rows}x{self.bits}_{self.element_bits}"

    @property
    def address_bits(self) -> int:
        """Width of a row number."""
        return (self.rows - 1).bit_length()

    @property
    def elements(self) -> int:
        """Width of the write enable."""
        return self.bits // self.element_bits


class RamPlatform(Wakeful):
    """What `elaborate` gets in place of a platform: makes instances out of memories.

    Memories of another kind than `Ram` (read combinationally, as no RAM macro is, with several
    write ports, with initial contents, or with one row) stay what they are.
    """

    def __init__(self) -> None:
        self.rams: set[Ram] = set()
        """The shapes that occurred."""

    def get_memory(self, memory: Memory) -> Fragment:
        """Called by Amaranth for each memory."""
        ram = _shape(memory)
        if ram is None:
            return memory.elaborate(None)
        self.rams.add(ram)
        return _instance(ram, memory)


def _shape(memory: Memory) -> Ram | None:
    if not memory.read_ports or len(memory.write_ports) != 1:
        return None
    (write,) = memory.write_ports
    if any(read.domain != write.domain or read.transparent_for for read in memory.read_ports):
        return None
    if memory.depth < 2 or any(memory.init):
        return None
    bits = Shape.cast(memory.shape).width
    return Ram(
        single_port=bool(memory.attrs.get(SINGLE_PORT)),
        rows=memory.depth,
        bits=bits,
        element_bits=bits // len(write.en),
        reads=len(memory.read_ports),
    )


def _instance(ram: Ram, memory: Memory) -> Instance:
    reads, (write,) = memory.read_ports, memory.write_ports
    if ram.single_port:
        (read,) = reads
        addresses = {"i_addr": read.addr}
    else:
        read_addresses = Cat(read.addr for read in reads)
        addresses = {"i_read_addr": read_addresses, "i_write_addr": write.addr}
    return Instance(
        ram.name,
        i_clk=ClockSignal(write.domain),
        i_read_en=Cat(read.en for read in reads),
        i_write_en=write.en,
        **addresses,
        i_write_data=Value.cast(write.data),
        o_read_data=Cat(Value.cast(read.data) for read in reads),
    )
