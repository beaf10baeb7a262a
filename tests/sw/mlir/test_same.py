"""Two values are the same bit by bit, or the first part is named in which they are not."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from celosia.sw.mlir.same import differing


@dataclass(frozen=True, eq=False)
class Pair:
    """A record that has no equality of its own."""

    one: Any
    other: Any = None


ARRAY = np.arange(3, dtype=np.int8)
WHOLE = Pair({"a": [Pair(ARRAY), 2.0]}, "text")


def test_what_is_built_alike_is_the_same():
    assert differing(WHOLE, Pair({"a": (Pair(ARRAY.copy()), 2.0)}, "text")) is None


@pytest.mark.parametrize(
    ("other", "path"),
    [
        (replace(WHOLE, other="texT"), ".other"),
        (Pair({"b": WHOLE.one["a"]}, "text"), ".one"),
        (Pair({"a": [Pair(ARRAY)]}, "text"), ".one['a']"),
        (Pair({"a": [Pair(ARRAY), 2.5]}, "text"), ".one['a'][1]"),
        (Pair({"a": [Pair(ARRAY + np.int8(1)), 2.0]}, "text"), ".one['a'][0].one"),
        (Pair({"a": [Pair(ARRAY.astype(np.uint8)), 2.0]}, "text"), ".one['a'][0].one"),
        (Pair({"a": [Pair(ARRAY.reshape(3, 1)), 2.0]}, "text"), ".one['a'][0].one"),
        (Pair({"a": [Pair(None), 2.0]}, "text"), ".one['a'][0].one"),
        (Pair({"a": 3}, "text"), ".one['a']"),
    ],
)
def test_the_first_part_that_differs_is_named(other, path):
    assert differing(WHOLE, other) == path
    assert differing(other, WHOLE) == path


def test_records_of_other_classes_differ():
    @dataclass
    class Other:
        one: Any
        other: Any

    assert differing(Pair(1, 2), Other(1, 2)) == ""
