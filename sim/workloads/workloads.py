"""The workloads by name."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from celosia.isa.config import did_you_mean
from celosia.isa.functions.table import ACTIVATIONS
from celosia.sim.support.extensions import extensions
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.decoder_workload import decoder, decoder_layer
from celosia.sim.workloads.details import (
    Attention,
    Decoder,
    DecoderLayer,
    Details,
    Encoder,
    EncoderLayer,
    ExpressionFile,
    HeldModel,
    Linears,
    Matmul,
    MatrixShape,
    ModelFile,
    SavedModel,
    Softmax,
    details_of,
    option_names,
)
from celosia.sim.workloads.expressions import EXPRESSIONS_SUFFIX, expression
from celosia.sim.workloads.graph_workloads import (
    attention,
    elementwise,
    encoder,
    encoder_layer,
    softmax,
)
from celosia.sim.workloads.models.saved_model import SAVED_SUFFIX
from celosia.sim.workloads.product_workloads import matmul, minilm_linears
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sw.frontend.importer.source.conversion import conversion
from celosia.sw.models import cases

__all__ = [
    "PROGRAM_SUFFIX",
    "WORKLOADS",
    "check_name",
    "checked_details",
    "details_for",
    "is_model",
    "workload_of",
]

PROGRAM_SUFFIX: Final = ".cel"
"""What the name of a program file ends with."""


def is_model(name: str) -> bool:
    """Whether a workload is the file of a model, or of one that `celosia build` has saved."""
    return name not in WORKLOADS and PurePath(name).suffix in _MODELS


def workload_of(name: str) -> ProductWorkload | GraphWorkload | None:
    """The workload `name`, or that of a file with an operator; None: there is none."""
    if name not in WORKLOADS and PurePath(name).suffix == EXPRESSIONS_SUFFIX:
        return replace(_EXPRESSION, make=partial(expression, Path(name)))
    return WORKLOADS.get(name)


def check_name(name: str) -> None:
    """Raise `InputError` if there is no workload `name`, and it is no file of one."""
    if name.endswith(PROGRAM_SUFFIX) or is_model(name) or workload_of(name):
        return
    suffixes = (PROGRAM_SUFFIX, *_MODELS, EXPRESSIONS_SUFFIX)
    files = ", ".join(f"*{suffix}" for suffix in suffixes)
    raise InputError(
        f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}, or give the file of a "
        f"program, a model or an operator ({files}){_instead(name)}"
    )


def details_for(name: str, options: Mapping[str, Any]) -> Details | None:
    """What workload `name` computes with the options that are given; None: it is a program file.

    Raises `InputError` if there is no such workload, or it does not have one of the options.
    """
    check_name(name)
    kind = None if name.endswith(PROGRAM_SUFFIX) else _record(name)
    known = set() if kind is None else {*option_names(kind)}
    for option in options:
        if option not in known:
            text = f"--{option.replace('_', '-')} is no option of {name}"
            saved = kind is SavedModel and option in option_names(ModelFile)
            raise InputError(text + ", which has its calibration" * saved)
    return None if kind is None else details_of(kind, options)


def checked_details(name: str, details: Details | None) -> Any:
    """The details of workload `name`, or those that it has by default.

    Raises `InputError` if there is no such workload, or these are another one's.
    """
    check_name(name)
    if name.endswith(PROGRAM_SUFFIX):
        return details
    kind = _record(name)
    if isinstance(details, HeldModel) and is_model(name):
        return details
    if details is not None and type(details) is not kind:
        raise InputError(f"{name}: {type(details).__name__} is not {kind.__name__}, its record")
    return kind() if details is None else details


def _record(name: str) -> type[Any]:
    """The record of a workload's options."""
    if is_model(name):
        return _MODELS[PurePath(name).suffix]
    found = workload_of(name)
    assert found is not None, name
    return found.details


def _instead(name: str) -> str:
    """What to run instead of something that others have."""
    if way := conversion(name):
        quantized = "; a quantized encoder is --model FILE.plan of the workload encoder"
        also = quantized if name.endswith(".safetensors") else ""
        return f".  {name} is no ONNX file: {way} (docs/models.md){also}"
    if name.startswith("conv"):
        return (
            ".  A convolution is the matmul of its patches (im2col) and its filters; C programs "
            "for Gemmini's tiled_conv_auto run as they are (docs/c-host.md)"
        )
    return did_you_mean(name, WORKLOADS)


_EXPRESSION: Final = GraphWorkload(
    "an operator of one's own, as an expression", ExpressionFile, partial(expression, Path())
)
_MODELS: Final[dict[str, type[Any]]] = {".onnx": ModelFile, SAVED_SUFFIX: SavedModel}
"""What names of models' files end with, and the record of the options of each."""
WORKLOADS: Final[dict[str, ProductWorkload | GraphWorkload]] = {
    "matmul": ProductWorkload(
        "C = act(scale * (A @ B + bias)), of files or of random numbers",
        Matmul,
        matmul,
    ),
    "minilm-linears": ProductWorkload(
        "the products of the first layer of a MiniLM sentence encoder, of a sentence's activations",
        Linears,
        minilm_linears,
    ),
    "softmax": GraphWorkload("softmax of int32 scores over rows, with masks", Softmax, softmax),
    "layernorm": GraphWorkload(
        "layer normalization of int16 to int8 and int16",
        MatrixShape,
        elementwise("layernorm", cases.layernorm_case),
    ),
    "rmsnorm": GraphWorkload(
        "RMS normalization of int16 to int8 and int16, with an epsilon",
        MatrixShape,
        elementwise("rmsnorm", cases.rmsnorm_case),
    ),
    **{
        name: GraphWorkload(
            f"{curve.name} of int32 sums",
            MatrixShape,
            elementwise(name, partial(cases.activation_case, name)),
        )
        for name, curve in ACTIVATIONS.items()
    },
    "residual": GraphWorkload(
        "int32 sums and an int16 stream, added to int16",
        MatrixShape,
        elementwise("residual", cases.residual_case),
    ),
    "multiply": GraphWorkload(
        "two matrices of int16, element by element, to int8",
        MatrixShape,
        elementwise("multiply", cases.multiply_case),
    ),
    "rotate": GraphWorkload(
        "rotary embeddings of a head, int16 to int8",
        MatrixShape,
        elementwise("rotate", cases.rotate_case),
    ),
    "attention": GraphWorkload(
        "attention of several heads: the scores stay on the chip",
        Attention,
        attention,
    ),
    "encoder-layer": GraphWorkload(
        "a layer of an encoder, with random weights", EncoderLayer, encoder_layer
    ),
    "encoder": GraphWorkload(
        "a whole encoder: a quantized MiniLM on texts, or one with random weights",
        Encoder,
        encoder,
    ),
    "decoder": GraphWorkload(
        "a step of a decoder with random weights and caches, the vocabulary's product included",
        Decoder,
        decoder,
    ),
    "decoder-layer": GraphWorkload(
        "a layer of a decoder alone, of a step or of a prefill (--context 0)",
        DecoderLayer,
        decoder_layer,
    ),
    **extensions("workloads"),
}
"""Everything that `celosia run` knows by name."""
