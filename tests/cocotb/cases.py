"""What the accelerator does on a bus; run inside of a simulator by cocotb."""

from typing import Any

import cocotb
from cocotb.task import bridge, resume
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from celosia.isa.encoding import RING_ENTRY
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.loops import expand
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import REGISTERS, WINDOW_BYTES, Access, BusId, configuration_words
from celosia.sw.driver.host import Host, Range
from celosia.sw.driver.registers import RegisterError
from celosia.sw.driver.ring import CommandRing
from tests.cocotb.bench import CHANNELS, LITE_CHANNELS, PATIENCE_CYCLES, PERIOD_NS, Bench
from tests.cocotb.configuration import CONFIG
from tests.cocotb.product import MEMORY_BYTES, RING, Product, make_product

PRODUCT = make_product(9, 7, 10)
COMMANDS = len(list(expand(PRODUCT.commands, CONFIG)))
"""Commands that are executed: nests of products are one in the ring."""
ENTRIES = len(PRODUCT.commands) + 3
"""Of the ring: a second program goes around its end."""


async def begin(dut: Any, product: Product = PRODUCT, entries: int = ENTRIES) -> Bench:
    bench = Bench(dut)
    await bench.start()
    bench.memory.load(MEMORY_BASE, product.before)
    await bench.open_ring(entries)
    return bench


async def runs(bench: Bench, product: Product = PRODUCT) -> None:
    """The program ends with an interrupt, and memory is as the functional model left it."""
    bench.memory.load(MEMORY_BASE, product.before)
    bench.programs += 1
    completed = await bench.read("RING_COMPLETED")
    await bench.submit(product.commands)
    assert await bench.interrupted() == {"done": 1, "error": 0}
    assert not bench.dut.busy.value
    assert bench.rules.quiet
    assert bench.memory.dump(MEMORY_BASE, len(product.after)) == product.after
    assert await bench.read("RING_COMPLETED") == completed + len(product.commands)
    assert await bench.read("RING_HEAD") == bench.tail
    assert await bench.fields("STATUS") == {"busy": 0, "error": 0, "ring_empty": 1}


async def fails(bench: Bench, cause: Cause, bus_id: BusId = BusId.DATA) -> None:
    """The program ends with an interrupt and an error, and everything has drained.

    The commands since reset or the last clear were those of `PRODUCT`, `bench.programs` times.
    """
    await bench.submit(PRODUCT.commands)
    assert await bench.interrupted() == {"done": 0, "error": 1}
    await bench.idle()
    assert bench.dut.error.value
    assert await bench.fields("ERROR") == {"cause": cause, "id": bus_id}
    assert await bench.read("ERROR_COMMAND") - bench.programs * COMMANDS in range(COMMANDS)


async def recovers(bench: Bench) -> None:
    """After a clear, the program runs as if nothing had been."""
    memory = bench.memory
    memory.bad_reads, memory.bad_writes = set(), set()
    await bench.write("CYCLE_BUDGET", 0)
    await bench.set("CONTROL", clear_error=1, ring_enable=1)
    bench.programs = 0
    assert await bench.fields("ERROR") == {"cause": Cause.NONE, "id": 0}
    assert not bench.dut.error.value
    assert await bench.read("RING_HEAD") == bench.tail
    await runs(bench)


@cocotb.test
async def identity_and_reset_values(dut):
    bench = Bench(dut)
    await bench.start()
    wanted = configuration_words(CONFIG)
    for again in range(2):
        for name, register in REGISTERS.items():
            value = wanted.get(name, register.reset)
            assert await bench.read(name) == (0 if register.access is Access.WO else value), name
        if not again:
            await bench.write("READ_LIMIT", 0x1234_5678_9ABC_DEF0)
            assert await bench.read("READ_LIMIT") == 0x1234_5678_9ABC_DEF0
            await bench.reset()


@cocotb.test
async def wrong_accesses_are_answered_with_an_error(dut):
    bench = Bench(dut)
    await bench.start()
    known = {register.offset for register in REGISTERS.values()}
    unknown = [offset for offset in range(0, WINDOW_BYTES, 4) if offset not in known]
    for offset in (unknown[0], unknown[-1]):
        assert await bench.access(offset) == (0, AxiResp.SLVERR)
        assert await bench.access(offset, 1) == (1, AxiResp.SLVERR)
    _, response = await bench.access(REGISTERS["IDENTITY"].offset, 1)
    assert response == AxiResp.SLVERR
    # cocotbext-axi turns this into a write with strobes.
    await bench.host.write(REGISTERS["WATCHDOG"].offset + 1, b"\xab\xcd")
    assert await bench.read("WATCHDOG") == 0xCDAB00


@cocotb.test
async def products_through_the_ring(dut):
    bench = await begin(dut)
    for _ in range(3):
        await runs(bench)
    assert await bench.read("COUNTER_COMMANDS") == 3 * COMMANDS
    assert bench.rules.read_bursts
    assert bench.rules.write_bursts


@cocotb.test
async def a_product_through_the_command_port(dut):
    bench = Bench(dut)
    await bench.start()
    bench.memory.load(MEMORY_BASE, PRODUCT.before)
    await with_timeout(
        cocotb.start_soon(bench.stream(PRODUCT.commands)), PATIENCE_CYCLES * PERIOD_NS, "ns"
    )
    await bench.idle()
    assert bench.memory.dump(MEMORY_BASE, len(PRODUCT.after)) == PRODUCT.after


@cocotb.test
@cocotb.parametrize(channel=[*CHANNELS, *LITE_CHANNELS])
async def hesitation_on_one_channel(dut, channel):
    bench = await begin(dut)
    bench.pause(channel, 70)
    await runs(bench)


@cocotb.test
@cocotb.parametrize(seed=range(3))
async def hesitation_everywhere(dut, seed):
    bench = await begin(dut)
    for channel in (*CHANNELS, *LITE_CHANNELS):
        bench.pause(channel, 20 + 20 * seed, seed)
    for _ in range(2):
        await runs(bench)


@cocotb.test
async def ready_only_after_valid(dut):
    bench = await begin(dut)
    bench.accept_late()
    await runs(bench)


@cocotb.test
@cocotb.parametrize(hesitates=[False, True])
async def an_error_response_to_a_read(dut, hesitates):
    bench = await begin(dut)
    for channel in CHANNELS if hesitates else ():
        bench.pause(channel, 40)
    for byte in (0, 37, PRODUCT.wanted.shape[0] * 10 - 1):
        bench.memory.bad_reads = {PRODUCT.a + byte}
        await fails(bench, Cause.READ_RESPONSE)
        await recovers(bench)


@cocotb.test
@cocotb.parametrize(hesitates=[False, True])
async def an_error_response_to_a_write(dut, hesitates):
    bench = await begin(dut)
    for channel in CHANNELS if hesitates else ():
        bench.pause(channel, 40)
    for byte in (0, PRODUCT.wanted.size - 1):
        bench.memory.bad_writes = {PRODUCT.c + byte}
        await fails(bench, Cause.WRITE_RESPONSE)
        await recovers(bench)


@cocotb.test
async def an_error_response_to_the_ring(dut):
    bench = await begin(dut)
    entry = 4
    bench.memory.bad_reads = {RING + entry * RING_ENTRY.size}
    await fails(bench, Cause.READ_RESPONSE, BusId.RING)
    assert await bench.read("RING_HEAD") <= entry
    await recovers(bench)


@cocotb.test
async def a_runaway_program_is_stopped(dut):
    bench = await begin(dut)
    await bench.write("CYCLE_BUDGET", 60)
    await bench.submit(PRODUCT.commands)
    await RisingEdge(bench.dut.error)
    assert await bench.interrupted() == {"done": 0, "error": 1}
    await bench.idle()
    assert (await bench.fields("ERROR"))["cause"] == Cause.CYCLE_BUDGET
    assert await bench.read("RING_COMPLETED") < COMMANDS
    await recovers(bench)


@cocotb.test
async def registers_are_guarded_while_it_is_busy(dut):
    bench = await begin(dut)
    bench.pause("r", 95)
    await bench.submit(PRODUCT.commands)
    for name in ("READ_BASE_LO", "CONTROL", "RING_SIZE"):
        _, response = await bench.access(REGISTERS[name].offset, 0)
        assert response == AxiResp.SLVERR, name
        assert dut.busy.value
    assert await bench.interrupted() == {"done": 1, "error": 0}
    assert bench.memory.dump(MEMORY_BASE, len(PRODUCT.after)) == PRODUCT.after


@cocotb.test
async def a_reset_amid_a_program(dut):
    bench = await begin(dut)
    bench.pause("r", 60)
    await bench.submit(PRODUCT.commands)
    await ClockCycles(dut.clk, 100)
    assert dut.busy.value
    await bench.reset()
    assert not dut.busy.value
    await bench.open_ring(ENTRIES)
    await runs(bench)


class _Port:
    """The `RegisterPort` of Celosia's own driver: a thread that the simulation waits for."""

    def __init__(self, bench: Bench):
        self._bench = bench

    def read_word(self, offset: int) -> int:
        word, response = resume(self._bench.access)(offset)
        return self._checked(word, response)

    def write_word(self, offset: int, word: int) -> None:
        self._checked(*resume(self._bench.access)(offset, word))

    def wait(self, cycles: int) -> bool:
        return resume(self._wait)(min(cycles, PATIENCE_CYCLES))

    async def _wait(self, cycles: int) -> bool:
        for _ in range(cycles):
            if self._bench.dut.interrupt.value:
                return True
            await RisingEdge(self._bench.dut.clk)
        return False

    @staticmethod
    def _checked(word: int, response: AxiResp) -> int:
        if response != AxiResp.OKAY:
            raise RegisterError(response.name)
        return word


@cocotb.test
async def the_driver_in_python_works_on_this_bus(dut):
    bench = Bench(dut)
    await bench.start()
    bench.memory.load(MEMORY_BASE, PRODUCT.before)
    everything = Range(MEMORY_BASE, MEMORY_BASE + MEMORY_BYTES - 1)

    def use() -> int:
        host = Host(_Port(bench))
        host.identify(CONFIG)
        host.permit(everything, everything)
        host.begin(ring=True)
        ring = CommandRing(host, bench.memory.load, RING, entries=8)
        ring.open()
        ring.feed(b"".join(RING_ENTRY.pack(c.funct, 0, c.rs1, c.rs2) for c in PRODUCT.commands))
        ring.finish()
        assert host.error() is None
        return host.counters()["commands"]

    assert await bridge(use)() == COMMANDS
    assert bench.memory.dump(MEMORY_BASE, len(PRODUCT.after)) == PRODUCT.after
