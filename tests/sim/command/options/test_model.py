"""One option has sizes of a model by name, and a number for attention."""

import pytest

from celosia.sim.command.options.model import head_columns
from celosia.sim.support.problems import InputError


def test_attention_has_one_number():
    assert head_columns(["16"]) == 16
    assert head_columns(None) is None


@pytest.mark.parametrize("texts", [["0"], ["x=3"], ["3", "4"], ["-1"], ["9" * 30]])
def test_what_is_no_number_of_columns(texts):
    with pytest.raises(InputError, match="is not one whole number of columns"):
        head_columns(texts)
