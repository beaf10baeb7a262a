"""Records become attributes and come back; what does not fit names its path."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.sw.mlir.operation import Lines, Operation, print_operation
from celosia.sw.mlir.parser import parse_operation
from celosia.sw.mlir.records import attribute_of, fields_of, made, read
from celosia.sw.mlir.same import differing


class Color(Enum):
    """Members that are words."""

    RED = "r"
    DARK_BLUE = "b"


class Number(IntEnum):
    """Members that are numbers."""

    ONE = 1
    TWO = 2


@dataclass(frozen=True)
class Cat:
    """One kind of animal."""

    kind: Literal["cat"] = "cat"
    lives: int = 9


@dataclass(frozen=True)
class Dog:
    """Another kind of animal."""

    kind: Literal["dog"] = "dog"
    name: str = ""


@dataclass(frozen=True)
class Key:
    """A record that is a key."""

    name: str
    role: Literal["a", "b"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Whole:
    """A field of each kind."""

    name: str
    number: int = 0
    real: float = 0.5
    truth: bool = False
    color: Color = Color.RED
    pair: tuple[str, int] = ("", 0)
    words: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    settings: Mapping[str, int] = field(default_factory=dict)
    by_key: Mapping[Key, float] = field(default_factory=dict)
    perhaps: int | None = None
    animal: Cat | Dog = Cat()
    steps: NDArray[Any] = field(default_factory=lambda: np.zeros(0))


STEPS = np.array([0.5, 2.0])
FULL = Whole(
    name="x",
    number=-3,
    real=1e300,
    truth=True,
    color=Color.DARK_BLUE,
    pair=("p", 4),
    words=("a", "b"),
    names=frozenset({"z", "y"}),
    settings={"type": Number.TWO},
    by_key={Key("k", "b"): 2.0},
    perhaps=0,
    animal=Dog(name="rex"),
    steps=STEPS,
)


def test_each_kind_of_field_has_its_attribute():
    arrays = {}
    assert dict(fields_of(FULL, arrays)) == {
        "name": "x",
        "number": -3,
        "real": 1e300,
        "truth": True,
        "color": "dark_blue",
        "pair": ("p", 4),
        "words": ("a", "b"),
        "names": ("y", "z"),
        "settings": {"type": 2},
        "by_key": (({"name": "k", "role": "b"}, 2.0),),
        "perhaps": 0,
        "animal": {"kind": "dog", "name": "rex"},
        "steps": "array 0",
    }
    assert list(arrays) == ["array 0"]
    assert arrays["array 0"] is STEPS


def test_defaults_are_left_out_but_not_what_a_record_is():
    arrays = {}
    plain = dict(fields_of(Whole(name=""), arrays, ["steps"]))
    assert plain == {"name": ""}
    assert dict(fields_of(Cat(), arrays)) == {"kind": "cat"}
    assert arrays == {}


def test_equal_arrays_are_stored_once_and_others_apart():
    arrays = {}
    first = attribute_of(np.zeros(2, np.int8), arrays)
    assert attribute_of(np.zeros(2, np.int8), arrays) == first
    for other in (np.zeros(2, np.uint8), np.zeros(3, np.int8), np.ones(2, np.int8)):
        assert attribute_of(other, arrays) != first
    assert len(arrays) == 4


def test_a_record_comes_back_through_text():
    arrays = {}
    operation = Operation(name="a.b", attributes=dict(fields_of(FULL, arrays)))
    values = parse_operation(print_operation(operation)).attributes
    found = made(Whole, values, "whole", arrays)
    assert differing(FULL, found) is None
    assert type(found.by_key) is dict
    assert found.color is Color.DARK_BLUE


@given(st.dictionaries(st.text(max_size=3), st.integers(-(2**31), 2**31), max_size=3))
def test_mappings_with_any_keys_come_back(settings):
    operation = Operation(name="a.b", attributes={"x": attribute_of(settings, {})})
    value = parse_operation(print_operation(operation)).attributes["x"]
    assert read(Mapping[str, int], value, "x", {}) == settings


def test_lines_print_one_a_line_and_come_back_as_a_list():
    operation = Operation(name="a.b", attributes={"x": Lines(["one", 'two "2"'])})
    text = print_operation(Operation(name="a.c", regions=((operation,),)))
    assert text == (
        '"a.c"() ({\n  "a.b"() {x = [\n    "one",\n    "two \\222\\22"\n  ]} : () -> ()\n'
        "}) : () -> ()\n"
    )
    assert parse_operation(text).regions[0][0].attributes == {"x": ("one", 'two "2"')}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nothing": 1}, "whole.nothing: there is no such field; there are name, number"),
        ({"number": "1"}, "whole.number: '1' is no int"),
        ({"number": True}, "whole.number: True is no int"),
        ({"real": "x"}, "whole.real: 'x' is no float"),
        ({"truth": 1}, "whole.truth: 1 is no bool"),
        ({"color": "green"}, "whole.color: 'green' is none of red, dark_blue"),
        ({"pair": ("p",)}, "whole.pair: 2 elements are expected, not 1"),
        ({"words": "ab"}, "whole.words: a list is expected, not 'ab'"),
        ({"words": ("a", 1)}, "whole.words[1]: 1 is no str"),
        ({"names": 3}, "whole.names: a list is expected, not 3"),
        ({"settings": 3}, "whole.settings: a table is expected, not 3"),
        ({"settings": {"a": "b"}}, "whole.settings.a: 'b' is no int"),
        ({"by_key": ((1, 2.0),)}, "whole.by_key[0][0]: a table is expected, not 1"),
        ({"animal": {"kind": "cow"}}, "whole.animal.kind: 'cow' is none of 'cat', 'dog'"),
        ({"animal": {}}, "whole.animal.kind: None is none of"),
        ({"animal": {"kind": "cat", "name": ""}}, "whole.animal.name: there is no such field"),
        ({"steps": "array 7"}, "whole.steps: there is no array 'array 7' beside the text"),
        ({"perhaps": 1.5}, "whole.perhaps: 1.5 is no int"),
    ],
)
def test_what_does_not_fit_names_its_path(change, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        made(Whole, {"name": "x", **change}, "whole", {})


def test_what_is_missing_is_named_unless_it_is_given():
    with pytest.raises(ValueError, match=r"^whole\.name is missing$"):
        made(Whole, {}, "whole", {})
    assert made(Whole, {}, "whole", {}, {"name": "y"}).name == "y"
    with pytest.raises(ValueError, match=r"^whole: a table is expected, not 3$"):
        made(Whole, 3, "whole", {})
