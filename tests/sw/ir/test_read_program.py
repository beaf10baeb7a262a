"""Programs survive as text, and texts that are none are refused where they are wrong."""

import re
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.encoding import WeightType
from celosia.isa.functions.table import Function
from celosia.isa.presets import resolve_config
from celosia.sw.ir.graph import View
from celosia.sw.ir.print_program import KINDS, print_program
from celosia.sw.ir.program import Drain, Load, LocalRows, Settings, Space
from celosia.sw.ir.read_program import parse_program
from celosia.sw.models import cases
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.scheduling.expansions import program

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
NUMBERS = st.integers(0, 1 << 40)
NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=4) | st.sampled_from([
    "encoder.0/key-1",
    "a b",
    "load",
    '"',
    "[0:1]",
    "#",
])
SETTINGS = st.dictionaries(st.sampled_from(["start", "scale_row", "x2"]), st.integers(-9, 1 << 32))
LOCAL = st.builds(LocalRows, st.sampled_from(Space), *[NUMBERS] * 4) | st.builds(
    LocalRows, st.sampled_from(Space), NUMBERS, st.just(3), st.just(1), st.just(3)
)
FIELDS = {
    int: NUMBERS,
    bool: st.booleans(),
    View: st.builds(View, NAMES, *[NUMBERS] * 4),
    LocalRows: LOCAL,
    LocalRows | None: st.none() | LOCAL,
    tuple[LocalRows, ...]: st.lists(LOCAL, max_size=2).map(tuple),
    Function: st.sampled_from(Function),
    WeightType: st.sampled_from(WeightType),
    Settings: SETTINGS,
    Settings | None: st.none() | SETTINGS,
    float | None: st.none() | st.floats(allow_nan=False),
    int | None: st.none() | NUMBERS,
}
LOAD = 'q: load view="a b"[0:4, 8:24] to=scratchpad[16:20]*2+4 after=3'


FIELDS[Drain] = st.builds(
    Drain, FIELDS[float | None], relu=st.booleans(), bias_row=FIELDS[int | None]
)


def values(kind):
    """Values of a class, whatever its fields are."""
    return st.builds(kind, **{name: FIELDS[hint] for name, hint in get_type_hints(kind).items()})


@given(st.lists(st.tuples(NAMES, st.one_of([values(kind) for kind in KINDS.values()]))))
def test_a_random_program_reads_back_as_it_was(ops):
    text = print_program(ops)
    assert parse_program(text) == tuple(ops)
    assert print_program(parse_program(text)) == text
    text.encode("ascii")
    assert text.count("\n") == len(ops)


@pytest.mark.parametrize(
    ("case", "preset"),
    [
        (cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), [9, 5], 0), "tiny"),
        (cases.attention_case(2, 20, 16, 0), "base"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.graph.name,
)
def test_programs_of_graphs_read_back_as_they_were(case, preset):
    ops = [(each.operator, each.op) for each in program(case, resolve_config(preset))]
    assert list(parse_program(print_program(ops))) == ops


def test_a_line_says_all_of_an_operation():
    rows = LocalRows(Space.SCRATCHPAD, row=16, rows=4, blocks=2, pitch=4)
    load = Load(View("a b", row=0, col=8, rows=4, cols=16), rows, after=3)
    assert print_program([("q", load)]) == f"{LOAD}\n"
    assert parse_program(f"# a comment\n\n{LOAD}") == (("q", load),)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (LOAD.replace("load", "lode"), "4: a kind of operation (load, "),
        (LOAD.replace("after", "view"), "56: another field of Load (view, to, after) is expected"),
        (LOAD.replace("to=", "too="), "31: another field of Load"),
        (LOAD.replace(" to=scratchpad[16:20]*2+4", ""), "38: the field to of Load is expected"),
        (LOAD.replace("scratchpad", "notepad"), "34: local rows is expected, not 'notepad["),
        (LOAD.replace("0:4, ", ""), "19: [row:row, column:column] is expected"),
        (LOAD.replace("=3", "=three"), "62: a number is expected, not 'three'"),
        (LOAD.replace("q:", "q"), "2: ': ' is expected"),
        (LOAD.replace("*2", "*2,"), "51: ' ' is expected, not '*2,+4"),
        (LOAD.replace("a b", "a\\x"), "14: a name is expected"),
        (f" {LOAD}", "1: a name is expected"),
        ("q: transform function=sine", "23: a function (requantize, maximum, "),
        ("q: products accumulate=yes", "24: true or false is expected"),
        ("q: store drain={relu=true relu=true}", "26: ', ' is expected, not ' relu"),
        ("q: transform settings={start=1", "31: ', ' is expected, not ''"),
    ],
)
def test_what_is_no_program_is_refused_where_it_is_wrong(wrong, message):
    with pytest.raises(ValueError, match=f"^line 2, column {re.escape(message)}"):
        parse_program(f"{LOAD}\n{wrong}\n{LOAD}")
