"""Expected cycles, beside what the timeline of a program says."""

from dataclasses import replace

import pytest

from celosia.isa.encoding import Function, WeightType
from celosia.isa.latencies import FACTS_CYCLES, SQUARED_FACTS_LATENCY
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Space,
    Store,
    Transform,
)
from celosia.sw.scheduling.expected import Expected
from tests.support.nests import product

CONFIG = resolve_config("base")
DIM = CONFIG.dim
EXPECTED = Expected(CONFIG)
VIEW = View("x", 0, 0, DIM, DIM)


def rows(space=Space.SCRATCHPAD, blocks=4):
    return LocalRows(space, 0, DIM, blocks, DIM)


PRODUCT = product(0, DIM, 0, 10, DIM, DIM)
LOAD, STORE = Load(VIEW, rows()), Store(VIEW, rows())


def softmax(function, *, finish):
    settings = {"statistics": 0, "start": 1, "finish": finish}
    return Transform(function, rows(Space.ACCUMULATOR), 4 * DIM, settings=settings)


def test_moves_take_the_cycles_of_their_bytes():
    assert EXPECTED.cycles(LOAD) == EXPECTED.cycles(STORE) == 4 * DIM * DIM // CONFIG.bus_bytes
    words = Load(VIEW, rows(Space.ACCUMULATOR, 1))
    assert EXPECTED.cycles(words) == 4 * DIM * DIM // CONFIG.bus_bytes
    bias = LoadParameters(VIEW, LocalRows(Space.PARAMETERS, 0, 1, 1, 1))
    assert EXPECTED.cycles(bias) == 4 * DIM // CONFIG.bus_bytes


def test_a_tile_of_weights_takes_no_fewer_cycles_than_it_has_rows():
    assert EXPECTED.cycles(PRODUCT) == DIM


@pytest.mark.parametrize(("rows", "cycles"), [(1, 8), (8, 8), (10, 10), (20, 20)])
def test_one_of_int4_may_take_half_as_many(rows, cycles):
    packed = replace(PRODUCT, rows=rows, w_type=WeightType.INT4)
    assert Expected(resolve_config("base-int4")).cycles(packed) == cycles
    assert EXPECTED.cycles(packed) == max(rows, DIM)


def test_transforms_take_a_step_for_each_tile_of_a_row():
    maximum = softmax(Function.MAXIMUM, finish=1)
    assert EXPECTED.cycles(maximum) >= 4 * DIM


def test_what_comes_from_memory_takes_its_latency():
    latency = MemoryTiming().latency
    assert EXPECTED.latency(LOAD, PRODUCT) > latency
    assert EXPECTED.latency(STORE, LOAD) > latency
    assert EXPECTED.latency(LOAD, LOAD) == 1
    assert EXPECTED.latency(STORE, PRODUCT) < latency


def test_facts_of_rows_take_longer_than_their_steps():
    whole, part = (softmax(Function.EXPONENT, finish=finish) for finish in (1, 0))
    reader = softmax(Function.CONTEXT, finish=0)
    assert EXPECTED.latency(part, reader) == 1
    assert EXPECTED.latency(whole, reader) >= FACTS_CYCLES + SQUARED_FACTS_LATENCY
    assert EXPECTED.latency(PRODUCT, whole) >= 2 * DIM


def test_sums_are_added_to_one_product_behind_the_other():
    assert EXPECTED.latency(PRODUCT, PRODUCT) == 0
    assert EXPECTED.latency(PRODUCT, STORE) > DIM
