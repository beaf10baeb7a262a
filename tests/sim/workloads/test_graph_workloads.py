"""Workloads that are graphs: what they are of, and what makes none."""

import pytest

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Attention, Encoder, EncoderLayer, MatrixShape, Softmax
from celosia.sim.workloads.graph_workloads import (
    attention,
    elementwise,
    encoder,
    encoder_layer,
    softmax,
)
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph import Softmax as NormalizedSoftmax
from celosia.sw.ir.graph import Transform
from celosia.sw.models import cases


def test_a_softmax_has_its_shape_its_type_and_its_mask():
    (graph,) = softmax(Softmax(shape="3x5", out_type="int16", keys=4), 0, silent).graphs
    (op,) = graph.ops
    (out,) = graph.outputs
    assert (graph.tensors[out].type, graph.tensors[out].shape) == ("int16", (3, 5))
    assert isinstance(op, Transform)
    assert isinstance(op.finish, NormalizedSoftmax)
    assert op.finish.mask.keys == 4
    (graph,) = softmax(Softmax(shape="3x5"), 0, silent).graphs
    assert graph.tensors[graph.outputs[0]].type == "uint8"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (None, "softmax: give --shape RxC"),
        ("0x4", "--shape 0x4: rows and columns must be at least 1"),
        (f"1x{MAX_MEMORY_BYTES // 8 + 1}", "elements are more than the"),
    ],
)
def test_a_shape_that_is_none_is_refused(shape, said):
    with pytest.raises(InputError, match=said):
        softmax(Softmax(shape=shape), 0, silent)


def test_a_matrix_may_fill_the_largest_memory_with_what_goes_in_and_comes_out():
    """An int32 in and one out are eight bytes for each element."""
    seen = []

    def make(rows, cols, seed):
        seen.append((rows, cols, seed))
        return cases.softmax_case(1, 1, seed)

    most = MAX_MEMORY_BYTES // 8
    elementwise("gelu", make)(MatrixShape(shape=f"2x{most // 2}"), 7, silent)
    assert seen == [(2, most // 2, 7)]
    with pytest.raises(InputError, match=f"{most + 2:,} elements are more than the {most:,}"):
        elementwise("gelu", make)(MatrixShape(shape=f"2x{most // 2 + 1}"), 7, silent)


def test_a_type_that_softmax_has_not_is_refused_with_those_it_has():
    with pytest.raises(InputError, match="--out-type int32: softmax has uint8, int8, int16"):
        softmax(Softmax(shape="3x5", out_type="int32"), 0, silent)


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (
            encoder_layer,
            EncoderLayer(model="bert-bas", seq=4),
            "--model bert-bas: there are minilm",
        ),
        (encoder_layer, EncoderLayer(model="minilm"), "encoder-layer: give --seq"),
        (encoder, Encoder(model="bert-base"), "encoder: give --seq"),
        (encoder, Encoder(), "encoder: give --model"),
        (encoder, Encoder(model="minilm", seq=4), "--seq: not with --model minilm: give --text"),
        (encoder, Encoder(model="minilm", layers=0), "--layers: not with --model minilm"),
        (encoder, Encoder(model="x.safetensors"), "files of integer models are plans now"),
        (encoder, Encoder(model="bert-base", seq=4, text=("a",)), "--text: not with --model bert"),
        (
            encoder_layer,
            EncoderLayer(model="minilm", seq=MAX_COLUMNS + 1),
            f"is more than the {MAX_COLUMNS} keys of the longest row",
        ),
        (
            encoder,
            Encoder(model="bert-base", seq=MAX_COLUMNS, layers=1 << 20),
            "elements are more than the",
        ),
    ],
)
def test_what_makes_no_encoder_is_refused(make, options, said):
    with pytest.raises(InputError, match=said):
        make(options, 0, silent)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Attention(), "attention: give --"),
        (Attention(heads=1, seq=MAX_COLUMNS + 1, dim=4), "keys of the longest row"),
        (Attention(heads=1 << 30, seq=4, dim=4), "elements are more than the"),
    ],
)
def test_attention_is_refused_without_all_that_it_is_of_and_beyond_what_there_is(options, said):
    with pytest.raises(InputError, match=said):
        attention(options, 0, silent)
