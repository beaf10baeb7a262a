"""`Configuration`: the state after reset and after every kind of command.

`test_decoder.py` compares it with the contract on random programs.
"""

import random

from celosia.hw.decode.configuration import Configuration
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    FLUSH,
    INSTRUCTIONS,
    KEEP_SCALE,
    PRELOAD,
)
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)


async def apply(ctx, dut: Configuration, command) -> Cause:
    ctx.set(dut.command, command._asdict())
    ctx.set(dut.apply, 1)
    cause = Cause(ctx.get(dut.cause))
    await ctx.tick()
    ctx.set(dut.apply, 0)
    return cause


def test_the_state_after_reset_is_the_contracts():
    dut, reset = Configuration(CONFIG), ArchState.reset(CONFIG)

    async def testbench(ctx):
        for name in (
            "a_stride",
            "c_stride",
            "store_scale",
            "b",
            "c",
            "bias",
            "store_relu",
            "signal",
            "wait",
        ):
            assert ctx.get(dut.state[name]) == (getattr(reset, name) or 0)
        for index, load in enumerate(reset.loads):
            assert ctx.get(dut.state[f"load_{index}"].block_stride) == load.block_stride
            assert ctx.get(dut.state[f"load_{index}"].scale) == load.scale

    simulate(dut, testbench)


def test_commands_change_what_they_name_from_the_next_cycle_on():
    dut = Configuration(CONFIG)

    async def testbench(ctx):
        assert await apply(ctx, dut, CONFIG_LD.encode(set=1, stride=77)) is Cause.NONE
        assert ctx.get(dut.state.load_1.stride) == 77
        assert ctx.get(dut.state.load_0.stride) == 0
        await apply(ctx, dut, CONFIG_ST.encode(scale=5, stride=9))
        await apply(ctx, dut, CONFIG_ST.encode(scale=KEEP_SCALE, stride=8))
        assert (ctx.get(dut.state.store_scale), ctx.get(dut.state.store_stride)) == (5, 8)
        await apply(ctx, dut, CONFIG_DRAIN.encode(bias=1, bias_row=3))
        assert ctx.get(dut.state.bias_row) == 3
        await apply(ctx, dut, CONFIG_TOKEN.encode(signal=1, signal_id=9, wait_id=7, count=1 << 31))
        assert (ctx.get(dut.state.signal), ctx.get(dut.state.signal_token)) == (1, 9)
        assert (ctx.get(dut.state.wait), ctx.get(dut.state.wait_token)) == (0, 7)
        assert ctx.get(dut.state.wait_count) == 1 << 31

    simulate(dut, testbench)


def test_it_says_which_commands_configure():
    """All that may be built, applied or not; with a broken rule, too."""
    built = {"normalization": True, "statistics_rows": 16, "bert": True}
    dut = Configuration(CONFIG.with_values(built))
    configures = (CONFIG_EX, CONFIG_LD, CONFIG_ST, CONFIG_BERT, CONFIG_DRAIN, CONFIG_TOKEN)
    configures = {each.name for each in (*configures, PRELOAD, *TRANSFORM_CONFIGS)}

    async def testbench(ctx):
        for instruction in INSTRUCTIONS.values():
            ctx.set(dut.command, instruction.encode()._asdict())
            assert ctx.get(dut.mine) == (instruction.name in configures), instruction.name
        ctx.set(dut.command, CONFIG_EX.encode(weight_stationary=0)._asdict())
        assert Cause(ctx.get(dut.cause)) is Cause.UNSUPPORTED
        assert ctx.get(dut.mine)

    simulate(dut, testbench)


def test_what_is_not_applied_changes_nothing():
    configurable = {"normalization": True, "statistics_rows": 16, "bert": True}
    dut, rng = Configuration(CONFIG.with_values(configurable)), random.Random(1)
    kept = [dut.state.as_value()]
    for registers in dut.transform.by_instruction.values():
        kept += vars(registers).values()
    instructions = [CONFIG_EX, CONFIG_LD, CONFIG_ST, CONFIG_BERT, CONFIG_DRAIN, CONFIG_TOKEN]
    instructions += [PRELOAD, *TRANSFORM_CONFIGS]

    async def testbench(ctx):
        for instruction in instructions:
            before = [ctx.get(value) for value in kept]
            for _ in range(4):
                fields = {field.name: rng.getrandbits(field.bits) for field in instruction.operands}
                ctx.set(dut.command, instruction.encode(**fields)._asdict())
                await ctx.tick()
                assert [ctx.get(value) for value in kept] == before, instruction.name

    simulate(dut, testbench)


def test_a_broken_rule_changes_nothing():
    dut = Configuration(CONFIG)

    async def testbench(ctx):
        command = CONFIG_EX.encode(weight_stationary=0, a_stride=9)
        assert await apply(ctx, dut, command) is Cause.UNSUPPORTED
        assert ctx.get(dut.state.a_stride) == 1
        ctx.set(dut.command, FLUSH.encode()._asdict())
        assert not ctx.get(dut.mine)

    simulate(dut, testbench)


def test_stores_are_softmax_until_the_next_config_st():
    dut = Configuration(AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bert=True))

    async def testbench(ctx):
        for command, softmax in (
            (CONFIG_BERT.encode(softmax=1), 1),
            (CONFIG_BERT.encode(statistics_only=1, statistics=2), 1),
            (CONFIG_ST.encode(), 0),
        ):
            assert await apply(ctx, dut, command) is Cause.NONE
            assert ctx.get(dut.state.bert.softmax) == softmax

    simulate(dut, testbench)


def test_the_two_constants_of_the_exponential_come_one_by_one():
    dut = Configuration(AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bert=True))
    others = {"statistics_only": 1, "second_constant": 1, "constant": 5, "qb": 6, "qc": 7}

    async def testbench(ctx):
        constants = dut.state.bert.constants
        for fields, wanted in (
            ({"constant": 11, "qb": 2, "qc": 3}, {"ln2": 11, "qb": 2, "qc": 3}),
            (others, {"ln2": 11, "qb": 2, "qc": 3}),
            (others | {"statistics_only": 0}, {"ln2": 11, "ln2_inverse": 5, "qb": 6, "qc": 7}),
            ({"constant": 12}, {"ln2": 12, "ln2_inverse": 5, "qb": 0, "qc": 0}),
        ):
            assert await apply(ctx, dut, CONFIG_BERT.encode(**fields)) is Cause.NONE
            assert {name: ctx.get(constants[name]) for name in wanted} == wanted

    simulate(dut, testbench)
