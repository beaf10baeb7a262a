"""TRANSFORM: what its command and the configuration before it become, and when it is nothing."""

import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.encoding import (
    CONFIG_EXPONENT,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_TRANSFORM,
    TRANSFORM,
    ElementType,
    Function,
)
from celosia.isa.operations.semantics import Step, check, step
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.semantics import CONFIG, acc, after, spad

BUILT = CONFIG.with_values({"normalization": True})
WHOLE = {"local": acc(3), "local_rows": 2, "local_cols": 5, "target": spad(40)}


def last_of(*commands, built=BUILT) -> Step:
    return step(commands[-1], after(*commands[:-1], config=built), built)


def test_its_operands_are_those_of_the_command():
    settings = CONFIG_NORM.encode(two=1, type2=ElementType.INT16)
    layernorm = CONFIG_TRANSFORM.encode(function=Function.LAYERNORM, type=ElementType.INT8)
    command = TRANSFORM.encode(**WHOLE | {"local": spad(9), "target2": spad(77)})
    done = last_of(layernorm, settings, command)
    assert isinstance(done.operation, Transform)
    found = done.operation
    assert (found.local, found.rows, found.cols) == (LocalAddress(row=9), 2, 5)
    assert (found.target, found.target2) == (LocalAddress(row=40), LocalAddress(row=77))
    assert found.two


def test_its_settings_are_the_last_ones_of_each_instruction():
    rows = {"source_stride": 6, "target_stride": 7}
    commands = [
        CONFIG_TRANSFORM.encode(function=Function.GELU, scale=9),
        CONFIG_EXPONENT.encode(c=5),
        CONFIG_ROWS.encode(target_stride=99),
        CONFIG_ROWS.encode(**rows),
    ]
    done = last_of(*commands, TRANSFORM.encode(**WHOLE))
    assert isinstance(done.operation, Transform)
    found = done.operation
    assert (found.setting("function"), found.setting("scale")) == (Function.GELU, 9)
    assert found.setting("c", CONFIG_EXPONENT) == 5
    assert {name: found.setting(name, CONFIG_ROWS) for name in rows} == rows


@pytest.mark.parametrize("none", ["local_rows", "local_cols"])
def test_without_elements_nothing_happens_and_no_rule_is_broken(none):
    """Neither does anything that the other one would break."""
    sizes = {"local_rows": 0xFFFF, "local_cols": 5000} | {none: 0}
    for command in (TRANSFORM.encode(**WHOLE | {none: 0}), TRANSFORM.encode(**WHOLE | sizes)):
        done = last_of(command)
        assert (done.cause, done.operation) == (Cause.NONE, None)


def test_a_broken_rule_leaves_no_operation():
    done = last_of(TRANSFORM.encode(**WHOLE | {"target": acc(40)}))
    assert (done.cause, done.operation) == (Cause.UNSUPPORTED, None)
    assert last_of(TRANSFORM.encode(**WHOLE)).operation is not None


def test_there_is_none_without_the_unit():
    for command in (TRANSFORM.encode(**WHOLE), CONFIG_TRANSFORM.encode(), CONFIG_ROWS.encode()):
        assert check(command, ArchState.reset(CONFIG), CONFIG) is Cause.UNKNOWN_FUNCT
        assert check(command, ArchState.reset(BUILT), BUILT) is Cause.NONE
