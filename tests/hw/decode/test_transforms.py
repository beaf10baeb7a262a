"""The decoder's TRANSFORM against the rules of the contract, command by command."""

import random
from typing import Any

import pytest
from amaranth.lib import data

from celosia.hw.decode.decoder import Decoder
from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_TRANSFORM, TRANSFORM, Command, ElementType, Function
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.registers.errors import Cause
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS
from tests.support.offers import expected
from tests.support.reused_simulator import shared_design
from tests.support.streams import receive, send, simulate, sometimes
from tests.support.transforms import accumulator_row, scratchpad_row, transform

CONFIGS = [
    AcceleratorConfig(
        dim=4,
        scratchpad_kib=4,
        accumulator_kib=2,
        bus_bits=32,
        normalization=True,
        statistics_rows=16,
    ),
    AcceleratorConfig(dim=16, accumulator_kib=16, parameter_rows=64, normalization=True),
]


def random_command(config: AcceleratorConfig, rng: random.Random) -> Command:
    """A command whose operands are mostly near the limits of what is legal."""
    if rng.random() < 0.02:
        return Command(CONFIG_TRANSFORM.funct, rng.getrandbits(64), rng.getrandbits(64))
    instruction = rng.choice([*TRANSFORM_CONFIGS, CONFIG_TRANSFORM, *[TRANSFORM] * 6])
    values = {
        field.name: random_value(config, rng, field.name, field.limit)
        for field in instruction.operands
    }
    if instruction is CONFIG_TRANSFORM and rng.random() < 0.9:
        function = rng.choice(list(Function))
        values |= {"function": function, "type": rng.choice(FUNCTIONS[function].types or (0,))}
    return instruction.encode(**values)


def random_value(config: AcceleratorConfig, rng: random.Random, name: str, limit: int) -> int:
    if name in ("local", "target", "target2", "residual"):
        accumulator = rng.random() < (0.6 if name == "local" else 0.05)
        rows = config.accumulator_rows if accumulator else config.scratchpad_rows
        row = rng.choice([rng.randrange(rows), rng.randrange(rows), rng.randrange(rows), rows - 1])
        return LocalAddress(row=row, accumulator=accumulator).encode()
    dim = config.dim
    small = {
        "local_rows": [0, 1, 2, 3, dim],
        "local_cols": [0, 1, dim - 1, dim, dim + 1, 3 * dim, rng.randrange(5000)],
        "statistics": [0, 3, config.statistics_rows - 2],
        "scale": [0, 1, 0x3F80_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0xBF80_0000],
        "column_scale": [0, 0, 0, 1],
        "type2": [ElementType.INT8, ElementType.INT16, ElementType.INT16, ElementType.UINT8],
        "channels": [0, 1, dim, 4096, 4097],
        "bias_row": [0, 3, config.parameter_rows - 1],
        "scale_row": [0, 3, config.parameter_rows - 1],
        "parameter_row": [0, 3, config.parameter_rows - 3],
        "first_key": [0, 7],
        "first_row": [0, 9],
        "window": [0, 5, 4096],
        "ring": [0, 9, 4096],
    }
    if name.endswith("stride"):
        return rng.choice([0, 1, dim, 40])
    return rng.choice(small[name]) if name in small else rng.randrange(limit)


def plain(value: Any) -> Any:
    """A constant out of the simulator, as Python writes it."""
    if isinstance(value, data.Const):
        layout = value.shape()
        assert isinstance(layout, data.StructLayout)
        return {name: plain(value[name]) for name in layout.members}
    return getattr(value, "value", value)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"dim{config.dim}")
@pytest.mark.parametrize("seed", range(2))
def test_decodes_what_the_contract_says(config, seed):
    rng = random.Random(seed)
    commands = [random_command(config, rng) for _ in range(400)]
    wanted = expected(config, commands)
    causes = {offer["cause"] for offer in wanted}
    assert causes >= {Cause.NONE, Cause.UNSUPPORTED, Cause.SCALE, Cause.SHAPE, Cause.LOCAL_RANGE}
    check_all(config, commands, wanted, seed)


@pytest.mark.parametrize("moments", [0, 1])
def test_each_function_has_the_records_and_the_sums_of_the_contract(moments):
    """The last record that there is, and one behind it."""
    config, commands = CONFIGS[0], []
    for function in Function:
        source = scratchpad_row(40) if FUNCTIONS[function].staged else accumulator_row(8)
        for statistics in (config.statistics_rows - 2, config.statistics_rows - 1):
            commands += transform(
                function,
                shape=(2, 2 * config.dim),
                source=source,
                target=scratchpad_row(100),
                type=(FUNCTIONS[function].types or (0,))[-1],
                moments=moments,
                statistics=statistics,
                start=1,
                rows={
                    "source_stride": 2, "target_stride": 2,
                    "residual": scratchpad_row(200), "residual_stride": 2,
                },
            )  # fmt: skip
    wanted = expected(config, commands)
    causes = [offer["cause"] for offer in wanted]
    assert len(causes) == 2 * len(Function)
    assert {*causes[::2]} == {Cause.NONE}
    keeps = [function for function, cause in zip(Function, causes[1::2], strict=True) if cause]
    assert (Function.RESIDUAL in keeps) == moments
    assert Function.MOMENTS in keeps
    check_all(config, commands, wanted)


def check_all(
    config: AcceleratorConfig, commands: list[Command], wanted: list[dict], seed: int = 0
) -> None:
    dut = shared_design(Decoder, config)

    async def producer(ctx):
        await send(ctx, dut.commands, [c._asdict() for c in commands], sometimes(seed))

    async def consumer(ctx):
        for offer in wanted:
            (got,) = await receive(ctx, dut.o, 1, sometimes(offer["tag"]))
            assert (got.kind, got.cause, got.tag) == (offer["kind"], offer["cause"], offer["tag"])
            if "fields" in offer:
                found = plain(got.transform)
                assert found | offer["fields"] == found
                rows = [(r.first, r.last) if r.valid else None for r in got.ranges]
                assert rows == offer["ranges"]

    simulate(dut, producer, consumer)
