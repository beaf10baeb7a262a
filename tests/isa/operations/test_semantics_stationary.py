"""Output-stationary products: which are legal, and what they mean."""

import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import COMPUTE_ACCUMULATED, COMPUTE_PRELOADED, CONFIG_EX, PRELOAD
from celosia.isa.operations.operations import Product, Resident
from celosia.isa.operations.semantics import step
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.semantics import CONFIG, SPAD, acc, spad

SIZES = {"a": spad(0), "a_rows": 4, "a_cols": 4, "d": spad(8), "d_rows": 4, "d_cols": 4}
PLACES = {"b": spad(16), "b_rows": 4, "b_cols": 4, "c": spad(32), "c_rows": 4, "c_cols": 4}


def config(dataflow: str) -> AcceleratorConfig:
    return CONFIG.with_values({"dataflow": dataflow})


def configure(dataflow: str, **fields: int) -> Cause:
    built = config(dataflow)
    return step(CONFIG_EX.encode(**fields), ArchState.reset(built), built).cause


def product(changed: dict[str, int], *, accumulated: bool = False, **ex: int):
    built = config("both")
    state = ArchState.reset(built)
    places = {name: changed.get(name, value) for name, value in PLACES.items()}
    sizes = {name: changed.get(name, value) for name, value in SIZES.items()}
    compute = COMPUTE_ACCUMULATED if accumulated else COMPUTE_PRELOADED
    for command in (CONFIG_EX.encode(weight_stationary=0, **ex), PRELOAD.encode(**places)):
        state = step(command, state, built).state
    return step(compute.encode(**sizes), state, built)


@pytest.mark.parametrize(
    ("dataflow", "weights", "sums"), [("ws", 1, 0), ("os", 0, 1), ("both", 1, 1)]
)
def test_only_what_is_built_can_be_configured(dataflow, weights, sums):
    assert (configure(dataflow, weight_stationary=1) is Cause.NONE) == weights
    assert (configure(dataflow, weight_stationary=0) is Cause.NONE) == sums
    assert configure(dataflow, weight_stationary=0, strides_only=1) is Cause.NONE
    reset = ArchState.reset(config(dataflow))
    assert reset.output_stationary == (dataflow == "os")


@pytest.mark.parametrize(
    ("weight_stationary", "a", "b", "cause"),
    [
        (0, 0, 0, Cause.NONE),
        (0, 1, 0, Cause.NONE),
        (0, 1, 1, Cause.NONE),
        (0, 0, 1, Cause.UNSUPPORTED),
        (1, 0, 1, Cause.NONE),
        (1, 1, 0, Cause.NONE),
        (1, 1, 1, Cause.UNSUPPORTED),
    ],
)
def test_transposes(weight_stationary, a, b, cause):
    ex = {"weight_stationary": weight_stationary, "a_transpose": a, "b_transpose": b}
    assert configure("both", **ex) is cause


def test_b_comes_with_the_compute_and_d_with_the_preload():
    done = product({"b_rows": 2, "d_cols": 3}, shift=32 + 7, a_transpose=1, b_transpose=1).operation
    assert isinstance(done, Product)
    assert done.w is not None
    assert done.d is not None
    assert (done.w.local, done.w.cols, done.w.transposed) == (LocalAddress(row=8), 3, True)
    assert (done.d.local, done.d.rows, done.d.transposed) == (LocalAddress(row=16), 2, False)
    assert done.resident == Resident(start=True, shift=7)


def test_what_is_accumulated_has_no_d():
    done = product({"b": acc(0), "b_rows": 99}, accumulated=True)
    assert done.cause is Cause.NONE
    assert isinstance(done.operation, Product)
    assert done.operation.d is None
    assert done.operation.w is not None
    assert done.operation.resident == Resident(start=False, shift=0)


@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_all_sizes_fit_the_array(name):
    for size in ("rows", "cols"):
        assert product({f"{name}_{size}": 4}).cause is Cause.NONE
        assert product({f"{name}_{size}": 5}).cause is Cause.SHAPE
        assert product({f"{name}_{size}": 5, name: GARBAGE}).cause is Cause.NONE


@pytest.mark.parametrize("name", ["a", "b", "d"])
def test_operands_are_in_the_scratchpad(name):
    assert product({name: acc(0)}).cause is Cause.UNSUPPORTED
    assert product({name: spad(SPAD - 3)}).cause is Cause.LOCAL_RANGE
    assert product({name: spad(29)}).cause is Cause.OVERLAP


@pytest.mark.parametrize("name", ["a", "b", "d"])
def test_a_result_may_take_the_place_of_an_operand(name):
    """Row i of C is written when row i of A and D, and all of B, are in the array."""
    for rows in range(1, 5):
        place = {name: spad(40), "c": spad(40), "c_rows": rows}
        assert product(place).cause is Cause.NONE
        assert product(place, c_stride=2).cause is Cause.OVERLAP
    for distance in (-1, 1):
        assert product({name: spad(40), "c": spad(40 + distance)}).cause is Cause.OVERLAP


def test_a_result_takes_the_place_of_rows_at_its_stride():
    place = {"a": spad(40), "c": spad(40)}
    assert product(place, a_stride=3, c_stride=3).cause is Cause.NONE
    assert product(place, a_stride=3, c_stride=3, a_transpose=1).cause is Cause.NONE
    assert product(place, a_stride=2, c_stride=3).cause is Cause.OVERLAP
    assert product(place, a_stride=0).cause is Cause.OVERLAP
