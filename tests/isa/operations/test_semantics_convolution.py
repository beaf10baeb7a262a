"""Max-pooling and pixel repeats: which are legal, and what they mean."""

import pytest

from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, MVIN, MVIN2, MVOUT, Command
from celosia.isa.operations.operations import Load, Store
from celosia.isa.operations.semantics import Step, step
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.semantics import ACC, CONFIG, SPAD, acc, spad

BUILT = CONFIG.with_values({"convolution": True})
POOLING = {
    "pool_stride": 2, "pool_size": 2, "pool_rows": 3, "pool_cols": 2, "pool_pitch": 5,
    "image_rows": 6, "image_cols": 4,
}  # fmt: skip


def last_of(*commands: Command, built=BUILT) -> Step:
    state, done = ArchState.reset(built), None
    for command in commands:
        done = step(command, state, built)
        state = done.state
    assert done is not None
    return done


def mvout(local: int, cols: int = 4, **pooling: int) -> Step:
    moved = MVOUT.encode(dram=9, local=local, local_rows=0, local_cols=cols)
    return last_of(CONFIG_ST.encode(**(POOLING | pooling)), moved)


def mvin(repeats: int, local: int, cols: int, instruction=MVIN) -> Step:
    moved = instruction.encode(dram=9, local=local, local_rows=2, local_cols=cols)
    return last_of(CONFIG_LD.encode(pixel_repeats=repeats, block_stride=4), moved)


def test_both_are_refused_where_they_are_not_built():
    for command in (CONFIG_ST.encode(**POOLING), CONFIG_LD.encode(pixel_repeats=2)):
        assert last_of(command, built=CONFIG).cause is Cause.UNSUPPORTED
        assert last_of(command).cause is Cause.NONE


def test_a_window_has_a_size():
    assert last_of(CONFIG_ST.encode(pool_stride=1)).cause is Cause.UNSUPPORTED
    assert last_of(CONFIG_ST.encode(pool_size=0)).state.pooling is None


def test_what_is_pooled_is_the_image_whatever_the_rows():
    done = mvout(acc(10))
    assert isinstance(done.operation, Store)
    assert done.operation.pooling is not None
    assert (done.operation.rows, done.operation.pooling.pitch) == (24, 5)


@pytest.mark.parametrize("none", ["pool_rows", "pool_cols"])
def test_without_pixels_nothing_happens(none):
    assert mvout(acc(ACC), **{none: 0}) == last_of(CONFIG_ST.encode(**(POOLING | {none: 0})))


def test_the_image_exists_and_has_one_block():
    assert mvout(spad(SPAD - 24)).cause is Cause.NONE
    assert mvout(spad(SPAD - 23)).cause is Cause.LOCAL_RANGE
    assert mvout(acc(ACC - 24)).cause is Cause.NONE
    assert mvout(acc(ACC - 23)).cause is Cause.LOCAL_RANGE
    assert mvout(acc(ACC + 99), image_rows=0).cause is Cause.NONE
    assert mvout(acc(ACC), cols=5).cause is Cause.SHAPE


def test_int32_are_not_pooled():
    assert mvout(acc(0, full=True)).cause is Cause.UNSUPPORTED
    assert mvout(spad(0)).cause is Cause.NONE


@pytest.mark.parametrize(
    ("repeats", "cols", "cause"),
    [(0, 16, 0), (1, 16, 0), (2, 2, 0), (2, 3, 4), (4, 1, 0), (5, 1, 4), (255, 1, 4)],
)
def test_copies_fit_a_row(repeats, cols, cause):
    assert mvin(repeats, spad(20), cols).cause == cause
    assert mvin(repeats, acc(20), cols).cause is Cause.NONE


@pytest.mark.parametrize(
    ("row", "first"),
    [(0, 0), (2, 0), (3, 0), (9, 6), (SPAD // 2, SPAD // 2), (SPAD // 2 + 1, SPAD // 2)],
)
def test_copies_go_down_to_the_half_of_the_scratchpad(row, first):
    load = mvin(4, spad(row), 1).operation
    assert isinstance(load, Load)
    assert load.first(BUILT) == first


def test_repeats_belong_to_their_set_and_to_the_scratchpad():
    for done in (mvin(2, spad(8), 1, MVIN2), mvin(2, acc(8), 1)):
        assert isinstance(done.operation, Load)
        assert done.operation.repeats == 1
