"""Which memories become black boxes, and how they are connected."""

import re
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.sim.export.rams import SINGLE_PORT, Ram, RamPlatform
from celosia.sim.verilator.verilog import to_verilog


class OneMemory(wiring.Component):
    """A memory of 8 rows of 16 bits, and its ports."""

    def __init__(self, *, domain="sync", transparent=False, reads=1, granularity=8, **details):
        self._memory = Memory(**({"shape": 16, "depth": 8, "init": []} | details))
        write = self._memory.write_port(granularity=granularity)
        transparent_for = (write,) if transparent else ()
        self._reads = [
            self._memory.read_port(domain=domain, transparent_for=transparent_for)
            for _ in range(reads)
        ]
        super().__init__({
            "enable": In(2),
            "read": In(1),
            "row": In(3),
            "i": In(16),
            "o": Out(16).array(reads),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        m.submodules.cells = self._memory
        (write,) = self._memory.write_ports
        m.d.comb += [write.addr.eq(top.row), write.data.eq(top.i), write.en.eq(top.enable)]
        for port, out in zip(self._reads, top.o, strict=True):
            m.d.comb += [port.addr.eq(top.row), out.eq(port.data)]
            if port.domain != "comb":
                m.d.comb += port.en.eq(top.read)
        return m


def converted(**details) -> tuple[str, set[Ram]]:
    platform = RamPlatform()
    return to_verilog(OneMemory(**details), "top", platform), platform.rams


def connections(text: str) -> dict[str, str]:
    (instance,) = re.findall(r"^  celosia_ram_\w+ cells \(\n(.*?)^  \);", text, re.M | re.S)
    return dict(re.findall(r"\.(\w+)\((.*?) ?\)", instance))


def test_a_memory_with_a_port_each_way():
    text, rams = converted()
    assert rams == {Ram(single_port=False, rows=8, bits=16, element_bits=8)}
    assert "celosia_ram_1r1w_8x16_8 cells (" in text
    assert connections(text) == {
        "clk": "clk",
        "read_en": "read",
        "read_addr": "row",
        "read_data": "o__0",
        "write_en": "enable",
        "write_addr": "row",
        "write_data": "i",
    }
    assert "reg" not in text


def test_a_memory_with_one_port():
    text, rams = converted(attrs={SINGLE_PORT: "1"}, granularity=None)
    assert rams == {Ram(single_port=True, rows=8, bits=16, element_bits=16)}
    assert "celosia_ram_1rw_8x16_16 cells (" in text
    ports = connections(text)
    assert ports["addr"] == "row"
    assert not {"read_addr", "write_addr"} & ports.keys()


def test_a_memory_with_several_read_ports():
    text, rams = converted(reads=3)
    assert rams == {Ram(single_port=False, rows=8, bits=16, element_bits=8, reads=3)}
    assert "celosia_ram_3r1w_8x16_8 cells (" in text
    ports = connections(text)
    assert ports["read_en"] == "{ read, read, read }"
    assert ports["read_addr"] == "{ row, row, row }"
    for port in range(3):
        part = f"[{16 * port + 15}:{16 * port}]"
        assert f"  assign o__{port} = {ports['read_data']} {part};\n" in text


@pytest.mark.parametrize(
    "details",
    [
        {"domain": "comb"},
        {"transparent": True},
        {"reads": 0},
        {"init": [1]},
        {"depth": 1},
    ],
    ids=str,
)
def test_what_no_macro_does_stays(details):
    text, rams = converted(**details)
    assert not rams
    assert "celosia_ram" not in text
    assert "] cells [" in text


def test_nothing_changes_without_the_platform():
    assert "celosia_ram" not in to_verilog(OneMemory(), "top")


def test_shapes():
    ram = Ram(single_port=False, rows=15, bits=48, element_bits=16)
    assert (ram.address_bits, ram.elements) == (4, 3)
