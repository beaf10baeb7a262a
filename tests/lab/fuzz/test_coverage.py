"""Conflicts are those of rows that two operations have in common, and of no row beside."""

import pytest

from celosia.isa.encoding import CONFIG_LD, FENCE, LOADS, MVIN_PARAM, MVOUT
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.coverage import points

TINY = resolve_config("tiny")
MVIN = LOADS[0]


def hazards(*commands):
    """The conflicts of a program, and how often each occurs."""
    found = points(commands, TINY)
    prefix = "hazard "
    return {n.removeprefix(prefix): count for n, count in found.items() if n.startswith(prefix)}


def load(row, cols=4):
    return MVIN.encode(dram=64, local=row, local_rows=4, local_cols=cols)


def store(row, cols=4):
    return MVOUT.encode(dram=64, local=row, local_rows=4, local_cols=cols)


def parameters(row, count):
    return MVIN_PARAM.encode(dram=64, row=row, count=count)


@pytest.mark.parametrize(
    ("older", "touching", "meeting", "kind"),
    [
        (load(8), (load(4), load(12)), (load(5), load(11)), "waw load load"),
        (store(8), (load(4), load(12)), (load(5), load(11)), "war store load"),
        (load(8), (store(4), store(12)), (store(5), store(11)), "raw load store"),
        # Four int32 are a row of parameters, and a fifth one begins the next row.
        (
            parameters(8, 5),
            (parameters(10, 4), parameters(7, 4)),
            (parameters(9, 1), parameters(7, 5)),
            "waw load load",
        ),
    ],
    ids=["loads", "a load behind a store", "a store behind a load", "parameters"],
)
def test_rows_that_touch_do_not_meet(older, touching, meeting, kind):
    for newer in touching:
        assert hazards(older, newer) == {}
    for newer in meeting:
        assert hazards(older, newer) == {kind: 1}


def test_blocks_reach_as_far_as_their_stride():
    """Two blocks of four rows, eight apart: rows 0 to 11, whatever is between them."""
    settings = CONFIG_LD.encode(stride=16, block_stride=8)
    assert hazards(settings, load(0, cols=8), load(12)) == {}
    assert hazards(settings, load(0, cols=8), load(11)) == {"waw load load": 1}


@pytest.mark.parametrize(("between", "meets"), [(7, True), (8, False)])
def test_what_is_far_apart_is_seldom_in_flight_together(between, meets):
    others = [load(100 + 4 * n) for n in range(between)]
    assert hazards(load(0), *others, load(0)) == ({"waw load load": 1} if meets else {})
    # What is no operation does not count.
    assert hazards(load(0), *[FENCE.encode()] * 20, load(0)) == {"waw load load": 1}
