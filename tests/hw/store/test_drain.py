"""`Drain`: room, pace and latency of local reads.  `test_store_path` has what becomes of them."""

import random

import numpy as np
import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.norms.lanes import BertLanes
from celosia.hw.gemmini.norms.passing import PassingControl
from celosia.hw.store.drain import BUFFER_WORDS, Drain
from celosia.isa.bert import NormCommand
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.numerics import relu, requantize_to, scale_from_bits
from celosia.isa.presets import PRESETS
from tests.support.reused_simulator import shared_design
from tests.support.streams import send, simulate

TINY = PRESETS["tiny"]


def read(row: int, **values) -> dict:
    """A row of the scratchpad that is one in memory."""
    return {
        "space": Space.SCRATCHPAD, "row": row, "bias": 0, "bias_row": 0, "full": 0, "int16": 0,
        "relu": 0, "scale": 0, "words_minus_1": 0, "last_in_row": 1, "last": 0,
    } | values  # fmt: skip


def full(row: int, words: int = 4) -> dict:
    return read(row, space=Space.ACCUMULATOR, full=1, words_minus_1=words - 1)


def int16(row: int, words: int = 2) -> dict:
    return read(row, space=Space.ACCUMULATOR, int16=1, words_minus_1=words - 1)


def even(row: int, size: int) -> bytes:
    """A row whose bytes are all its number."""
    return bytes([row]) * size


def uneven(row: int, size: int) -> bytes:
    """A row of which no part is like another one."""
    return random.Random(row).randbytes(size)


class Bench:
    """Offers `reads` for ever and grants all; notes when, and which words came."""

    def __init__(self, config: AcceleratorConfig, reads: list[dict], cycles: int, **options):
        self.granted: list[int] = []
        self.words: list[tuple[int, int, int]] = []
        """Cycle, first byte, last."""
        self.contents: list[int] = []
        """All bytes of each word."""
        self._cycles, self._reads, self._options = cycles, reads, options
        self.dut = shared_design(Drain, config)
        simulate(self.dut, self._run, deadline=cycles + 10)

    async def _run(self, ctx) -> None:
        dut, todo = self.dut, list(self._reads)
        accepts = self._options.get("accepts", lambda cycle: True)
        held = self._options.get("held", even)
        ports = [dut.scratchpad, dut.accumulator]
        rows = [None, None]
        for port in [*ports, dut.parameters]:
            ctx.set(port.ready, 1)
        for cycle in range(self._cycles):
            ctx.set(dut.halt, cycle >= self._options.get("halt_at", self._cycles))
            ctx.set(dut.words.ready, accepts(cycle))
            ctx.set(dut.reads.valid, bool(todo))
            if todo:
                ctx.set(dut.reads.p, todo[0])
            if ctx.get(dut.words.valid) and ctx.get(dut.words.ready):
                word = ctx.get(dut.words.p)
                self.words.append((cycle, word.data & 255, word.last))
                self.contents.append(word.data)
            granted = bool(todo) and ctx.get(dut.reads.ready)
            asked = [(ctx.get(p.valid), ctx.get(p.row)) for p in ports]
            assert granted == (asked[0][0] or asked[1][0])
            await ctx.tick()
            for index, port in enumerate(ports):
                # What is in the row, two cycles after the grant.
                number = rows[index]
                size = len(port.data.as_value()) // 8
                content = bytes([0xEE]) * size if number is None else held(number, size)
                ctx.set(port.data.as_value(), int.from_bytes(content, "little"))
                rows[index] = asked[index][1] if asked[index][0] else None
            if granted:
                self.granted.append(cycle)
                todo.pop(0)


def test_latency_and_throughput_are_as_documented():
    bench = Bench(TINY, [read(row) for row in range(100)], 130)
    assert bench.granted == list(range(100))
    assert bench.words == [(Drain.LATENCY + n, n, 1) for n in range(100)]


def test_a_row_of_int32_takes_a_cycle_per_word():
    reads = [full(1), full(2, words=2), read(3), full(4, words=1), full(5)]
    bench = Bench(TINY, reads, 40)
    assert bench.granted == [0, 4, 6, 7, 8]
    rows = [1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 5, 5]
    ends = [0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1]
    expected = [
        (Drain.LATENCY + n, row, end) for n, (row, end) in enumerate(zip(rows, ends, strict=True))
    ]
    assert bench.words == expected


def test_a_row_of_int16_takes_a_cycle_per_word():
    reads = [int16(1), int16(2, words=1), read(3), int16(4), full(5), int16(6)]
    bench = Bench(TINY.with_values({"normalization": True}), reads, 40)
    assert bench.granted == [0, 2, 3, 4, 6, 10]
    cycles = [cycle for cycle, *_ in bench.words]
    assert cycles == [Drain.LATENCY + n for n in range(12)]
    assert [end for *_, end in bench.words] == [0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1]


def leaving(config: AcceleratorConfig, one: dict) -> list[int]:
    """The words of an uneven row, by the definition of a store."""
    size = 1 if one["space"] == Space.SCRATCHPAD else 4
    row = np.frombuffer(uneven(one["row"], config.dim * size), f"<i{size}")
    if size == 4 and not one["full"]:
        dtype = np.int16 if one["int16"] else np.int8
        row = requantize_to(row, scale_from_bits(one["scale"]), dtype).astype(dtype)
        row = relu(row) if one["relu"] else row
    data, words = row.tobytes(), one["words_minus_1"] + 1
    return [
        int.from_bytes(data[number * config.dim :][: config.dim], "little")
        for number in range(words)
    ]


@pytest.mark.parametrize("normalization", [False, True])
def test_words_are_those_of_rows_of_all_kinds(normalization):
    """In any order; int16 only where an accelerator has it."""
    config, rng = TINY.with_values({"normalization": normalization}), random.Random(normalization)
    reads = []
    for _ in range(80):
        row = rng.randrange(256)
        narrow = read(row, space=Space.ACCUMULATOR)
        kinds = [read(row), narrow, full(row), *([int16(row)] * normalization)]
        one = rng.choice(kinds) | {"relu": rng.randrange(2)}
        if one["space"] == Space.ACCUMULATOR and not one["full"]:
            one["scale"] = float_bits(2.0 ** -rng.randrange(10, 26))
        else:
            one["relu"] = 0
        reads.append(one)
    bench = Bench(config, reads, 400, held=uneven)
    assert bench.contents == [word for one in reads for word in leaving(config, one)]


@pytest.mark.parametrize(
    ("make", "words"), [(read, 1), (int16, 2), (full, 4), (lambda n: full(n, 3), 3)]
)
def test_reads_stop_when_the_buffer_is_spoken_for_and_go_on(make, words):
    reads = [make(row) for row in range(80)]
    resume = 300
    config = TINY.with_values({"normalization": True})
    bench = Bench(config, reads, 700, accepts=lambda cycle: cycle >= resume)
    early = [cycle for cycle in bench.granted if cycle < resume]
    assert BUFFER_WORDS == 64
    assert len(early) == 64 // words
    assert len(bench.granted) == len(reads)
    if make is not int16:  # Scaled by 0.
        assert [row for _, row, _ in bench.words] == [n for n in range(80) for _ in range(words)]


def test_under_halt_nothing_is_read_and_granted_rows_arrive():
    bench = Bench(TINY, [read(row) for row in range(50)], 60, halt_at=20)
    assert bench.granted == list(range(20))
    assert [row for _, row, _ in bench.words] == list(range(20))


def test_of_the_rows_of_a_window_the_largest_leaves():
    window = {"pools": 1, "last_in_row": 0}
    reads = [
        read(9),
        read(7, **window | {"first": 1}),
        read(3, **window | {"last_in_row": 1}),
        read(2, **window | {"first": 1}),
        read(8, **window | {"blank": 1}),
        read(4, **window | {"last_in_row": 1}),
        read(1),
    ]
    bench = Bench(TINY.with_values({"convolution": True}), reads, 30)
    assert bench.granted == list(range(len(reads)))
    wanted = ((0, 9), (2, 7), (5, 4), (6, 1))
    assert bench.words == [(Drain.LATENCY + cycle, row, 1) for cycle, row in wanted]


def test_rows_of_a_window_take_no_room_until_the_last_one():
    row = read(5, pools=1, last_in_row=0)
    reads = [row] * (2 * BUFFER_WORDS) + [read(6, pools=1, first=1)] * (BUFFER_WORDS + 9)
    config = TINY.with_values({"convolution": True})
    bench = Bench(config, reads, 400, accepts=lambda cycle: cycle >= 300)
    assert len([cycle for cycle in bench.granted if cycle < 300]) == 3 * BUFFER_WORDS
    assert len(bench.granted) == len(reads)
    assert [row for _, row, _ in bench.words] == [6] * (BUFFER_WORDS + 9)


def test_rows_of_a_norm_command_do_not_leave_and_the_last_one_tells():
    dut = shared_design(Drain, TINY.with_values({"bert": True}))
    passing = {"passes": 1, "command": NormCommand.MAX.value}
    row = read(1, space=Space.ACCUMULATOR, passing=passing, elements=4)
    reads = [row, row | {"last": 1}, row | {"passing": {"passes": 1}, "last": 1}]

    async def testbench(ctx):
        ctx.set(dut.accumulator.ready, 1)
        await send(ctx, dut.reads, reads[:2])
        for _ in range(PassingControl.SPECIAL_CYCLES - 2):
            assert not ctx.get(dut.silent_done)
            await ctx.tick()
        assert ctx.get(dut.silent_done)
        await ctx.tick().repeat(Drain.LATENCY + BertLanes.LATENCY)
        assert not ctx.get(dut.words.valid)
        await send(ctx, dut.reads, reads[2:])
        await ctx.tick().repeat(Drain.LATENCY + BertLanes.LATENCY - 1)
        assert ctx.get(dut.words.valid)

    simulate(dut, testbench)
