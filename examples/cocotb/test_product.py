"""A product of two 4x4 matrices, from a command ring, with an interrupt at its end."""

import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

from celosia.isa.registers.map import IDENTITY, REGISTERS

PROGRAM = Path(__file__).parent / "build" / "product.bin"
A, B, C, RING = 0x8000_0000, 0x8000_0040, 0x8000_0080, 0x8000_1000
SIZE = 4


async def write(host: Any, name: str, value: int) -> None:
    answer = await host.write(REGISTERS[name].offset, value.to_bytes(4, "little"))
    assert answer.resp == AxiResp.OKAY, name


async def read(host: Any, name: str) -> int:
    answer = await host.read(REGISTERS[name].offset, 4)
    assert answer.resp == AxiResp.OKAY, name
    return int.from_bytes(answer.data, "little")


@cocotb.test
async def a_product_from_the_ring(dut: Any) -> None:
    # Clock, reset, and the command port, which is not used.
    Clock(dut.clk, 10, unit="ns").start()
    for name in ("cmd_valid", "cmd_funct", "cmd_rs1", "cmd_rs2"):
        getattr(dut, name).value = 0
    dut.rst.value = 1
    ram: Any = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk, dut.rst, size=2**32)
    host = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.clk, dut.rst)
    await ClockCycles(dut.clk, 5)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 4)

    # Operands and commands.
    rng = random.Random(0)
    a, b = ([[rng.randrange(-128, 128) for _ in range(SIZE)] for _ in range(SIZE)] for _ in "ab")
    program = PROGRAM.read_bytes()
    for address, matrix in ((A, a), (B, b)):
        ram.write(address, bytes(element & 0xFF for row in matrix for element in row))
    ram.write(RING, program)
    commands = len(program) // 24

    # A ring with one entry more than there are commands: one is always empty.
    assert await read(host, "IDENTITY") == IDENTITY
    await write(host, "RING_BASE_LO", RING)
    await write(host, "RING_SIZE", commands + 1)
    await write(host, "CONTROL", REGISTERS["CONTROL"].pack({"ring_enable": 1}))
    await write(host, "INTERRUPT_ENABLE", REGISTERS["INTERRUPT_ENABLE"].pack({"done": 1}))
    await write(host, "RING_TAIL", commands)
    await write(host, "RING_DOORBELL", 1)

    await with_timeout(RisingEdge(dut.interrupt), 100, "us")
    assert await read(host, "RING_COMPLETED") == commands
    assert await read(host, "ERROR") == 0
    for row in range(SIZE):
        for column in range(SIZE):
            place = C + 4 * (SIZE * row + column)
            found = int.from_bytes(ram.read(place, 4), "little", signed=True)
            assert found == sum(a[row][k] * b[k][column] for k in range(SIZE))
    dut._log.info("C is right")
