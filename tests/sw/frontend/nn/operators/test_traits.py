"""Traits of operators are true of what they compute, and passes ask for each of them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.nn.operators.operator import Operator, Reach
from celosia.sw.frontend.nn.operators.table import CURVES, OPERATORS, checked
from tests.sw.frontend.nn.operators.test_table import CASES, operands

ROOT = Path(__file__).parents[5]
TRAITS = ("reach", "weights", "macs", "idle", "curve", "written", "host")
ALONG_ROWS = {"softmax": {"axis": -1}}
"""Attributes with which a case is one of rows."""


def of_reach(*reaches):
    return [name for name in CASES if OPERATORS[name.split()[0]].reach in reaches]


def computed(name, values):
    op = name.split()[0]
    with np.errstate(all="ignore"):
        return OPERATORS[op].compute(values, ALONG_ROWS.get(op, CASES[name][2]))


def texts_of_passes():
    files = [path for folder in ("sw", "lab") for path in (ROOT / folder).rglob("*.py")]
    return [path.read_text() for path in files if path.parent.name != "operators"]


def moved(value, kept):
    """`value` with all of its elements at other places but those that are `kept`."""
    return np.where(kept, value, np.roll(value, 1 + value.size // 2))


@pytest.mark.parametrize("name", of_reach(Reach.ELEMENT))
def test_an_element_depends_on_elements_at_its_place(name):
    values = list(np.broadcast_arrays(*operands(name)))
    before = computed(name, values)
    for place in np.ndindex(before.shape):
        kept = np.zeros(before.shape, bool)
        kept[place] = True
        after = computed(name, [moved(value, kept) for value in values])
        np.testing.assert_array_equal(before[place], after[place])


@pytest.mark.parametrize("name", of_reach(Reach.ROW))
def test_a_row_depends_on_the_row_at_its_place(name):
    first, *others = operands(name)
    before = computed(name, [first, *others])
    for place in np.ndindex(first.shape[:-1]):
        kept = np.zeros(first.shape, bool)
        kept[place] = True
        after = computed(name, [moved(first, kept), *others])
        np.testing.assert_allclose(before[place], after[place], rtol=1e-6)


@pytest.mark.parametrize("name", of_reach(Reach.SAMPLE))
def test_a_sample_depends_on_the_sample_at_its_place(name):
    values = operands(name)
    samples = len(values[0])
    before = computed(name, values)
    for sample in range(samples):
        kept = np.arange(samples).reshape(-1, *(1,) * (values[0].ndim - 1)) == sample
        each = [len(v) == samples and v.ndim == values[0].ndim for v in values]
        others = [moved(v, kept) if mine else v for v, mine in zip(values, each, strict=True)]
        np.testing.assert_allclose(before[sample], computed(name, others)[sample], rtol=1e-6)


@pytest.mark.parametrize("name", of_reach(Reach.VIEW, Reach.COPY))
def test_nothing_is_computed_by_a_view_or_a_copy(name):
    values = operands(name)
    sources = values[:1] if OPERATORS[name.split()[0]].reach is Reach.VIEW else values
    known = np.concatenate([np.ravel(value) for value in sources])
    assert np.isin(computed(name, values), known).all()


@pytest.mark.parametrize("trait", TRAITS)
def test_passes_ask_for_each_trait(trait):
    given = {getattr(each, trait) not in {None, "", False} for each in OPERATORS.values()}
    assert True in given
    asked = "in CURVES" if trait == "curve" else rf"(OPERATORS\[[^\]]*\]|operator)\.{trait}\b"
    assert any(re.search(asked, text) for text in texts_of_passes())


@pytest.mark.parametrize("reach", [each for each in Reach if each is not Reach.ALL])
def test_passes_ask_for_each_reach(reach):
    assert any(f"Reach.{reach.name}" in text for text in texts_of_passes())


def test_an_entry_says_how_far_it_reaches():
    entry: Any = Operator
    with pytest.raises(TypeError, match="required keyword-only argument: 'reach'"):
        entry(name="new", doc="", infer=OPERATORS["relu"].infer, compute=lambda v, _: v[0])


def test_each_curve_of_the_accelerator_is_one_of_the_float_graph():
    assert CURVES.keys() == {*ACTIVATIONS, "relu"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"curve": None}, "silu: the accelerator has this curve, but its entry has no `curve`"),
        ({"name": "selu"}, "selu: its entry has a `curve`, but the accelerator has none"),
        ({"reach": Reach.ROW}, "silu: `curve` and `written` need the reach element, not row"),
        (
            {"curve": lambda _: ({"beta": 1.0},)},
            "silu: its `curve` has the attributes beta, not alpha",
        ),
    ],
)
def test_an_entry_without_a_needed_trait_is_refused(changes, message):
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        checked(replace(OPERATORS["silu"], **changes))
