"""What is typed of sizes and inputs, and which of several saved sizes is meant."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import (
    ModelRun,
    Prepared,
    parse_fixed,
    parse_profiles,
    parse_sizes,
    prepare,
)
from celosia.sim.workloads.models.saved_model import chosen
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES


def test_sizes_are_whole_numbers_by_name():
    assert parse_sizes([]) == {}
    assert parse_sizes(["batch=1", "a=b=0", "batch=1"]) == {"batch": 1, "a=b": 0}
    assert parse_sizes([f"n={'9' * 18}"]) == {"n": 10**18 - 1}
    for text in ("batch", "=1", "batch=", "batch=-1", "batch=1.5", "n=²", f"n={'9' * 19}"):
        with pytest.raises(InputError, match=f"^--dim {text}: is not NAME=N with a whole number$"):
            parse_sizes([text])
    with pytest.raises(InputError, match=r"^--dim n=2: n is 1 already$"):
        parse_sizes(["n=1", "n=2"])


def test_profiles_are_all_combinations_in_the_order_of_what_was_typed():
    assert parse_profiles([]) == ({},)
    assert parse_profiles(["b=1", "s=8", "s=4", "b=1"]) == ({"b": 1, "s": 8}, {"b": 1, "s": 4})
    many = [f"{name}={size}" for name in "ab" for size in range(8)]
    assert len(parse_profiles(many)) == 64
    with pytest.raises(InputError, match=r"^--dim: 72 sizes are more than 64$"):
        parse_profiles([*many, "a=8"])


def test_numbers_of_inputs_are_kept_as_texts():
    assert parse_fixed(["x=1e3", "a=b=-0"]) == {"x": "1e3", "a=b": "-0"}
    for text in ("x", "=1", "x="):
        with pytest.raises(InputError, match=f"^--set-input {text}: is not NAME=VALUE$"):
            parse_fixed([text])
    with pytest.raises(InputError, match=r"^--set-input x=2: x is 1 already$"):
        parse_fixed(["x=1", "x=2"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"per_tensor": True}, "--per-tensor: not with --optimize"),
        ({"precision": object()}, "--precision: not with --optimize"),
        ({"weights": WEIGHT_CHOICES["int4"]}, "--weights: not with --optimize"),
    ],
)
def test_what_is_rewritten_has_eight_bits_and_a_scale_for_each_column(options, said):
    job = ModelRun(Path("no.onnx"), {}, costs=cast(Any, object()), **options)
    with pytest.raises(InputError, match=said):
        prepare(job, 0)


def saved(**sizes):
    """A model for these sizes: its input x has that shape."""
    model = SimpleNamespace(inputs={"x": TensorType("float32", tuple(sizes.values()))})
    return Prepared(model=cast(Any, model), placement=cast(Any, None), notes=(), sizes=sizes)


SHORT, LONG = saved(b=1, s=8), saved(b=1, s=16)
BOTH = (SHORT, LONG)
KNOWN = "b=1 s=8; b=1 s=16"


def typed(*shape, name="x"):
    return [(name, TensorType("float32", shape))]


def test_the_saved_size_is_the_one_that_was_asked_for():
    assert chosen(BOTH, "m.plan", {"s": 16}) is LONG
    assert chosen(BOTH, "m.plan", {"b": 1, "s": 8}) is SHORT
    assert chosen(BOTH, "m.plan", {}, typed(1, 16)) is LONG
    assert chosen((LONG,), "m.plan", {}) is LONG
    # What alone is saved says itself what is wrong with the inputs.
    assert chosen((LONG,), "m.plan", {}, typed(1, 8)) is LONG
    assert chosen((SHORT, SHORT), "m.plan", {}, typed(1, 8)) is SHORT


@pytest.mark.parametrize(
    ("sizes", "types", "said"),
    [
        ({"s": 4}, None, f"--dim s=4: m.plan is saved for {KNOWN}"),
        ({"s": 8, "q": 1}, None, f"--dim s=8 --dim q=1: m.plan is saved for {KNOWN}"),
        ({}, None, f"m.plan: give --dim or --input: it is saved for {KNOWN}"),
        ({"b": 1}, None, f"m.plan: give --dim or --input: it is saved for {KNOWN}"),
        ({}, typed(1, 4), f"m.plan: its inputs are of no size that it is saved for: {KNOWN}"),
        ({}, typed(1, 8, name="y"), "m.plan: its inputs are of no size that it is saved for"),
    ],
)
def test_sizes_that_are_not_there_or_not_clear_are_refused(sizes, types, said):
    with pytest.raises(InputError) as told:
        chosen(BOTH, "m.plan", sizes, types)
    assert str(told.value).startswith(said)


def test_a_model_without_names_for_sizes_has_those_of_its_file():
    with pytest.raises(InputError, match=r"^--dim s=4: m is saved for the sizes of its file$"):
        chosen((saved(),), "m", {"s": 4})
