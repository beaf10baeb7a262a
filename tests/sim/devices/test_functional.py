"""Every form of every instruction against its definition, element by element."""

import numpy as np
import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_PRODUCTS,
    CONFIG_ST,
    CONFIG_TOKEN,
    FENCE,
    FLUSH,
    LOADS,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    PRODUCTS,
    REPEAT,
    Command,
    float_bits,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS, resolve_config
from celosia.isa.registers.errors import Cause
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.assembly import format_command
from celosia.sw.driver.device import Device, DeviceError

BYTES = 1 << 16
TINY = PRESETS["tiny"]


def device(config: AcceleratorConfig = TINY, seed: int = 0) -> FunctionalDevice:
    """A device whose memory is full of random bytes."""
    made = FunctionalDevice(config, memory_bytes=BYTES, seed=seed)
    made.write(MEMORY_BASE, np.random.default_rng(99).bytes(BYTES))
    return made


def local(row: int, **flags: bool) -> int:
    return LocalAddress(row=row, **flags).encode()


def test_it_is_a_device():
    made: Device = device()
    assert made.name == "functional"
    assert made.memory_bytes == BYTES
    result = made.run([])
    assert result.cycles is None
    assert result.counters == {}
    assert result.seconds >= 0
    made.close()


def test_local_memories_begin_as_garbage_of_the_seed():
    first, same, other = device(seed=1).machine, device(seed=1).machine, device(seed=2).machine
    for name in ("scratchpad", "accumulator", "parameters", "weights"):
        contents = getattr(first, name)
        assert (contents == getattr(same, name)).all()
        assert (contents != getattr(other, name)).any()
        assert len(np.unique(contents)) > 4
    assert not any(FunctionalDevice(TINY, memory_bytes=64).read(MEMORY_BASE, 64))


def test_bytes_outside_of_memory_are_refused():
    with pytest.raises(ValueError, match="are not within"):
        device().read(MEMORY_BASE + BYTES, 1)
    with pytest.raises(ValueError, match="are not within"):
        device().write(MEMORY_BASE - 1, b"x")


def test_configuration_and_contents_last_from_run_to_run():
    made = device()
    made.run([CONFIG_LD.encode(stride=8, block_stride=4)])
    made.run([MVIN.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=2)])
    made.run([CONFIG_ST.encode(stride=4)])
    made.run([MVOUT.encode(dram=MEMORY_BASE + 64, local=0, local_cols=4, local_rows=2)])
    source = made.read(MEMORY_BASE, 12)
    assert made.read(MEMORY_BASE + 64, 8) == source[:4] + source[8:]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_load_instruction_uses_its_own_set(number):
    made = device()
    strides = (4, 12, 20)
    made.run([CONFIG_LD.encode(set=i, stride=stride) for i, stride in enumerate(strides)])
    made.run([LOADS[number].encode(dram=MEMORY_BASE, local=5, local_cols=4, local_rows=2)])
    second = made.read(MEMORY_BASE + strides[number], 4)
    assert made.machine.scratchpad[6].tobytes() == second


@pytest.mark.parametrize("command", [FLUSH.encode(), FENCE.encode(), FLUSH.encode(skip=1)])
def test_commands_without_effect(command):
    made = device()
    before = made.machine.scratchpad.copy(), made.machine.accumulator.copy(), made.state
    made.run([command])
    assert (made.machine.scratchpad == before[0]).all()
    assert (made.machine.accumulator == before[1]).all()
    assert made.state == before[2]


@pytest.mark.parametrize(("row", "count"), [(0, 4), (3, 1), (5, 6), (0, 4 * 128), (127, 4)])
def test_parameters_fill_rows_and_keep_the_rest(row, count):
    made = device()
    want = made.machine.parameters.copy().reshape(-1)
    address = MEMORY_BASE + 13
    want[4 * row : 4 * row + count] = np.frombuffer(made.read(address, 4 * count), "<i4")
    made.run([MVIN_PARAM.encode(dram=address, row=row, count=count)])
    assert (made.machine.parameters.reshape(-1) == want).all()


def test_no_parameters_leave_everything():
    made = device()
    before = made.machine.parameters.copy()
    made.run([MVIN_PARAM.encode(dram=0, row=500, count=0)])
    assert (made.machine.parameters == before).all()


ILLEGAL = MVIN.encode(dram=MEMORY_BASE, local=local(4095), local_cols=4, local_rows=2)
OUTSIDE = MEMORY_BASE + BYTES - 6


@pytest.mark.parametrize(
    ("command", "cause", "text"),
    [
        (Command(99), Cause.UNKNOWN_FUNCT, r"command 2: "),
        (ILLEGAL, Cause.LOCAL_RANGE, r"command 2: mvin "),
        (
            MVIN.encode(dram=OUTSIDE, local=0, local_cols=4, local_rows=2),
            Cause.READ_LIMIT,
            r"at address 0x8000fffe: command 2: mvin ",
        ),
        (
            MVIN_PARAM.encode(dram=OUTSIDE, row=0, count=2),
            Cause.READ_LIMIT,
            r"at address 0x8000fffa: command 2: mvin_param ",
        ),
        (MVIN_PARAM.encode(dram=0, row=0, count=2), Cause.READ_LIMIT, "command 2: mvin_param "),
        (
            MVOUT.encode(dram=OUTSIDE, local=0, local_cols=4, local_rows=2),
            Cause.WRITE_LIMIT,
            r"at address 0x8000fffe: command 2: mvout ",
        ),
        (
            MVOUT.encode(dram=MEMORY_BASE - 4, local=0, local_cols=4, local_rows=2),
            Cause.WRITE_LIMIT,
            r"at address 0x7ffffffc: command 2: mvout ",
        ),
    ],
)
def test_a_command_that_cannot_be_executed_ends_the_run_and_does_nothing(command, cause, text):
    made = device()
    machine = made.machine
    before = machine.scratchpad.copy(), machine.parameters.copy(), made.read(MEMORY_BASE, BYTES)
    settings = [CONFIG_LD.encode(stride=4), CONFIG_ST.encode(stride=4)]
    later = MVIN.encode(dram=0, local=0, local_cols=4, local_rows=9)
    with pytest.raises(DeviceError, match=text) as caught:
        made.run([*settings, command, later])
    assert (caught.value.cause, caught.value.command) == (cause, 2)
    assert cause.name in str(caught.value)
    assert (machine.scratchpad == before[0]).all()
    assert (machine.parameters == before[1]).all()
    assert made.read(MEMORY_BASE, BYTES) == before[2]


@pytest.mark.parametrize("budget", range(1, 10))
def test_a_budget_stops_products_at_the_command_of_that_number(budget):
    """The nest of products is commands 1 to 8; the error names the one of its own as well."""
    made = device()
    nest = PRODUCTS.encode(rows=1, k=2, columns=2, pieces=1, last_depth=4, last_cols=4, w=8)
    program = [FENCE.encode(), CONFIG_PRODUCTS.encode(a_k=1, w_k=4, w_column=16, c_column=1), nest]
    made.run([*program, FENCE.encode()])
    commands = [command for _, command in expand(program, TINY)]
    assert len(commands) == 9
    made.limit_cycles(budget)
    if budget == len(commands):
        made.run(program)
        return
    with pytest.raises(DeviceError, match=rf"CYCLE_BUDGET: .*: command {budget}: ") as caught:
        made.run(program)
    assert caught.value.command == budget
    assert format_command(commands[budget]) in str(caught.value)


def test_a_budget_stops_a_program_after_so_many_commands_loops_expanded():
    made = device()
    load = MVIN.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=1)
    endless = [REPEAT.encode(count=65535, length=2), REPEAT.encode(count=65535, length=1), load]
    made.limit_cycles(5)
    made.run([load] * 5)
    with pytest.raises(DeviceError, match=r"CYCLE_BUDGET: .*: command 5: mvin") as caught:
        made.run([load, *endless])
    error = caught.value
    assert (error.cause, error.command, error.begun) == (Cause.CYCLE_BUDGET, 5, 5)
    made.limit_cycles(0)
    made.run([load] * 6)


def test_how_many_commands_there_were_is_told():
    told = []
    made = FunctionalDevice(TINY, progress=lambda *what: told.append(what))
    load = MVIN.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=1)
    made.run([REPEAT.encode(count=25_000, length=1), load])
    assert told == [("executed 10,000 commands", None), ("executed 20,000 commands", None)]
    made.run([load])
    assert len(told) == 2


def test_an_illegal_configuration_changes_nothing():
    made = device()
    before = made.state
    with pytest.raises(DeviceError, match="UNSUPPORTED"):
        made.run([CONFIG_ST.encode(stride=77, activation=2)])
    assert made.state == before


def tiled_matmul(
    config: AcceleratorConfig, sizes: tuple[int, int, int], addresses
) -> list[Command]:
    """C = relu(scale * (A @ B + bias)), one tile after the other."""
    dim, (m, n, k) = config.dim, sizes
    a_at, b_at, bias_at, c_at = addresses
    program = [
        CONFIG_EX.encode(),
        CONFIG_LD.encode(set=0, stride=k, block_stride=dim),
        CONFIG_LD.encode(set=1, stride=n, block_stride=dim),
        CONFIG_ST.encode(stride=n, scale=float_bits(0.01), activation=1),
        MVIN_PARAM.encode(dram=bias_at, row=0, count=n),
    ]
    weights = config.scratchpad_rows // 2
    for j in range(0, n, dim):
        cols = min(dim, n - j)
        for i in range(0, k, dim):
            depth = min(dim, k - i)
            fresh = local(0, accumulator=True, accumulate=i > 0)
            program += [
                LOADS[0].encode(dram=a_at + i, local=0, local_rows=m, local_cols=depth),
                LOADS[1].encode(
                    dram=b_at + i * n + j, local=local(weights), local_rows=depth, local_cols=cols
                ),
                PRELOAD.encode(
                    b=local(weights), b_rows=depth, b_cols=cols, c=fresh, c_rows=m, c_cols=cols
                ),
                COMPUTE_PRELOADED.encode(a=0, a_rows=m, a_cols=depth, d=GARBAGE),
            ]
        program += [
            CONFIG_DRAIN.encode(bias=1, bias_row=j // dim),
            MVOUT.encode(
                dram=c_at + j, local=local(0, accumulator=True), local_rows=m, local_cols=cols
            ),
        ]
    return program


@pytest.mark.parametrize("preset", ["tiny", "small", "base"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 7, 9), (33, 20, 40)])
def test_a_whole_matrix_product(preset, sizes):
    m, n, k = sizes
    random = np.random.default_rng(5)
    a = random.integers(-128, 128, (m, k), np.int8)
    b = random.integers(-128, 128, (k, n), np.int8)
    bias = random.integers(-20000, 20000, n, np.int32)
    made = device(PRESETS[preset])
    addresses = [MEMORY_BASE + 0x4000 * i for i in range(4)]
    for address, data in zip(addresses, (a, b, bias), strict=False):
        made.write(address, data.tobytes())
    made.run(tiled_matmul(made.config, sizes, addresses))

    exact = (a.astype(np.int32) @ b.astype(np.int32) + bias).astype(np.float32)
    want = np.clip(np.rint(exact * np.float32(0.01)), 0, 127).astype(np.int8)
    got = np.frombuffer(made.read(addresses[3], m * n), np.int8).reshape(m, n)
    np.testing.assert_array_equal(got, want)


def test_weights_stay_for_accumulated_products():
    made = device()
    weights = made.machine.scratchpad[8:12].astype(np.int32).copy()
    rows = made.machine.scratchpad[0:4].astype(np.int32).copy()
    c = {"c_rows": 2, "c_cols": 4}
    made.run([
        PRELOAD.encode(b=8, b_rows=4, b_cols=4, c=local(0, accumulator=True), **c),
        COMPUTE_PRELOADED.encode(a=0, a_rows=2, a_cols=4, d=GARBAGE),
        PRELOAD.encode(b=GARBAGE, c=local(2, accumulator=True), **c),
        COMPUTE_ACCUMULATED.encode(a=2, a_rows=2, a_cols=4, d=GARBAGE),
    ])
    np.testing.assert_array_equal(made.machine.accumulator[:4], rows @ weights)


def test_garbage_weights_are_zeros_when_preloaded():
    made = device()
    d = made.machine.scratchpad[20:22].astype(np.int32).copy()
    made.run([
        PRELOAD.encode(b=GARBAGE, c=local(0, accumulator=True), c_rows=2, c_cols=4),
        COMPUTE_PRELOADED.encode(a=0, a_rows=2, a_cols=4, d=20, d_rows=2, d_cols=4),
    ])
    np.testing.assert_array_equal(made.machine.accumulator[:2], d)


def test_a_garbage_result_is_not_written_but_weights_load():
    made = device()
    weights = made.machine.scratchpad[8:12].copy()
    before = made.machine.scratchpad.copy(), made.machine.accumulator.copy()
    made.run([
        PRELOAD.encode(b=8, b_rows=4, b_cols=4, c=GARBAGE, c_rows=4, c_cols=4),
        COMPUTE_PRELOADED.encode(a=0, a_rows=4, a_cols=4, d=GARBAGE),
    ])
    assert (made.machine.scratchpad == before[0]).all()
    assert (made.machine.accumulator == before[1]).all()
    assert (made.machine.weights == weights).all()


def tokens_of(made: FunctionalDevice) -> dict[int, int]:
    return {token: count for token, count in enumerate(made.tokens) if count}


STORE = MVOUT.encode(dram=MEMORY_BASE + 64, local=0, local_cols=4, local_rows=1)
LOAD = MVIN.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=1)


def test_stores_add_to_the_token_that_was_set_and_fences_forget_all():
    made = device()
    made.run([STORE, CONFIG_TOKEN.encode(signal=1, signal_id=3), STORE, STORE])
    made.run([CONFIG_TOKEN.encode(signal=1, signal_id=15), STORE, CONFIG_TOKEN.encode(), STORE])
    assert tokens_of(made) == {3: 2, 15: 1}
    made.run([FENCE.encode()])
    assert not tokens_of(made)


@pytest.mark.parametrize("empty", [{"local_rows": 0}, {"local_cols": 0}])
def test_a_store_of_nothing_adds_nothing(empty):
    made = device()
    sizes = {"local_rows": 1, "local_cols": 4} | empty
    made.run([CONFIG_TOKEN.encode(signal=1), MVOUT.encode(dram=0, local=0, **sizes)])
    assert not tokens_of(made)


@pytest.mark.parametrize("load", [LOAD, MVIN_PARAM.encode(dram=MEMORY_BASE, row=0, count=4)])
def test_a_load_that_waits_for_stores_that_are_not_before_it_is_an_error(load):
    made = device()
    wait = {"wait": 1, "wait_id": 3}
    signal = CONFIG_TOKEN.encode(signal=1, signal_id=3)
    made.run([signal, STORE, STORE, CONFIG_TOKEN.encode(count=2, **wait), load])
    made.run([FENCE.encode(), CONFIG_TOKEN.encode(count=0, **wait), load])
    before = made.machine.scratchpad.copy()
    program = [signal, STORE, STORE, CONFIG_TOKEN.encode(count=5, **wait), STORE, load]
    text = r"load waits for token 3: 2 of 5 stores have finished: command 5: mvin"
    with pytest.raises(DeviceError, match=text) as error:
        made.run(program)
    assert (error.value.cause, error.value.command) == (Cause.WATCHDOG, 5)
    assert (made.machine.scratchpad == before).all()
    assert not tokens_of(made)
    made.run([load])


def test_a_token_wraps_after_32_bits():
    made = device()
    made.tokens[0] = (1 << 32) - 1
    made.run([CONFIG_TOKEN.encode(signal=1), STORE])
    assert not tokens_of(made)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("preset", ["tiny", "gemmini4"])
def test_products_as_matrices_leave_what_single_commands_leave(preset, seed):
    overrides = ("loop_entries=64",) if preset == "gemmini4" else ()
    file = random_program(seed, preset=preset, overrides=overrides, length=60, loop_percent=60)
    config = resolve_config(preset, overrides)
    whole, single = (
        FunctionalDevice(config, memory_bytes=file.memory_bytes, whole=way) for way in (True, False)
    )
    for made in (whole, single):
        for content in file.contents:
            made.write(content.region.address, content.bytes())
        made.run(file.commands)
    for name in ("scratchpad", "accumulator", "parameters", "weights", "sums"):
        one, other = getattr(whole.machine, name), getattr(single.machine, name)
        np.testing.assert_array_equal(one, other, name)
    size = file.memory_bytes
    assert whole.read(MEMORY_BASE, size) == single.read(MEMORY_BASE, size)
    assert whole.state == single.state
    assert whole.tokens == single.tokens
