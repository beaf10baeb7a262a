"""What a program reads of local rows, of statistics and of memory, element by element."""

from itertools import product

import pytest

from celosia.isa.encoding import Function
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.ir.program import Load, LocalRows, Op, Space, Store, Transform
from celosia.sw.ir.program_verify import _Checker, _Slots, verify

TINY = resolve_config("tiny")
ROWS, BLOCKS = 6, 3


def graph_of(tensors: dict[str, Tensor], *inputs: str) -> Graph:
    return Graph(name="g", tensors=tensors, inputs=inputs, outputs=(), ops=())


def reads(space: Space, there: set[tuple[int, int]], **mask: int) -> bool:
    """Whether a transform finds what it reads where only these rows of blocks are."""
    checker = _Checker(TINY, graph_of({}))
    for block in range(BLOCKS):
        places = [block * ROWS + row for each, row in sorted(there) if each == block]
        made = Load(View("x", 0, 0, 1, 1), LocalRows(space, block * ROWS, ROWS, 1, ROWS))
        checker.local[space].write(made, *((place, place + 1) for place in places))
    source = LocalRows(space, 0, ROWS, BLOCKS, ROWS)
    op = Transform(Function.MAXIMUM, source, TINY.dim * BLOCKS, (), mask=mask)
    try:
        checker._read_source(op)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("space", [Space.ACCUMULATOR, Space.SCRATCHPAD])
@pytest.mark.parametrize(("first_row", "first_key"), [(0, 0), (3, 0), (5, 4), (2, 7)])
@pytest.mark.parametrize("window", [0, 1, 3, 6])
def test_a_causal_mask_needs_the_rows_in_which_it_lets_a_key_through(
    space, first_row, first_key, window
):
    width = TINY.dim // 2 if space is Space.SCRATCHPAD else TINY.dim
    mask = {"causal": 1, "first_row": first_row, "first_key": first_key, "window": window}

    def seen(block: int, row: int) -> bool:
        keys = range(first_key + block * width, first_key + (block + 1) * width)
        own = first_row + row
        return any(key <= own and (not window or key > own - window) for key in keys)

    every = {*product(range(BLOCKS), range(ROWS))}
    needed = {place for place in every if seen(*place)}
    assert reads(space, needed, **mask)
    for place in needed:
        assert not reads(space, every - {place}, **mask)
    for place in every:  # Of a ring, and without a mask, nobody knows which rows count.
        assert not reads(space, every - {place}, ring=8, **mask)
        assert not reads(space, every - {place})


def moments(first: int, rows: int, **settings: int) -> Transform:
    source = LocalRows(Space.ACCUMULATOR, 0, rows, 1, rows)
    return Transform(Function.MOMENTS, source, 4, (), settings={"statistics": first, **settings})


def normed(first: int, rows: int) -> Transform:
    source = LocalRows(Space.ACCUMULATOR, 0, rows, 1, rows)
    return Transform(Function.LAYERNORM, source, 4, (), settings={"statistics": first})


WHOLE = {"start": 1, "finish": 1}


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ([moments(0, 4, **WHOLE), normed(0, 4), moments(0, 4, **WHOLE)], ""),
        ([moments(0, 4, start=1), moments(0, 4), moments(0, 4, finish=1), normed(0, 4)], ""),
        ([moments(0, 3, **WHOLE), normed(0, 4)], "not complete"),
        ([moments(1, 3, **WHOLE), normed(0, 4)], "not complete"),
        ([moments(0, 4, start=1), normed(0, 4)], "not complete"),
        ([moments(0, 4, **WHOLE), moments(3, 2, **WHOLE)], "before those in their place"),
        ([moments(0, 4, start=1), moments(3, 2, **WHOLE)], "before those in their place"),
        ([moments(0, 4, start=1), moments(3, 2)], "nobody has started"),
        ([moments(0, 4, **WHOLE), moments(0, 4)], "nobody has started"),
        ([moments(0, 4)], "nobody has started"),
    ],
)
def test_statistics_of_each_row_begin_end_and_are_used(ops, message):
    slots = _Slots(8)
    for op in ops[:-1]:
        slots.take(op)
    if message:
        with pytest.raises(ValueError, match=message):
            slots.take(ops[-1])
    else:
        slots.take(ops[-1])


TENSORS = {name: Tensor(name, "int8", 8, 4) for name in ("given", "made")}


def moved(*stores: tuple[int, int], load: tuple[int, int, int] | None = None) -> list[Op]:
    """Rows of a given tensor that are stored, by first row and count, and a load of some."""
    ops: list[Op] = []
    for number, (row, count) in enumerate(stores):
        place = LocalRows(Space.SCRATCHPAD, 8 * number, count, 1, count)
        ops += [Load(View("given", 0, 0, count, 4), place)]
        ops += [Store(View("made", row, 0, count, 4), place)]
    if load is not None:
        row, count, after = load
        place = LocalRows(Space.SCRATCHPAD, 100, count, 1, count)
        ops.append(Load(View("made", row, 0, count, 4), place, after))
    return ops


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (moved((0, 8)), ""),
        (moved((0, 5), (5, 3)), ""),
        (moved((0, 5), (4, 4)), r"made\[4:8, 0:4\] is stored a second time"),
        (moved((0, 5), (6, 2)), "not all of it is stored"),
        (moved((0, 5), load=(4, 2, 1)), "is loaded before it is stored"),
        (moved((0, 5), (5, 3), load=(4, 2, 1)), "waits for 1 stores, not for 2"),
        (moved((0, 5), (5, 3), load=(0, 5, 0)), "waits for 0 stores, not for 1"),
        (moved((0, 5), (5, 3), load=(0, 5, 1)), "nobody has used what is made"),
        (moved((0, 5), (5, 3), load=(0, 8, 3)), "waits for 3 stores, but only 2"),
    ],
)
def test_each_element_is_stored_once_and_loaded_behind_its_store(ops, message):
    if message:
        with pytest.raises(ValueError, match=message):
            verify(ops, TINY, graph_of(TENSORS, "given"))
    else:
        verify(ops, TINY, graph_of(TENSORS, "given"))
