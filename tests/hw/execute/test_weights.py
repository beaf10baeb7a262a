"""`WeightLoader`: products without weights pass, waves are never torn, `hold` holds."""

import pytest

from celosia.hw.execute.weights import WeightLoader
from celosia.isa.config import AcceleratorConfig
from tests.support.registers import reset_registers
from tests.support.streams import send, simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
PAIRS = CONFIG.with_values({"int4_pairs": True})
TILE = {"load_weights": 1, "w_row": 8, "w_rows": 4, "w_cols": 4, "c_rows": 4}


def test_a_product_without_weights_passes_without_a_read():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        await send(ctx, dut.i, [{"load_weights": 0, "c_rows": 3, "tag": 9}])
        for _ in range(4):
            assert not ctx.get(dut.read.valid)
            await ctx.tick()
        assert ctx.get(dut.o.valid)
        assert ctx.get(dut.o.p.tag) == 9

    simulate(dut, testbench)


@pytest.mark.parametrize("dim", [2, 4])
def test_it_says_what_it_does_until_the_product_has_gone(dim):
    """`wave` falls a cycle early, `working` when the product is taken."""
    dut = WeightLoader(CONFIG.with_values({"dim": dim}))
    said = {name: [] for name in ("wave", "working", "waiting", "empty")}

    async def producer(ctx):
        await send(ctx, dut.i, [TILE | {"w_rows": dim, "w_cols": dim, "c_rows": dim}])

    async def watch(ctx):
        for cycle in range(12):
            ctx.set(dut.o.ready, cycle == 9)
            for name, values in said.items():
                values.append(ctx.get(getattr(dut, name)))
            starts.append(ctx.get(dut.control.start))
            await ctx.tick()

    starts: list[int] = []
    simulate(dut, producer, watch)
    start = starts.index(1)
    assert said["wave"] == [int(0 <= cycle - start < dim - 1) for cycle in range(12)]
    assert said["working"][start:10] == [1] * (10 - start)
    assert said["working"][10:] == [0, 0]
    assert said["empty"] == [int(cycle in (0, 10, 11)) for cycle in range(12)]
    assert not any(said["waiting"])


def test_a_wave_reads_its_rows_in_consecutive_cycles_and_the_product_follows_it():
    dut, reads, starts, offered = WeightLoader(CONFIG), [], [], []

    async def producer(ctx):
        await send(ctx, dut.i, [TILE])

    async def watch(ctx):
        for cycle in range(16):
            if ctx.get(dut.read.valid):
                reads.append((cycle, ctx.get(dut.read.row)))
                assert ctx.get(dut.control.mask) == 0b1111
            if ctx.get(dut.control.start):
                starts.append(cycle)
            if ctx.get(dut.o.valid):
                offered.append(cycle)
            await ctx.tick()

    simulate(dut, producer, watch)
    first = starts[0]
    assert reads == [(first + n, 8 + n) for n in range(CONFIG.dim)]
    assert offered[0] == first + 1


class Slots:
    """What a loader asks for in each cycle, of the product `op` that nobody stalls."""

    def __init__(self, op: dict, config: AcceleratorConfig = CONFIG):
        self.reads: list[tuple[int, int]] = []
        """Cycle and row."""
        self.start = -1
        """The cycle of row 0 of a wave; -1 without one."""
        self.masks: list[int] = []
        """The bits of the elements that are weights, by cycles."""
        self.fills: list[int] = []
        """The bits of the elements that are shifted into the transposer, by cycles."""
        self.shifts: list[int] = []
        """Whether the transposer shifts, by cycles."""
        self.lines: list[int] = []
        """The line of its row that each read wants; -1: all of the row is one."""
        self.pairs: list[int] = []
        """Whether both lines of the row enter, by cycles."""
        self.seconds: list[int] = []
        """Whether the second one has weights, by cycles."""
        dut = WeightLoader(config)

        async def producer(ctx):
            await send(ctx, dut.i, [op])

        async def watch(ctx):
            for cycle in range(24):
                control = ctx.get(dut.control)
                if ctx.get(dut.read.valid):
                    self.reads.append((cycle, ctx.get(dut.read.row)))
                    self.lines.append(control.high if control.int4 else -1)
                if control.start:
                    assert self.start < 0
                    self.start = cycle
                self.masks.append(control.mask)
                self.fills.append(control.fill_mask)
                self.shifts.append(control.shift)
                if config.int4_pairs:
                    self.pairs.append(control.pair)
                    self.seconds.append(control.second)
                await ctx.tick()

        simulate(dut, producer, watch)


every_size = pytest.mark.parametrize("size", [(1, 4), (2, 3), (3, 1), (4, 2), (4, 4)])


@every_size
def test_of_a_tile_only_what_exists_is_read(size):
    """Its rows, and of those the first elements: the rest of a slot is zeros."""
    rows, cols = size
    slots = Slots(TILE | {"w_rows": rows, "w_cols": cols})
    wave = slice(slots.start, slots.start + CONFIG.dim)
    assert slots.reads == [(slots.start + n, 8 + n) for n in range(rows)]
    assert slots.masks[wave] == [(1 << cols) - 1] * rows + [0] * (CONFIG.dim - rows)
    assert not any(slots.fills)
    assert not any(slots.shifts)


@every_size
def test_a_transposed_tile_is_read_by_its_columns_and_then_leaves(size):
    rows, cols = size
    slots = Slots(TILE | {"w_rows": rows, "w_cols": cols, "w_transpose": 1})
    first, dim = slots.reads[0][0], CONFIG.dim
    assert slots.reads == [(first + n, 8 + n) for n in range(cols)]
    assert slots.start == first + dim
    assert slots.fills[first : first + dim] == [(1 << rows) - 1] * cols + [0] * (dim - cols)
    assert slots.masks[slots.start :][:dim] == [(1 << cols) - 1] * rows + [0] * (dim - rows)
    assert [cycle for cycle, shift in enumerate(slots.shifts) if shift] == [
        *range(first, first + 2 * dim)
    ]
    assert not any(slots.masks[: slots.start])
    assert not any(slots.fills[slots.start :])


@every_size
@pytest.mark.parametrize("transposed", [0, 1])
def test_a_row_of_int4_is_read_twice_and_no_slot_takes_longer(size, transposed):
    rows, cols = size
    tile = TILE | {"w_rows": rows, "w_cols": cols, "w_transpose": transposed}
    plain, packed = Slots(tile), Slots(tile | {"w_int4": 1})
    assert [row for _, row in packed.reads] == [8, 9, 8, 9][: len(plain.reads)]
    assert packed.lines == [0, 0, 1, 1][: len(plain.reads)]
    assert set(plain.lines) == {-1}
    assert [cycle for cycle, _ in packed.reads] == [cycle for cycle, _ in plain.reads]
    for name in ("start", "masks", "fills", "shifts"):
        assert getattr(packed, name) == getattr(plain, name)


@every_size
def test_a_row_with_a_pair_of_lines_is_read_once(size):
    """In a slot of dim/2 cycles; whether its second line exists is told, and its columns alike."""
    rows, cols = size
    tile = TILE | {"w_rows": rows, "w_cols": cols, "w_int4": 1}
    slots, half = Slots(tile, PAIRS), CONFIG.dim // 2
    wave = slice(slots.start, slots.start + CONFIG.dim)
    assert slots.reads == [(slots.start + n, 8 + n) for n in range(min(rows, half))]
    assert set(slots.lines) == {0}
    mask = (1 << cols) - 1
    assert slots.masks[wave][:half] == [mask if n < rows else 0 for n in range(half)]
    assert slots.pairs == [int(0 <= n - slots.start < half) for n in range(24)]
    there = [int(n + half < rows) for n in range(half)]
    assert slots.seconds[slots.start : slots.start + half] == there
    assert sum(slots.seconds) == sum(there)


@every_size
@pytest.mark.parametrize("how", [{}, {"w_transpose": 1, "w_int4": 1}, {"w_zero": 1, "w_int4": 1}])
def test_what_is_no_pair_moves_as_without_pairs(size, how):
    tile = TILE | {"w_rows": size[0], "w_cols": size[1]} | how
    slots, wanted = Slots(tile, PAIRS), Slots(tile)
    assert not any(slots.pairs)
    assert not any(slots.seconds)
    for name in ("start", "reads", "lines", "masks", "fills", "shifts"):
        assert getattr(slots, name) == getattr(wanted, name)


def test_an_a_is_never_taken_for_int4():
    products = {"a_transpose": 1, "a_row": 20, "a_stride": 1, "a_rows": 4, "a_cols": 4, "c_rows": 4}
    assert set(Slots(products | {"w_int4": 1}).lines) == {-1}
    both = Slots(BOTH_TRANSPOSED | {"w_int4": 1}, CONFIG.with_values({"dataflow": "os"}))
    assert both.lines == [0, 0, 1, *[-1] * 4]


@every_size
def test_a_transposed_a_fills_the_transposer(size):
    rows, cols = size
    op = {"a_transpose": 1, "a_row": 20, "a_stride": 3, "a_rows": rows, "a_cols": cols, "c_rows": 4}
    slots = Slots(op)
    first, dim = slots.reads[0][0], CONFIG.dim
    assert slots.reads == [(first + n, 20 + 3 * n) for n in range(cols)]
    assert slots.fills[first : first + dim] == [(1 << rows) - 1] * cols + [0] * (dim - cols)
    assert sum(slots.shifts) == dim
    assert slots.start < 0


BOTH_TRANSPOSED = TILE | {
    "w_transpose": 1, "w_cols": 3,
    "a_transpose": 1, "a_row": 20, "a_stride": 3, "a_rows": 2, "a_cols": 4,
}  # fmt: skip


def test_where_sums_stay_a_fills_the_transposer_while_the_weights_leave_it():
    slots = Slots(BOTH_TRANSPOSED, CONFIG.with_values({"dataflow": "os"}))
    first, dim = slots.reads[0][0], CONFIG.dim
    assert slots.start == first + dim
    weights = [(first + n, 8 + n) for n in range(3)]
    assert slots.reads == weights + [(slots.start + n, 20 + 3 * n) for n in range(4)]
    assert slots.fills[first : first + dim] == [0b1111] * 3 + [0]
    assert slots.fills[slots.start :][:dim] == [0b0011] * 4
    assert sum(slots.shifts) == 2 * dim


@pytest.mark.parametrize("gap", [0, 12])
def test_the_transposer_turns_only_when_weights_begin_to_leave_it(gap):
    """An A that fills it, weights as they are, or no weights may come behind them."""
    dut, turns, starts = WeightLoader(CONFIG), [], []
    transposed, a = TILE | {"w_transpose": 1}, {"a_transpose": 1, "a_rows": 4, "a_cols": 4}
    none = {"c_rows": 4}
    products = [transposed, none | a, TILE, transposed, TILE | a, none, transposed, none | a]

    async def producer(ctx):
        await send(ctx, dut.i, products, lambda: gap)

    async def watch(ctx):
        ctx.set(dut.o.ready, 1)
        ctx.set(dut.swapped, 1)
        for cycle in range(250):
            control = ctx.get(dut.control)
            ctx.set(dut.transposer_taken, cycle % 8 == 7)
            if control.start:
                starts.append((cycle, control.from_transposer))
            if control.turn:
                turns.append(cycle)
            await ctx.tick()
        assert ctx.get(dut.empty)

    simulate(dut, producer, watch)
    loads = [product for product in products if "load_weights" in product]
    assert [leaves for _, leaves in starts] == [each.get("w_transpose", 0) for each in loads]
    assert turns == [cycle for cycle, leaves in starts if leaves]


def test_no_wave_starts_while_it_is_held():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.hold, 1)
        await send(ctx, dut.i, [TILE])
        for _ in range(10):
            await ctx.tick()
            assert not ctx.get(dut.control.start)
        assert ctx.get(dut.waiting)
        ctx.set(dut.hold, 0)
        await ctx.tick()
        assert ctx.get(dut.control.start)

    simulate(dut, testbench)


def test_the_next_wave_waits_for_the_swap():
    dut = WeightLoader(CONFIG)

    async def testbench(ctx):
        ctx.set(dut.o.ready, 1)
        await send(ctx, dut.i, [TILE, TILE])
        waves = 0
        for _ in range(20):
            waves += ctx.get(dut.control.start)
            await ctx.tick()
        assert waves == 1
        ctx.set(dut.swapped, 1)
        await ctx.tick()
        ctx.set(dut.swapped, 0)
        for _ in range(4):
            waves += ctx.get(dut.control.start)
            await ctx.tick()
        assert waves == 2

    simulate(dut, testbench)


@pytest.mark.parametrize("kinds", ["pp", "pl", "lp", "ll", "ppl", "plp"])
def test_a_wave_waits_until_the_swap_has_left_its_columns(kinds):
    """Of 16: 6 cycles behind the swap for pairs (p), 14 for lines (l), but never before it."""
    config = AcceleratorConfig(dim=16, scratchpad_kib=8, accumulator_kib=8, int4_pairs=True)
    dut, starts, swaps = WeightLoader(config), [], []
    tile = TILE | {"w_rows": 16, "w_cols": 16, "c_rows": 1}

    async def producer(ctx):
        await send(ctx, dut.i, [tile | {"w_int4": int(kind == "p")} for kind in kinds])

    async def watch(ctx):
        ctx.set(dut.o.ready, 1)
        for cycle in range(40 * len(kinds)):
            if ctx.get(dut.control.start):
                starts.append(cycle)
            late = 2 if len(starts) < 2 else 20
            swaps_now = len(swaps) < len(starts) and cycle == starts[-1] + late
            swaps.extend([cycle] * swaps_now)
            ctx.set(dut.swapped, swaps_now)
            await ctx.tick()

    simulate(dut, producer, watch)
    assert len(starts) == len(kinds)
    for before, swap, start, kind in zip(kinds, swaps, starts[1:], kinds[1:], strict=False):
        slot = 8 if before == "p" else 16
        begun = starts[starts.index(start) - 1]
        assert start == max(swap + (6 if kind == "p" else 14), begun + slot)


def test_a_reset_sets_nothing_wider_than_a_count_of_rows():
    """Masks and products are looked at only with what says that they are there."""
    config = AcceleratorConfig(dim=64)
    assert max(reset_registers(WeightLoader(config)).values()) == config.dim.bit_length()
