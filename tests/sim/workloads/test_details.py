"""Records of what workloads compute: their options by name, nested or not."""

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import (
    Attention,
    Encoder,
    Matmul,
    OperandFiles,
    ProductForm,
    details_of,
    given,
    option_names,
)
from celosia.sim.workloads.workloads import checked_details, details_for


def test_options_find_their_place_in_a_record_and_its_parts():
    found = details_of(Matmul, {"shape": "2x3x4", "relu": True, "out_type": "int16", "a": None})
    form = ProductForm(relu=True, out_type="int16")
    assert found == Matmul(shape="2x3x4", files=OperandFiles(), form=form)
    assert given(found) == {"shape": "2x3x4", "relu": True, "out_type": "int16"}
    assert given(Matmul()) == {}


def test_a_record_has_the_options_of_its_parts():
    assert [*option_names(Matmul)] == [
        "shape", "a", "b", "bias", "out", "scale", "relu", "transpose_b", "unsigned_a", "out_type",
    ]  # fmt: skip
    assert {*option_names(Encoder)} == {"model", "seq", "text", "layers"}


def test_an_option_that_a_workload_does_not_have_is_refused():
    assert details_for("attention", {"heads": 2}) == Attention(heads=2)
    assert details_for("x.cel", {}) is None
    with pytest.raises(InputError, match=r"^--unsigned-a is no option of attention$"):
        details_for("attention", {"unsigned_a": True})
    with pytest.raises(InputError, match=r"^--shape is no option of x\.cel$"):
        details_for("x.cel", {"shape": "1x1x1"})


def test_a_record_of_another_workload_is_refused():
    assert checked_details("matmul", None) == Matmul()
    with pytest.raises(InputError, match="matmul: Attention is not Matmul, its record"):
        checked_details("matmul", Attention())


@pytest.mark.parametrize("scale", [0.0, -0.0, 0.5])
def test_a_number_that_is_given_counts_if_it_is_0_too(scale):
    assert details_of(Matmul, {"shape": "1x1x1", "scale": scale}).form.scale == scale
    assert details_of(Matmul, {"shape": "1x1x1", "scale": None}).form.scale is None
