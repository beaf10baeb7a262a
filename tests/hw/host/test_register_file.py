"""`RegisterFile` keeps the rules that the table of registers declares, register by register."""

import random
from collections import Counter
from typing import Any

import pytest
from amaranth.hdl import Module, Shape, Signal, Value

from celosia.hw.host.axi_lite import RESPONSE_ERROR
from celosia.hw.host.register_file import ACTIONS, COUNTED, RegisterFile
from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.map import REGISTERS, WINDOW_BYTES, Access, configuration_words
from tests.support.axi_host import AxiHost, lite_pins
from tests.support.streams import simulate

CONFIG = PRESETS["tiny"]
ONES = 0xFFFF_FFFF
WRITTEN_IN = 1
"""The cycle in which a write takes effect, counted from the one in which it is accepted."""
BY_OFFSET = {register.offset: register for register in REGISTERS.values()}
EMPTY = [offset for offset in range(0, WINDOW_BYTES, 4) if offset not in BY_OFFSET]


def reset_word(register) -> int:
    if register.reset is None:
        return configuration_words(CONFIG)[register.name]
    return 0 if register.access is Access.RO and not register.constant else register.reset


def stored_bits(register) -> int:
    """What a host can change, from the table alone."""
    if register.access not in {Access.RW, Access.W1C}:
        return 0
    if not register.fields:
        return ONES
    masks = {field.name: 0 if field.once else field.limit - 1 for field in register.fields}
    return register.pack(masks)


def lanes(strobe: int) -> int:
    """The bits of the bytes of `strobe`."""
    return sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)


def word_of(ctx, side, register) -> int:
    name, low = register.half
    return ctx.get(Value.cast(getattr(side, name.lower()))) >> low & ONES


def set_word(ctx, side, register, word: int) -> None:
    name, low = register.half
    value = Value.cast(getattr(side, name.lower()))
    ctx.set(value, ctx.get(value) & ~(ONES << low) | word << low)


def run(test, background=()) -> None:
    dut = RegisterFile(CONFIG)
    host = AxiHost(lite_pins(dut.port), domain="sync")
    actions = Counter()

    async def count(ctx):
        signals = [getattr(dut.actions, name.lower()) for name in ACTIONS]
        async for _, _, *values in ctx.tick().sample(*signals):
            actions.update(name for name, value in zip(ACTIONS, values, strict=True) if value)

    async def testbench(ctx):
        await test(ctx, dut, host, actions)

    simulate(dut, testbench, background=[count], deadline=100_000)


def test_each_reads_as_after_reset():
    async def test(ctx, dut, host, actions):
        for name, register in REGISTERS.items():
            assert await host.read_word(ctx, register.offset) == (0, reset_word(register)), name

    run(test)


@pytest.mark.parametrize("side", ["values", "shown", "raised"])
def test_others_see_each_as_the_table_says(side):
    """Halves as one value of 64 bits; else a word, by its fields if it has any."""
    members = RegisterFile(CONFIG).signature.members[side].signature.members
    seen = [register for register in REGISTERS.values() if register.half[0].lower() in members]
    assert seen
    for register in seen:
        shape: Any = members[register.half[0].lower()].shape
        whole = register.half[0] == register.name
        assert Shape.cast(shape).width == (32 if whole else 64)
        if whole and register.fields:
            places = {name: (each.offset, Shape.cast(each.shape).width) for name, each in shape}
            assert places == {each.name: (each.low, each.bits) for each in register.fields}


def test_each_is_written_by_bytes_as_its_access_says():
    async def test(ctx, dut, host, actions):
        rng = random.Random(0)
        for name, register in REGISTERS.items():
            kept = reset_word(register)
            for strobe in (0, 1, 2, 4, 8, 15, 5):
                word = rng.choice([ONES, rng.getrandbits(32)])
                response = await host.write_word(ctx, register.offset, word, strobe)
                assert response == (RESPONSE_ERROR if register.access is Access.RO else 0), name
                mask = stored_bits(register) & lanes(strobe)
                if register.access is Access.RW:
                    kept = kept & ~mask | word & mask
                    assert word_of(ctx, dut.values, register) == kept, name
                assert await host.read_word(ctx, register.offset) == (0, kept), name

    run(test)


def test_while_busy_each_takes_only_what_it_may():
    async def test(ctx, dut, host, actions):
        ctx.set(dut.busy, 1)
        for name, register in REGISTERS.items():
            refused = register.access is Access.RO or not register.while_busy
            before = actions.total()
            response = await host.write_word(ctx, register.offset, ONES)
            assert response == (RESPONSE_ERROR if refused else 0), name
            if refused:
                assert await host.read_word(ctx, register.offset) == (0, reset_word(register)), name
                assert actions.total() == before, name

    run(test)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_acts_once_per_write(name):
    register = REGISTERS.get(name) or next(
        r for r in REGISTERS.values() if any(field.name == name for field in r.fields)
    )
    low = next((field.low for field in register.fields if field.name == name), None)

    async def test(ctx, dut, host, actions):
        word = 1 << low if low is not None else 0
        strobe = 1 << low // 8 if low is not None else 1
        await host.write_word(ctx, register.offset, word, strobe)
        assert actions == {name: 1}
        await host.write_word(ctx, register.offset, word, 0)
        await host.write_word(ctx, register.offset, word, 0b1111 & ~strobe if word else 0)
        assert actions == {name: 1}
        await host.write_word(ctx, register.offset, word)
        assert actions == {name: 2}
        if word:
            await host.write_word(ctx, register.offset, ~word & ONES)
            assert actions[name] == 2

    run(test)


def test_what_is_read_only_shows_what_it_is_given():
    async def test(ctx, dut, host, actions):
        for name, register in REGISTERS.items():
            if register.access is not Access.RO or register in COUNTED:
                continue
            wanted = reset_word(register)
            if not register.constant:
                wanted = random.Random(register.offset).getrandbits(32)
                set_word(ctx, dut.shown, register, wanted)
            assert await host.read_word(ctx, register.offset) == (0, wanted), name

    run(test)


def test_counters_are_pairs_in_their_order():
    m, dut = Module(), RegisterFile(CONFIG)
    m.submodules.dut = dut
    # A counter that tells its number in both halves.
    told = Signal.like(dut.counter_number)
    with m.If(dut.counter_read):
        m.d.sync += told.eq(dut.counter_number)
    m.d.comb += [dut.counter[:32].eq(told + 1), dut.counter[32:].eq(told + 2)]
    host = AxiHost(lite_pins(dut.port), domain="sync")

    async def test(ctx):
        for number, counter in enumerate(COUNTERS):
            for half, ending in enumerate(("LO", "HI")):
                register = REGISTERS[f"COUNTER_{counter.name.upper()}_{ending}"]
                assert await host.read_word(ctx, register.offset) == (0, number + 1 + half)

    simulate(m, test, deadline=100_000)


def test_bits_that_are_raised_stay_until_they_are_cleared():
    register = REGISTERS["INTERRUPT_STATUS"]

    async def test(ctx, dut, host, actions):
        raised = Value.cast(dut.raised.interrupt_status)
        for bits in (0b01, 0b10):
            ctx.set(raised, bits)
            await ctx.tick()
            ctx.set(raised, 0)
        assert await host.read(ctx, register.name) == 0b11
        await host.write(ctx, register.name, 0b01)
        assert await host.read(ctx, register.name) == 0b10
        await host.write_word(ctx, register.offset, ONES, 0b1110)
        assert await host.read(ctx, register.name) == 0b10
        ctx.set(raised, 0b10)  # Raised all the time: it cannot be cleared.
        await host.write(ctx, register.name, 0b11)
        assert await host.read(ctx, register.name) == 0b10

    run(test)


@pytest.mark.parametrize("cycle", range(4))
def test_a_bit_that_is_raised_while_it_is_cleared_stays(cycle):
    register = REGISTERS["INTERRUPT_STATUS"]

    async def test(ctx, dut, host, actions):
        raised = Value.cast(dut.raised.interrupt_status)
        await ctx.tick()
        ctx.set(dut.port.aw.p.address, register.offset)
        ctx.set(dut.port.w.payload, {"data": 1, "strobe": 1})
        for now in range(5):
            ctx.set(dut.port.aw.valid, now == 0)
            ctx.set(dut.port.w.valid, now == 0)
            ctx.set(raised, now == cycle)
            await ctx.tick()
        assert ctx.get(Value.cast(dut.values.interrupt_status)) == (cycle >= WRITTEN_IN)

    run(test)


def test_words_without_a_register_are_errors():
    async def test(ctx, dut, host, actions):
        for offset in random.Random(0).sample(EMPTY, 60):
            assert await host.write_word(ctx, offset, ONES) == RESPONSE_ERROR
            assert await host.read_word(ctx, offset) == (RESPONSE_ERROR, 0)
        assert not actions

    run(test)


@pytest.mark.parametrize("seed", range(2))
def test_random_accesses_are_those_of_a_model(seed):
    rng = random.Random(seed)
    model = {register.name: reset_word(register) for register in REGISTERS.values()}

    async def test(ctx, dut, host, actions):
        busy = 0
        for _ in range(400):
            if rng.random() < 0.2:
                ctx.set(dut.busy, busy := rng.randrange(2))
            offset = rng.choice([rng.choice(EMPTY), *rng.choices(list(BY_OFFSET), k=9)])
            register = BY_OFFSET.get(offset)
            if rng.random() < 0.5:
                expected = (RESPONSE_ERROR, 0) if register is None else (0, model[register.name])
                assert await host.read_word(ctx, offset) == expected
                continue
            word, strobe = rng.getrandbits(32), rng.randrange(16)
            response = await host.write_word(ctx, offset, word, strobe)
            if register is None or register.access is Access.RO or busy > register.while_busy:
                assert response == RESPONSE_ERROR
                continue
            assert response == 0
            if register.access is Access.RW:
                mask = stored_bits(register) & lanes(strobe)
                model[register.name] = model[register.name] & ~mask | word & mask
        for name, word in model.items():
            assert await host.read(ctx, name) == word

    run(test)
