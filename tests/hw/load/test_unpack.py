"""`Unpacker`: bytes of beats at any alignment become the pieces of local rows."""

import random
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.load.unpack import Unpacker, piece_bytes, pieces_per_row
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.encoding import float_bits
from celosia.isa.presets import PRESETS
from tests.support.registers import reset_registers
from tests.support.streams import never, receive, send, simulate, sometimes

TINY = PRESETS["tiny"]
CONFIGS = {
    "tiny": TINY,
    "base": PRESETS["base"],
    "wide-bus": TINY.with_values({"dim": 2, "bus_bits": 512}),
    "wide-rows": AcceleratorConfig(dim=64, bus_bits=32),
    "copies": PRESETS["gemmini4"],
}
COPIED = ("copies", "cols")


@dataclass
class Stimulus:
    """What goes into an `Unpacker`, and what comes out."""

    config: AcceleratorConfig
    contexts: list[dict] = field(default_factory=list)
    runs: list[dict] = field(default_factory=list)
    beats: list[dict] = field(default_factory=list)
    pieces: list[dict] = field(default_factory=list)

    def load(self, segments: list[tuple[int, int]], *, words=0, zero=0, scale=0x3F80_0000, seed=0):
        """Add a load of (address, bytes) segments, each to be found at ten times its number."""
        rng, config = random.Random(seed), self.config
        stride = rng.randrange(1, 5)
        space = rng.choice([Space.ACCUMULATOR, Space.PARAMETER if words else Space.SCRATCHPAD])
        context = {"space": space, "block_stride": stride, "words": words}
        context["accumulate"] = rng.randrange(2)
        if config.convolution:
            context |= {name: rng.randrange(config.dim) for name in COPIED}
        self.contexts.append(context | {"scale": scale, "tag": len(self.contexts)})
        for number, (address, count) in enumerate(segments):
            content = bytes(count) if zero else rng.randbytes(count)
            for start in range(0, count, MAX_REQUEST_BYTES):
                part = content[start : start + MAX_REQUEST_BYTES]
                offset = (address + start) % config.bus_bytes
                self.runs.append({
                    "offset": offset,
                    "bytes": len(part),
                    "row": 10 * number,
                    "zero": zero,
                    "first": start == 0,
                    "last": start + len(part) == count,
                    "op_last": start + len(part) == count and number + 1 == len(segments),
                })
                if not zero:
                    self._beats(bytes(offset) + part)
            self._pieces(content, 10 * number, context, scale, zero)
        self.pieces[-1]["op_last"] = 1

    def _beats(self, data: bytes) -> None:
        width = self.config.bus_bytes
        for start in range(0, len(data), width):
            beat = data[start : start + width].ljust(width, b"\xa5")
            self.beats.append({"data": int.from_bytes(beat, "little"), "bad": 0})

    def _pieces(self, content: bytes, row: int, context: dict, scale: int, zero: int) -> None:
        words = context["words"]
        size, per_row = piece_bytes(self.config)[words], pieces_per_row(self.config)[words]
        starts = range(0, len(content), size)
        for index, start in enumerate(starts):
            data = content[start : start + size]
            scaled = not words and not zero and scale != float_bits(1.0)
            self.pieces.append({
                "data": None if zero else data,
                "scale": scale if scaled else None,
                "bytes": len(data),
                "index": index % per_row,
                "row": row + index // per_row * context["block_stride"],
                "words": words,
                "scaled": scaled,
                "space": context["space"],
                "accumulate": context["accumulate"],
                "row_last": index % per_row == per_row - 1 or start == starts[-1],
                "op_last": 0,
                "zero": zero,
                "fault": 0,
                **{name: context[name] for name in COPIED if name in context},
            })


def unpack(stimulus: Stimulus, stalls=(never, never)) -> None:
    dut = Unpacker(stimulus.config)

    async def contexts(ctx):
        await send(ctx, dut.contexts, stimulus.contexts)

    async def runs(ctx):
        await send(ctx, dut.runs, stimulus.runs, stalls[0])

    async def beats(ctx):
        await send(ctx, dut.beats, stimulus.beats, stalls[0])

    async def consumer(ctx):
        found = await receive(ctx, dut.pieces, len(stimulus.pieces), stalls[1])
        for piece, expected in zip(found, stimulus.pieces, strict=True):
            data = piece.data.to_bytes(piece_bytes(stimulus.config)[1], "little")
            for name, value in expected.items():
                if name not in {"data", "scale"}:
                    assert piece.info[name] == value, name
            assert expected["data"] in {None, data[: expected["bytes"]]}
            assert expected["scale"] in {None, piece.scale}

    simulate(dut, contexts, runs, beats, consumer)


def random_stimulus(config: AcceleratorConfig, seed: int) -> Stimulus:
    rng, stimulus = random.Random(seed), Stimulus(config)
    for number in range(8):
        words = rng.getrandbits(1)
        rows = [config.accumulator_row_bytes if words else config.dim, 4, MAX_REQUEST_BYTES]
        count = rng.choice([*rows, 4 * rng.randint(1, max(rows) // 4)])
        segments = [(rng.randrange(4096), count) for _ in range(rng.randint(1, 3))]
        options = {"words": words, "zero": rng.random() < 0.2, "seed": seed + number}
        scale = rng.choice([float_bits(1.0), *(float_bits(x) for x in (0.37, -2.5)), 0xFFC0_0001])
        stimulus.load(segments, scale=scale, **options)
    return stimulus


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_pieces_are_the_bytes_of_the_runs(name, seed):
    unpack(random_stimulus(CONFIGS[name], seed), (sometimes(seed), sometimes(seed + 1)))


def cycles(stimulus: Stimulus) -> tuple[list[int], int]:
    """When pieces are on offer, and when the first beat was accepted; everything at full rate."""
    dut, arrivals, first = Unpacker(stimulus.config), [], []

    async def beats(ctx):
        for _ in range(4):  # Runs come first.
            await ctx.tick()
        await send(ctx, dut.beats, stimulus.beats)

    async def contexts(ctx):
        await send(ctx, dut.contexts, stimulus.contexts)

    async def runs(ctx):
        await send(ctx, dut.runs, stimulus.runs)

    async def consumer(ctx):
        ctx.set(dut.pieces.ready, 1)
        for cycle in range(100):
            if ctx.get(dut.pieces.valid):
                arrivals.append(cycle)
            _, _, accepted = await ctx.tick().sample(dut.beats.valid & dut.beats.ready)
            if accepted:
                first.append(cycle)

    simulate(dut, contexts, runs, beats, consumer)
    return arrivals, first[0]


@pytest.mark.parametrize("name", ["base", "tiny"])
@pytest.mark.parametrize("offset", [0, 3])
def test_latency_and_throughput_are_as_documented(name, offset):
    stimulus = Stimulus(CONFIGS[name])
    width = stimulus.config.bus_bytes
    for _ in range(2):
        stimulus.load([(offset, 3 * width)] * 2)
    arrivals, first = cycles(stimulus)
    assert len(arrivals) == 12
    needed = first + (offset > 0)  # The first piece straddles two beats.
    assert arrivals[0] == needed + Unpacker.LATENCY
    # One cycle per piece, and one between runs whose last piece straddled.
    gaps = [after - before for before, after in pairwise(arrivals)]
    assert gaps == [1 + (offset > 0 and number % 3 == 2) for number in range(11)]


def test_narrow_rows_cost_a_cycle_per_piece():
    stimulus = Stimulus(CONFIGS["wide-bus"])
    stimulus.load([(0, 64)] * 2, words=0)
    arrivals, first = cycles(stimulus)
    start = first + Unpacker.LATENCY
    assert arrivals == list(range(start, start + 64))


@pytest.mark.parametrize("bad", range(3))
def test_a_bad_beat_is_a_fault_and_ends_everything(bad):
    """It may be the only beat that ever comes for its run, whose pieces would straddle two."""
    stimulus = Stimulus(CONFIGS["base"])
    stimulus.load([(3, 32)] * 2)
    beats = [dict(beat) for beat in stimulus.beats]
    beats[bad]["bad"] = 1
    dut = Unpacker(stimulus.config)

    async def producer(ctx):
        ctx.set(dut.contexts.payload, stimulus.contexts[0] | {"tag": 77})
        ctx.set(dut.contexts.valid, 1)
        await send(ctx, dut.runs, stimulus.runs[:1])
        await send(ctx, dut.beats, beats[: bad + 1])
        for _ in range(12):
            await ctx.tick()
        await send(ctx, dut.beats, beats[:5])  # Whatever follows is accepted and thrown away.

    async def consumer(ctx):
        *good, fault = await receive(ctx, dut.pieces, max(1, bad))
        assert not any(piece.info.fault for piece in good)
        assert fault.info.fault
        assert ctx.get(dut.tag) == 77
        ctx.set(dut.pieces.ready, 1)
        for _ in range(25):
            assert not ctx.get(dut.pieces.valid)
            await ctx.tick()

    simulate(dut, producer, consumer)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_reset_sets_what_is_there_not_what_it_is(name):
    """Nobody looks at the rest before it was written; the tag is told at any time."""
    there = {"active", "used", "dead", "piece_valid", *(f"valid_{index}" for index in range(3))}
    assert {*reset_registers(Unpacker(CONFIGS[name]))} == there | {"tag"}
