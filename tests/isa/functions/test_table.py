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


EXPONENTS = {"EXPONENT", "DITHERED_EXPONENT", "SUM", "PROBABILITY"}
SCALED = EXPONENTS | {"GELU", "SILU", "HARDSWISH", "RESIDUAL"}
RESCALED = {"REQUANTIZE", "CONTEXT", "GELU", "SILU", "HARDSWISH", "MULTIPLY", "ROTATE"}


@EACH
def test_what_is_scaled_before_and_behind(function):
    """Scores, curves and sums of residuals are scaled first; what is rounded to a type last."""
    entry, name = FUNCTIONS[function], function.name
    assert (entry.scaled, entry.rescaled) == (name in SCALED, name in RESCALED)
    assert entry.scalings == (name in SCALED) + (name in RESCALED)
    assert entry.column_scaled is (name in {"GELU", "SILU", "HARDSWISH", "RESIDUAL"})
    assert entry.column_rescaled is (name in {"REQUANTIZE", "CONTEXT"})


@EACH
def test_steps_and_statistics(function):
    entry, name = FUNCTIONS[function], function.name
    assert entry.turns == {"RESIDUAL": 2, "MULTIPLY": 2, "ROTATE": 4}.get(name, 1)
    assert entry.headed is (name in EXPONENTS)
    assert entry.masked is (entry.headed or name == "MAXIMUM")
    assert entry.begins is (name in {"MAXIMUM", "MOMENTS", "RESIDUAL"})
    known = entry.headed or name in {"MAXIMUM", "CONTEXT", "MOMENTS", "LAYERNORM"}
    assert entry.statistics is known


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
        assert entry.scaled
        assert entry.scores != entry.paired  # Scores are scaled already, others have their scale.
