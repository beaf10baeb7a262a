"""Rings in use: what is still there, and where pieces begin."""

from celosia.sw.planning.forms.plan import Machine, Plan, RingPlan
from celosia.sw.scheduling.pieces import Pieces, open_rings

MACHINE = Machine(
    dim=4,
    scratchpad_rows=64,
    accumulator_rows=64,
    parameter_rows=8,
    statistics_rows=16,
    max_blocks=4,
    max_accumulator_blocks=1,
)


def ring(*spans: tuple[int, int], step: int = 1) -> RingPlan:
    return RingPlan(space="scratchpad", spans=spans, step=step)


def test_a_piece_is_there_until_another_one_takes_one_of_its_rows():
    pieces = Pieces(ring((10, 8)))
    assert [pieces.take(key, 3) for key in "abc"] == [10, 13, 10]
    assert [pieces.find(key) for key in "abc"] == [None, 13, 10]


def test_pieces_begin_a_step_apart():
    pieces = Pieces(ring((10, 8), step=4))
    assert [pieces.take(key, 3) for key in "abc"] == [10, 14, 10]
    assert Pieces(ring((10, 8), step=100)).take("a", 3) == 10


def test_rings_with_rows_in_common_overwrite_each_other():
    rings = {"one": ring((0, 8)), "other": ring((4, 8)), "apart": ring((12, 8))}
    opened = open_rings(Plan(graph="g", machine=MACHINE, rings=rings, stages=()))
    opened["one"].take("a", 6)
    opened["apart"].take("a", 6)
    opened["other"].take("b", 2)
    assert [opened[name].find("a") for name in rings] == [None, None, 12]
    assert opened["other"].find("b") == 4
