"""A step of a decoder with random weights, behind caches of random keys and values."""

from typing import Final

import numpy as np

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.workload_options import WorkloadOptions
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.models.cases import Case
from celosia.sw.models.decoder import CacheLayout, decoder_graph, position_angles
from celosia.sw.models.decoder_shape import (
    GPT2_SMALL,
    OPT_125M,
    TINYLLAMA,
    DecoderShape,
    Text,
)
from celosia.sw.models.random_decoder import random_decoder
from celosia.sw.models.random_operands import int8_matrix, int16_matrix

__all__ = ["DECODERS", "decoder", "step_bytes"]

DECODERS: Final = {"gpt2-small": GPT2_SMALL, "opt-125m": OPT_125M, "tinyllama": TINYLLAMA}
"""The decoders by name."""


def decoder(options: WorkloadOptions, seed: int, tell: Progress) -> GraphJob:
    """A step of a few tokens of one text behind a context, the vocabulary's product included."""
    shape, text = _shape(options), _text(options)
    tell(f"drawing {shape.weights:,} weights", None)
    model = random_decoder(shape, seed)
    graph = decoder_graph(model, [text], text.keys)
    random = np.random.default_rng(seed + 1)
    rows = CacheLayout(1, text.keys).rows
    inputs: dict[str, Array] = {
        name: int8_matrix(random, rows, shape.cache_width)
        for name in graph.inputs
        if graph.tensors[name].cache
    }
    inputs["embedding"] = int16_matrix(random, text.rows, shape.width, model.stream_spread)
    inputs |= position_angles(shape, [text])
    return GraphJob(Case(graph, inputs), step_bytes=step_bytes(shape, text))


def step_bytes(shape: DecoderShape, text: Text) -> int:
    """Bytes that each step has to read: the int8 weights, and keys and values of all layers.

    Padding, bias, scales and copies do not count.
    """
    return shape.weights + 2 * shape.layers * shape.cache_width * text.keys


def _shape(options: WorkloadOptions) -> DecoderShape:
    if options.model is None:
        raise InputError(f"decoder: give --model, one of {', '.join(DECODERS)}")
    if options.model not in DECODERS:
        raise InputError(f"--model {options.model}: there are {', '.join(DECODERS)}")
    shape = DECODERS[options.model]
    if options.layers is not None:
        shape = shape.with_layers(options.layers)
    if shape.weights > MAX_MEMORY_BYTES:
        raise InputError(
            f"--layers {shape.layers}: {shape.weights:,} bytes of weights are more than the "
            f"{MAX_MEMORY_BYTES:,} of the largest memory"
        )
    return shape


def _text(options: WorkloadOptions) -> Text:
    if options.context is None:
        raise InputError("decoder: give --context, the number of tokens in the caches")
    text = Text(options.context, 1 if options.rows is None else options.rows)
    if text.rows < 1 or text.context < 0:
        raise InputError(f"--context {text.context} --rows {text.rows}: that is no step")
    if text.keys > MAX_COLUMNS:
        raise InputError(
            f"--context {text.context} --rows {text.rows}: {text.keys} keys are more than the "
            f"{MAX_COLUMNS} of the longest row"
        )
    return text
