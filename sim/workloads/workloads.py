"""The workloads by name."""

from functools import partial
from pathlib import PurePath
from typing import Final

from celosia.isa.config import did_you_mean
from celosia.isa.functions.table import ACTIVATIONS
from celosia.sim.support.extensions import extensions
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.decoder_workload import decoder, decoder_layer
from celosia.sim.workloads.graph_workloads import (
    attention,
    elementwise,
    encoder,
    encoder_layer,
    softmax,
)
from celosia.sim.workloads.product_workloads import matmul, minilm_linears
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sw.frontend.importer.source.conversion import conversion
from celosia.sw.models import cases

__all__ = [
    "PROGRAM_SUFFIX",
    "WORKLOADS",
    "check_options",
]

PROGRAM_SUFFIX: Final = ".cel"
"""What the name of a program file ends with."""


def check_options(name: str, options: WorkloadOptions) -> None:
    """Raise `InputError` if there is no workload `name`, or it does not have one of `options`."""
    program = name.endswith(PROGRAM_SUFFIX)
    if not program and name not in WORKLOADS:
        raise InputError(
            f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}, "
            f"or give a program file (*{PROGRAM_SUFFIX}){_instead(name)}"
        )
    known = frozenset() if program else WORKLOADS[name].options
    for option in options.given():
        if option not in known:
            raise InputError(f"--{option.replace('_', '-')} is no option of {name}")


def _instead(name: str) -> str:
    """What to run instead of something that others have."""
    if PurePath(name).suffix in _READ_ELSEWHERE:
        return (
            ".  Models of other tools are read by run, check, build, optimize and generate "
            "(docs/models.md), not here"
        )
    if way := conversion(name):
        quantized = "; an encoder of integers is --model FILE.safetensors of the workload encoder"
        also = quantized if name.endswith(".safetensors") else ""
        return f".  {name} is no ONNX file: {way} (docs/models.md){also}"
    if name.startswith("conv"):
        return (
            ".  A convolution is the matmul of its patches (im2col) and its filters; C programs "
            "for Gemmini's tiled_conv_auto run as they are (docs/c-host.md)"
        )
    return did_you_mean(name, WORKLOADS)


_READ_ELSEWHERE: Final = frozenset({".onnx", ".plan"})
"""What names of files end with that some commands take in a workload's place."""
_FILES: Final = frozenset({"a", "b", "bias", "out"})
_FORM: Final = frozenset({"scale", "relu", "transpose_b", "unsigned_a", "out_type"})
_SHAPE: Final = frozenset({"shape"})
_MASK: Final = frozenset({"keys", "causal"})

WORKLOADS: Final[dict[str, ProductWorkload | GraphWorkload]] = {
    "matmul": ProductWorkload(
        "C = act(scale * (A @ B + bias)), of files or of random numbers",
        _SHAPE | _FILES | _FORM,
        matmul,
    ),
    "minilm-linears": ProductWorkload(
        "the products of the first layer of a MiniLM sentence encoder, of a sentence's activations",
        frozenset({"text"}),
        minilm_linears,
    ),
    "softmax": GraphWorkload(
        "softmax of int32 scores over rows, with masks", _SHAPE | _MASK | {"out_type"}, softmax
    ),
    "layernorm": GraphWorkload(
        "layer normalization of int16 to int8 and int16",
        _SHAPE,
        elementwise("layernorm", cases.layernorm_case),
    ),
    "rmsnorm": GraphWorkload(
        "RMS normalization of int16 to int8 and int16, with an epsilon",
        _SHAPE,
        elementwise("rmsnorm", cases.rmsnorm_case),
    ),
    **{
        name: GraphWorkload(
            f"{curve.name} of int32 sums",
            _SHAPE,
            elementwise(name, partial(cases.activation_case, name)),
        )
        for name, curve in ACTIVATIONS.items()
    },
    "residual": GraphWorkload(
        "int32 sums and an int16 stream, added to int16",
        _SHAPE,
        elementwise("residual", cases.residual_case),
    ),
    "multiply": GraphWorkload(
        "two matrices of int16, element by element, to int8",
        _SHAPE,
        elementwise("multiply", cases.multiply_case),
    ),
    "rotate": GraphWorkload(
        "rotary embeddings of a head, int16 to int8",
        _SHAPE,
        elementwise("rotate", cases.rotate_case),
    ),
    "attention": GraphWorkload(
        "attention of several heads: the scores stay on the chip",
        frozenset({"heads", "seq", "dim"}) | _MASK,
        attention,
    ),
    "encoder-layer": GraphWorkload(
        "a layer of an encoder, with random weights", frozenset({"model", "seq"}), encoder_layer
    ),
    "encoder": GraphWorkload(
        "a whole encoder: a quantized MiniLM on texts, or one with random weights",
        frozenset({"model", "text", "layers", "seq"}),
        encoder,
    ),
    "decoder": GraphWorkload(
        "a step of a decoder with random weights and caches, the vocabulary's product included",
        frozenset({"model", "layers", "context", "rows"}),
        decoder,
    ),
    "decoder-layer": GraphWorkload(
        "a layer of a decoder alone, of a step or of a prefill (--context 0)",
        frozenset({"model", "context", "rows"}),
        decoder_layer,
    ),
    **extensions("workloads"),
}
"""Everything that `celosia run` knows by name."""
