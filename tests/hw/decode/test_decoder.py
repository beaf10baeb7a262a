"""`Decoder` (and `Configuration`) against the rules of the contract, command by command."""

import random

import pytest

from celosia.hw.decode.decoder import Decoder, Kind
from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_BERT,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    FENCE,
    FLUSH,
    KEEP_SCALE,
    LOADS,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    Command,
    Instruction,
)
from celosia.isa.operations.semantics import LOOP_FUNCTS
from celosia.isa.registers.errors import Cause
from tests.support.offers import expected
from tests.support.reused_simulator import shared_design
from tests.support.streams import never, receive, send, simulate, sometimes

CONFIGS = [
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, bus_bits=32),
    AcceleratorConfig(
        dim=16, scratchpad_kib=16, accumulator_kib=16, parameter_rows=16, loop_entries=0
    ),
    AcceleratorConfig(
        dim=4, scratchpad_kib=1, accumulator_kib=1, dataflow="both", convolution=True, bert=True
    ),
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, dataflow="os"),
]
OPERATIONS = (*LOADS, MVIN_PARAM, MVOUT, COMPUTE_PRELOADED, COMPUTE_ACCUMULATED)
CONFIGURE = (CONFIG_EX, CONFIG_LD, CONFIG_ST, CONFIG_BERT, CONFIG_DRAIN, CONFIG_TOKEN, PRELOAD)
OTHERS = (FLUSH, FENCE)


def random_command(config: AcceleratorConfig, rng: random.Random) -> Command:
    """A command whose operands are mostly near the limits of what is legal."""
    if rng.random() < 0.03:
        return Command(
            rng.choice([9, 31, 63, 126, 0, *LOOP_FUNCTS]), rng.getrandbits(64), rng.getrandbits(64)
        )
    instruction = rng.choice(rng.choice([OPERATIONS, OPERATIONS, CONFIGURE, OTHERS]))
    return instruction.encode(**{
        field.name: random_value(config, rng, instruction, field.name, field.limit)
        for field in instruction.operands
    })


def random_value(
    config: AcceleratorConfig, rng: random.Random, instruction: Instruction, name: str, limit: int
) -> int:
    if name in ("local", "a", "b", "c", "d"):
        return random_address(config, rng, instruction is MVOUT)
    if name.endswith(("rows", "cols")):
        most = config.dim * (1 if instruction.name.startswith(("comp", "pre")) else 4)
        return rng.choice([0, 1, config.dim, rng.randint(1, most), rng.randint(1, most), most + 1])
    small = {
        "weight_stationary": [1, 1, 0] if config.output_stationary else [1, 1, 1, 1, 0],
        "shift": [0, 3, 31, 32 + 5],
        "pool_size": [0, 1, 2, 3, 3],
        "image_rows": [0, 1, 5, 9, 255],
        "image_cols": [0, 1, 5, 9],
        "activation": [0, 1, 1, 2, 3] if config.bert else [0, 1, 1, 3],
        "statistics": [0, 1, 3, 3, 4],
        "pool_stride": [0, 0, 1, 2] if config.convolution else [0] * 9 + [1],
        "pixel_repeats": [0, 1, 2, 4, 9] if config.convolution else [0, 1, 1, 1, 2],
        "strides_only": [0, 0, 1],
        "set": [0, 1, 2, 2, 3],
        "block_stride": [0, 1, config.dim, 3 * config.dim],
        "a_stride": [0, 1, 1, 2],
        "c_stride": [0, 1, 1, 2],
        "count": [0, 1, config.dim, config.dim + 1, 5 * config.dim],
        "row": [0, 3, config.parameter_rows - 1, config.parameter_rows],
        "bias_row": [0, 3, config.parameter_rows - 1],
        "dram": [0, 0x8000_0040, rng.getrandbits(64)],
        "scale": [KEEP_SCALE, rng.getrandbits(32)],
    }
    return rng.choice(small[name]) if name in small else rng.randrange(limit)


def random_address(config: AcceleratorConfig, rng: random.Random, stores: bool) -> int:
    if rng.random() < 0.1:
        return GARBAGE
    accumulator = rng.random() < 0.35
    rows = config.accumulator_rows if accumulator else config.scratchpad_rows
    return LocalAddress(
        row=rng.choice([
            *(rng.randrange(rows) for _ in range(4)),
            *(rows - 1, rows, 0, 1, rows // 2, rows // 2 + 1),
        ]),
        accumulator=accumulator,
        accumulate=rng.random() < 0.5,
        full=stores and rng.random() < 0.5,
        norm=rng.choice([0] * 9 + [rng.randrange(8)]),
    ).encode()


def plain(got, like):
    """A field, or those of a structure."""
    return {name: got[name] for name in like} if isinstance(like, dict) else got


def check(got, wanted: dict) -> None:
    assert got.kind == wanted["kind"]
    assert (got.cause, got.tag) == (wanted["cause"], wanted["tag"])
    if "fields" not in wanted:
        return
    op = got[wanted["kind"].name.lower()]
    assert op.tag == wanted["tag"]
    for name, value in wanted["fields"].items():
        got_value = op[name]
        if isinstance(value, dict):
            got_value = {key: plain(got_value[key], inner) for key, inner in value.items()}
        assert getattr(got_value, "value", got_value) == getattr(value, "value", value), name
    found = [(r.first, r.last) if r.valid else None for r in got.ranges]
    assert found == wanted["ranges"]


def check_all(config: AcceleratorConfig, commands: list[Command], wanted: list[dict]) -> None:
    """What a decoder makes of `commands`, without stalls."""
    dut = shared_design(Decoder, config)

    async def producer(ctx):
        await send(ctx, dut.commands, [command._asdict() for command in commands], never)

    async def consumer(ctx):
        for one, other in zip(await receive(ctx, dut.o, len(wanted)), wanted, strict=True):
            check(one, other)

    simulate(dut, producer, consumer)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"dim{config.dim}-{config.dataflow}")
@pytest.mark.parametrize("seed", range(3))
def test_decodes_what_the_contract_says(config, seed):
    rng = random.Random(seed)
    commands = [random_command(config, rng) for _ in range(400)]
    wanted = expected(config, commands)
    assert {offer["kind"] for offer in wanted} == set(Kind) - {Kind.TRANSFORM}
    dut = shared_design(Decoder, config)

    async def producer(ctx):
        payloads = [command._asdict() for command in commands]
        await send(ctx, dut.commands, payloads, sometimes(seed))

    async def consumer(ctx):
        got = await receive(ctx, dut.o, len(wanted), sometimes(seed + 1))
        for one, other in zip(got, wanted, strict=True):
            check(one, other)
        await ctx.tick().repeat(10)
        assert ctx.get(dut.empty)
        assert not ctx.get(dut.o.valid)

    simulate(dut, producer, consumer)


@pytest.mark.parametrize(("index", "in_place"), [(0, 0), (2, 0), (2, 1)])
def test_results_may_touch_the_rows_of_operands_but_not_meet_them(index, in_place):
    """Each operand at every distance from C: random addresses seldom come so near.

    Output-stationary results, and no others, may take the place of an operand, row by row.
    """
    config, place, commands = CONFIGS[index], 100, []
    commands.append(CONFIG_EX.encode(weight_stationary=1 - in_place))
    size = {"cols": 4, "rows": 4}
    for operand in ("a", "b", "d"):
        rows = {"a": 10, "b": 20, "d": 30}
        for distance in range(-5, 6):
            rows[operand] = place + distance
            fields = {name: rows[name] for name in "ad"}
            fields |= {f"{name}_{part}": size[part] for name in "ad" for part in size}
            shape = {f"{name}_{part}": size[part] for name in "bc" for part in size}
            commands += [
                PRELOAD.encode(b=rows["b"], c=place, **shape),
                COMPUTE_PRELOADED.encode(**fields),
            ]
            if distance == 0 and operand == "a" and in_place:  # At another stride it does not.
                strides = {"strides_only": 1, "a_stride": 2}
                commands += [CONFIG_EX.encode(**strides), COMPUTE_PRELOADED.encode(**fields)]
                commands += [CONFIG_EX.encode(strides_only=1)]
    wanted = expected(config, commands)
    causes = [offer["cause"] for offer in wanted]
    meeting, apart = 3 * (7 - in_place) + in_place, 3 * (4 + in_place)
    assert (causes.count(Cause.OVERLAP), causes.count(Cause.NONE)) == (meeting, apart)
    check_all(config, commands, wanted)


@pytest.mark.parametrize("turned", [0, 1])
def test_int4_weights_of_every_size_name_half_the_rows_at_most(turned):
    config, commands = CONFIGS[0], [CONFIG_EX.encode(b_type=1, b_transpose=turned)]
    for lines in range(config.dim + 1):
        sizes = {"b_rows": 2, "b_cols": lines} if turned else {"b_rows": lines, "b_cols": 2}
        c = LocalAddress(row=0, accumulator=True).encode()
        commands += [
            PRELOAD.encode(b=20, c=c, c_rows=1, c_cols=1, **sizes),
            COMPUTE_PRELOADED.encode(a=0, a_rows=1, a_cols=1, d=GARBAGE),
        ]
    wanted = expected(config, commands)
    assert [offer["fields"]["w_int4"] for offer in wanted] == [True] * (config.dim + 1)
    check_all(config, commands, wanted)


def test_rows_of_each_type_leave_up_to_their_width():
    """A row in memory has at most 64 bytes: 16 int32, 32 int16, 64 int8."""
    config = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1, normalization=True)
    assert config.stores_int16
    commands, widths = [], []
    for int16 in (0, 1):
        commands.append(CONFIG_DRAIN.encode(int16=int16, block_stride=1))
        for accumulator, full, width in ((0, 0, 4), (1, 0, 2 if int16 else 4), (1, 1, 1)):
            local = LocalAddress(row=0, accumulator=bool(accumulator), full=bool(full)).encode()
            most = width * config.max_accumulator_blocks * config.dim
            for cols in (most, most + 1):
                commands.append(MVOUT.encode(dram=64, local=local, local_rows=1, local_cols=cols))
                widths.append(Cause.NONE if cols == most else Cause.SHAPE)
    wanted = expected(config, commands)
    assert [offer["cause"] for offer in wanted] == widths
    check_all(config, commands, wanted)


def test_sizes_of_what_is_not_there_do_not_matter():
    config, commands = CONFIGS[2], []
    for weight_stationary in (1, 0):
        commands.append(CONFIG_EX.encode(weight_stationary=weight_stationary))
        for absent in "abcd":
            rows = {"a": 10, "b": 20, "c": 100, "d": 30} | {absent: GARBAGE}
            sizes = {f"{name}_{part}": 4 for name in "abcd" for part in ("rows", "cols")}
            sizes |= {f"{absent}_{part}": 100 for part in ("rows", "cols")}
            for instruction, names in ((PRELOAD, "bc"), (COMPUTE_PRELOADED, "ad")):
                fields = {name: value for name, value in sizes.items() if name[0] in names}
                fields |= {name: rows[name] for name in names}
                commands.append(instruction.encode(**fields))
    wanted = expected(config, commands)
    assert [offer["cause"] for offer in wanted] == [Cause.NONE] * 8
    check_all(config, commands, wanted)


def test_latency_and_throughput_are_as_documented():
    config, count, arrivals = CONFIGS[0], 10, []
    dut = shared_design(Decoder, config)
    command = LOADS[0].encode(dram=64, local=3, local_rows=2, local_cols=4)

    async def producer(ctx):
        await send(ctx, dut.commands, [command._asdict()] * count, never)

    async def consumer(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(count + 6):
            if ctx.get(dut.o.valid):
                arrivals.append(cycle)
            await ctx.tick()

    simulate(dut, producer, consumer)
    assert arrivals == [3 + n for n in range(count)]


def test_halted_it_accepts_nothing():
    dut = shared_design(Decoder, CONFIGS[0])

    async def testbench(ctx):
        ctx.set(dut.halt, 1)
        ctx.set(dut.commands.valid, 1)
        for _ in range(5):
            await ctx.tick()
            assert not ctx.get(dut.commands.ready)
            assert not ctx.get(dut.accepted)

    simulate(dut, testbench)
