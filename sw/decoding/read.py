"""Reads the file of a decoder as the float graph of a whole text, whether it has a cache or not.

A text has one token after the other and no padding, so masks and positions are known.  Caches
(``past_key_values``) are empty; what the file says about them (``present``) is left out, since
keys and values of a whole text are all that a step needs.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from celosia.sw.decoding.float_session import check_steps
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.step_graph import TOKENS
from celosia.sw.frontend.importer.import_model import Imported, translate
from celosia.sw.frontend.importer.source.model_file import Model, read_model
from celosia.sw.frontend.importer.source.problems import ImportProblem, Refusal
from celosia.sw.frontend.importer.source.sizes import known_size, size_name
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.recognize.recognize import recognize, recognized_graph

__all__ = ["read_decoder"]

_MASK: Final = "attention_mask"
_POSITIONS: Final = "position_ids"
_BRANCH: Final = "use_cache_branch"
_PAST: Final = re.compile(r"past\w*([._]\w+)*", re.ASCII)
_PRESENT: Final = "present"
_LOGITS: Final = "logits"


def read_decoder(path: Path, length: int) -> FloatGraph:
    """The graph of a text of `length` tokens, behind `recognize`, from tokens to logits.

    Raises `DecoderProblem` that names the file, and what is in the way.
    """
    try:
        model = read_model(path)
    except ImportProblem as error:  # It names the file.
        raise DecoderProblem(str(error)) from None
    try:
        sizes, known = _bind(model, length)
        _keep_logits(model)
        found = translate(model, sizes, known)
        _check_whole(found, length)
        graph = recognized_graph(found.graph)
        _check_steps(graph, found.graph)
    except (ImportProblem, GraphError, Refusal, DecoderProblem) as error:
        raise DecoderProblem(f"{path}: {error}") from None
    return graph


def _check_steps(graph: FloatGraph, file: FloatGraph) -> None:
    """Raise `DecoderProblem` as `check_steps` does; what looks like attention says why it is none.

    `file` is the graph before it was recognized.
    """
    try:
        check_steps(graph)
    except DecoderProblem as error:
        for refusal in recognize(file).refusals:
            if refusal.what == "attention":
                node = file.producers()[refusal.root].origin or refusal.root
                raise DecoderProblem(f"{error}: {node} is no attention: {refusal.reason}") from None
        raise


def _check_whole(found: Imported, length: int) -> None:
    """Raise `DecoderProblem` for a node without a meaning, such as a lookup of a later position."""
    for name, reason in found.lost.items():
        root, why = next(iter(found.refused.items()), (f"output {name}", reason))
        raise DecoderProblem(f"{root}: {why} (for {length} tokens)")


def _bind(model: Model, length: int) -> tuple[dict[str, int], dict[str, Array]]:
    """Numbers for open sizes, and the values of all inputs but the tokens."""
    stored = {tensor.name for tensor in model.graph.initializer}
    inputs = {each.name: each for each in model.graph.input if each.name not in stored}
    if TOKENS not in inputs:
        raise DecoderProblem(f"it has no input {TOKENS}; it has {', '.join(inputs) or 'none'}")
    sizes: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    batch = next((dim.dim_param for dim in inputs[TOKENS].type.tensor_type.shape.dim), "")
    for name, value in inputs.items():
        dims = value.type.tensor_type.shape.dim
        wanted = list(_wanted(name, len(dims), length, [dim.dim_param for dim in dims], batch))
        shape = []
        for axis, (dim, size) in enumerate(zip(dims, wanted, strict=True)):
            known = known_size(dim)
            if known is not None:
                shape.append(known)
                if size is not None and known != size:
                    raise DecoderProblem(
                        f"input {name}: axis {axis} has size {known}, not {size}: export "
                        "it with open sizes"
                    )
                continue
            if size is None:
                raise DecoderProblem(f"input {name}: axis {axis} has no size")
            shape.append(size)
            _note(sizes, size_name(name, axis, dim), size)
        shapes[name] = tuple(shape)
    return sizes, dict(_known(shapes, length))


def _wanted(
    name: str, rank: int, length: int, params: list[str], batch: str
) -> Iterator[int | None]:
    """The size that each axis of an input must have; None: the one that the file says."""
    if name in {TOKENS, _MASK, _POSITIONS}:
        if rank != 2:
            raise DecoderProblem(f"input {name}: it has {rank} axes, not a row for each text")
        yield from (1, length)
    elif name == _BRANCH:
        yield from (1,) * rank
    elif _PAST.fullmatch(name):
        for param in params:
            # Open are texts, and the tokens that the cache holds; heads and columns are known.
            yield None if not param else 1 if param == batch else 0
    else:
        raise DecoderProblem(
            f"input {name}: a decoder has {TOKENS}, {_MASK}, {_POSITIONS} and past_key_values"
        )


def _note(sizes: dict[str, int], param: str, size: int) -> None:
    """Bind a size; sums of others (``past_sequence_length + sequence_length``) follow from them."""
    if "+" in param or "-" in param:
        return
    if sizes.setdefault(param, size) != size:
        raise DecoderProblem(f"size {param}: it would be {sizes[param]} and {size}")


def _known(shapes: Mapping[str, tuple[int, ...]], length: int) -> Iterator[tuple[str, Array]]:
    for name, shape in shapes.items():
        if name == _MASK:
            yield name, np.ones(shape, np.int64)
        elif name == _POSITIONS:
            yield name, np.arange(length).reshape(shape)
        elif name != TOKENS:
            yield name, np.zeros(shape, np.float32)


def _keep_logits(model: Model) -> None:
    """Leave only the logits of a model's outputs."""
    outputs = [each for each in model.graph.output if not each.name.startswith(_PRESENT)]
    found = [each for each in outputs if each.name == _LOGITS] or outputs
    if len(found) != 1:
        names = ", ".join(each.name for each in model.graph.output)
        raise DecoderProblem(f"it has no output {_LOGITS}; it has {names}")
    (kept,) = found
    del model.graph.output[:]
    model.graph.output.append(kept)
