"""Which load's rows a command is the first to read, row by row, on `tiny` of 4 columns."""

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.profile.flows import Arrow, arrows, first_uses
from celosia.sim.profile.instructions import Unit
from celosia.sim.profile.profile import Profile
from celosia.sw.driver.assembly import parse_command

CONFIG = PRESETS["tiny"].with_values({"normalization": True})
HEAD = ("config_ex", "config_ld stride=4 block_stride=16", "config_st stride=4")


def load(row, rows=4, cols=4):
    return f"mvin dram=0x80000000 local=sp[{row}] local_cols={cols} local_rows={rows}"


def product(a, b, c="acc[0]", rows=4):
    return (
        f"preload b=sp[{b}] b_cols=4 b_rows=4 c={c} c_cols=4 c_rows={rows}",
        f"compute_preloaded a=sp[{a}] a_cols=4 a_rows={rows} d=none",
    )


def transform(target, source, **settings):
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    return (
        f"config_transform {words}",
        f"transform target=sp[{target}] target2=sp[0] local=acc[{source}] local_cols=4 "
        "local_rows=4",
    )


def uses(*lines):
    """The first uses; numbers of commands begin behind `HEAD`."""
    found = first_uses([parse_command(line) for line in (*HEAD, *lines)], CONFIG)
    return {load - len(HEAD): user - len(HEAD) for load, user in found.items()}


def test_neighbors_of_the_rows_that_are_read_have_no_user():
    """Loads of rows 0 to 3, 8 to 11 and 4 to 7, which are read; the last is between the others."""
    assert uses(load(0), load(8), load(4), *product(4, 40)) == {2: 4}
    assert uses(load(4), load(0), load(8), *product(4, 40)) == {0: 4}


@pytest.mark.parametrize(("row", "user"), [(19, {}), (20, {0: 2}), (23, {0: 2}), (24, {})])
def test_a_load_has_its_rows_from_the_first_to_the_last(row, user):
    assert uses(load(20), *product(row, 40, rows=1)) == user


@pytest.mark.parametrize(("row", "user"), [(3, {0: 2}), (4, {}), (15, {}), (16, {0: 2}), (20, {})])
def test_blocks_of_a_load_are_apart(row, user):
    """Of 8 columns: rows 0 to 3, and 16 rows further on."""
    assert uses(load(0, cols=8), *product(row, 40, rows=1)) == user


def test_both_ends_of_what_is_read_and_both_operands_count():
    assert uses(load(0), load(4), *product(2, 40)) == {0: 3, 1: 3}
    assert uses(load(0), load(4), *product(0, 4)) == {0: 3, 1: 3}
    assert uses(load(0), *product(0, 40), *product(0, 40)) == {0: 2}


@pytest.mark.parametrize(("row", "user"), [(29, {0: 4}), (30, {}), (33, {}), (34, {0: 4})])
def test_results_of_a_product_are_nobodys_load(row, user):
    """The product writes rows 30 to 33 of the loaded 28 to 35."""
    lines = (load(28, rows=8), *product(50, 60, c="sp[30]"), *product(row, 70, rows=1))
    assert uses(*lines) == user
    in_accumulator = (load(28, rows=8), *product(50, 60), *product(row, 70, rows=1))
    assert uses(*in_accumulator) == {0: 4}


@pytest.mark.parametrize(("row", "user"), [(99, {0: 4}), (100, {}), (103, {}), (104, {0: 4})])
def test_results_of_a_transform_are_nobodys_load(row, user):
    lines = (load(98, rows=8), *transform(100, 0, type="int8"), *product(row, 70, rows=1))
    assert uses(*lines) == user


def test_a_transform_reads_its_source_in_the_scratchpad_alone():
    moments = ("config_norm channels=2", "config_transform function=moments start=1 finish=1")
    read = "transform target=sp[0] target2=sp[0] local={} local_cols=2 local_rows=4"
    assert uses(load(8), *moments, read.format("sp[8]")) == {0: 3}
    assert uses(load(8), *moments, read.format("sp[12]")) == {}
    raw = "config_transform function=requantize type=int32"
    assert uses(load(0), raw, read.format("acc[0]")) == {}


def test_loads_into_the_accumulator_do_not_count():
    into = "mvin dram=0x80000000 local=acc[0] local_cols=4 local_rows=4"
    assert uses(into, *product(0, 40)) == {}


def test_nothing_is_known_behind_a_command_that_breaks_a_rule():
    bad = "mvin dram=0x80000000 local=sp[4094] local_cols=4 local_rows=4"
    assert uses(load(0), bad, *product(0, 40)) == {}
    assert uses(load(0), *product(0, 40), bad, load(4), *product(4, 40)) == {0: 2}


def unit(*operations):
    """A unit of operations: command, first cycle, cycle behind the last."""
    command, begin, end = (np.array(column, np.int64) for column in zip(*operations, strict=True))
    return Unit(command, begin, end, np.zeros_like(end), np.zeros_like(end))


def test_an_arrow_leads_from_the_end_of_a_load_to_the_begin_of_its_user():
    lines = [*HEAD, load(0), load(4), *product(0, 4), load(8), *product(8, 4)]
    nothing = np.zeros(0, np.int64)
    profile = Profile(
        cycles=99,
        commands=[parse_command(line) for line in lines],
        operators=(),
        operator=nothing,
        queues={},
        owners={},
        activity={},
        slot_cycles=1,
        lost=0,
        parts=(),
    )
    units = {"load": unit((3, 1, 10), (4, 11, 20)), "execute": unit((6, 25, 30), (9, 40, 44))}
    # The load of rows 8 to 11 has not run.
    expected = [Arrow(3, 6, "execute", 10, 25), Arrow(4, 6, "execute", 20, 25)]
    assert arrows(profile, CONFIG, units) == expected
    assert arrows(profile, CONFIG, {"execute": units["execute"]}) == []
    only_the_second = {**units, "execute": unit((9, 40, 44))}
    assert arrows(profile, CONFIG, only_the_second) == []
