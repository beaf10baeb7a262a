"""The table of TRANSFORM's functions is complete, and its entries fit each other."""

import pytest

from celosia.isa import encoding
from celosia.isa.functions.table import FUNCTIONS, Function
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS

EACH = pytest.mark.parametrize("function", Function)


def test_every_function_has_one_entry_in_order():
    assert list(FUNCTIONS) == list(Function)


def test_values_fit_the_field():
    field = next(f for f in encoding.CONFIG_TRANSFORM.fields if f.name == "function")
    assert field.choices is Function
    assert all(function < field.limit for function in Function)


@EACH
def test_an_entry_does_something(function):
    entry = FUNCTIONS[function]
    assert entry.result or entry.statistics
    assert entry.doc[0].isupper()
    assert entry.doc.endswith(".")


@EACH
def test_constants_are_those_of_an_instruction(function):
    constants = FUNCTIONS[function].constants
    assert constants is None or constants in {known.name for known in TRANSFORM_CONFIGS}


@EACH
def test_what_reads_the_scratchpad_is_not_scaled(function):
    entry = FUNCTIONS[function]
    if entry.staged:
        assert not any((entry.scores, entry.scaled, entry.column_rescaled))
    if entry.takes_int16:
        assert entry.scores
        assert entry.scaled
        assert not entry.paired
