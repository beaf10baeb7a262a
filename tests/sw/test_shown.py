"""How much a person is shown of what is long: each number stands here, and once there."""

from pathlib import Path

import pytest

from celosia.sw.frontend.importer.import_model import _prefixes
from celosia.sw.ir.graphs.picture import _cut
from celosia.sw.planning.forms.text import _value
from celosia.sw.rewriting.mistakes import told


def test_names_take_64_characters_from_a_file():
    assert _prefixes([Path("x" * 80 + ".onnx")] * 2) == ["x" * 64 + "/", "x" * 64 + "_2/"]


@pytest.mark.parametrize(("length", "shown"), [(28, 28), (29, 13 + 3 + 12)])
def test_a_box_has_28_characters_of_a_name(length, shown):
    assert len(_cut("x" * length)) == shown


def test_a_list_of_lists_is_a_line_of_up_to_100_columns():
    fits, longer = (("x" * 94,),), (("x" * 95,),)
    assert len(_value(fits)) == len('[["' + "x" * 94 + '"]]') == 100
    assert _value(longer).count("\n") == 2


def test_200_characters_of_a_mistake_are_told():
    words = " ".join(["word"] * 50)
    assert told(ValueError(words[:199])) == f"ValueError: {words[:199].strip()}"
    assert len(told(ValueError(words + " and more")).removeprefix("ValueError: ")) <= 200
    assert told(ValueError("x" * 200)) == "ValueError: " + "x" * 200
    assert told(ValueError("x" * 201)) == "ValueError: ..."
