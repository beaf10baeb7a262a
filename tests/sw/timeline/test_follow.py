"""Queues and hazards, on operations that are made up."""

from dataclasses import replace
from itertools import pairwise

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.timeline.follow import Moved, Timeline
from celosia.sw.timeline.units import TransformWork

BASE = PRESETS["base"]
PIECE = Moved(rows=64, bytes=64, pitch=64, address=0)


def line(**timing):
    return Timeline(BASE, MemoryTiming(**timing))


def product(timeline, a=0, w=4096, c=0, rows=64, **more):
    more = {"transposed": False, "accumulate": False, **more}
    return timeline.product(a, w, c, rows, **more)


def transform(timeline, to, rows=64):
    """A step for each row, whose results are two local rows each."""
    words = 2 * rows
    work = TransformWork(steps=rows, cycles=words, accesses=(words,), rows=rows, slots=range(0))
    timeline.transform(work, (timeline.accumulator, (0, rows)), [(to, to + words)])


def test_an_empty_program_takes_next_to_nothing():
    assert line().cycles < 10


def test_products_follow_each_other_without_a_gap():
    timeline = line()
    begins = [product(timeline) for _ in range(100)]
    assert {b - a for a, b in pairwise(begins)} == {64}


def test_short_products_take_as_long_as_their_weights():
    timeline = line()
    begins = [product(timeline, rows=3) for _ in range(100)]
    assert begins[-1] - begins[0] == 99 * 16


def test_a_product_waits_for_the_loads_of_what_it_reads():
    timeline = line(latency=500)
    timeline.load(timeline.scratchpad, (0, 256), PIECE)
    assert product(timeline, a=1024) < 100
    assert product(timeline, a=0) > 500 + 256


def test_a_load_waits_for_who_reads_its_rows():
    timeline = line()
    last = [product(timeline, a=0) for _ in range(10)][-1]
    timeline.load(timeline.scratchpad, (0, 256), PIECE)
    assert product(timeline, a=0) > last + 64 + 40 + 256


def test_a_load_waits_for_the_store_that_it_names():
    ends = []
    for after in (0, 1):
        timeline = line(latency=300)
        timeline.store(timeline.scratchpad, (8192, 8448), PIECE, 256)
        timeline.load(timeline.scratchpad, (0, 256), PIECE, after=after)
        ends.append(product(timeline, a=0))
    assert ends[1] > ends[0] + 300


def test_sums_are_not_overwritten_before_they_are_stored():
    timeline = line()
    first = product(timeline, c=0)
    timeline.store(timeline.accumulator, (0, 64), PIECE, 256)
    assert product(timeline, c=512) == first + 64
    assert product(timeline, c=0) > first + 64 + 192


def test_a_full_queue_holds_up_what_comes_behind():
    timeline = line()
    for _ in range(BASE.execute_queue + 1):
        product(timeline)
    timeline.load(timeline.scratchpad, (0, 256), PIECE)
    free, full = line(), timeline
    free.load(free.scratchpad, (0, 256), PIECE)
    assert product(full, a=0) > product(free, a=0) + 64


def test_a_run_ends_with_its_last_response():
    short, long = line(latency=10), line(latency=1000)
    row = Moved(rows=1, bytes=64, pitch=64, address=0)
    for timeline in (short, long):
        timeline.store(timeline.scratchpad, (0, 4), row, 4)
    assert long.cycles - short.cycles == 990


def test_results_of_transforms_leave_one_behind_the_other():
    """One port takes a row in each cycle, whatever steps are there: 128 rows for each of 8."""
    timeline = line()
    for number in range(8):
        transform(timeline, 8192 + 128 * number)
    assert 8 * 128 < timeline.cycles < 8 * 128 + 80


def test_a_load_waits_until_a_store_has_read_its_bank():
    """Results take 128 cycles of the bank, and the store of them another 128; loads come last."""
    ends = []
    for bank in (1, 2):
        timeline = line()
        transform(timeline, 8192)
        timeline.store(timeline.scratchpad, (8192, 8320), replace(PIECE, bytes=32), 128)
        for _ in range(8):
            timeline.load(timeline.scratchpad, (4096 * bank + 1024, 4096 * bank + 1280), PIECE)
        ends.append(product(timeline, a=4096 * bank + 1024))
    assert ends[1] - ends[0] > 2 * 100


def test_a_store_waits_for_results_that_come_to_its_bank():
    reads = []
    for other in (4096, 8192 + 128):
        timeline = line()
        transform(timeline, 8192)
        timeline.store(timeline.scratchpad, (8192, 8320), replace(PIECE, bytes=32), 128)
        for number in range(4):
            transform(timeline, other + 128 * number)
        timeline.load(timeline.scratchpad, (8192, 8448), PIECE)
        reads.append(product(timeline, a=8192))
    assert reads[1] - reads[0] > 4 * 100


def test_a_store_that_a_load_names_meets_results_that_are_known_behind_the_load():
    reads = []
    for other in (4096, 8192 + 128):
        timeline = line()
        transform(timeline, 8192)
        timeline.store(timeline.scratchpad, (8192, 8320), replace(PIECE, bytes=32), 128)
        timeline.load(timeline.scratchpad, (0, 256), PIECE, after=1)
        for number in range(3):
            transform(timeline, other + 128 * number)
        reads.append(product(timeline, a=0))
    assert reads[1] - reads[0] > 3 * 100
