"""Workloads that are graphs: single operators, layers and whole encoders."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Final, TypeVar

from numpy.typing import NDArray

from celosia.isa.config import did_you_mean
from celosia.isa.numerics import MAX_COLUMNS
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Attention, Encoder, EncoderLayer, MatrixShape, Softmax
from celosia.sim.workloads.operands import parse_shape
from celosia.sim.workloads.quantized import model_of_file, published_model, random_model
from celosia.sim.workloads.similarity import Texts
from celosia.sim.workloads.texts import tokens_of
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.graph import Graph, Mask
from celosia.sw.models import cases
from celosia.sw.models.cases import Case
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder
from celosia.sw.reference.encoder import BERT_BASE, BERT_LARGE, MINILM, EncoderShape

__all__ = [
    "DEFAULT_TEXTS",
    "MODEL_SUFFIX",
    "GraphJob",
    "attention",
    "elementwise",
    "encoder",
    "encoder_layer",
    "needed",
    "softmax",
]

DEFAULT_TEXTS: Final = (
    "The cat is asleep on the windowsill.",
    "A kitten naps by the window.",
    "The central bank raised interest rates.",
)
"""Two that are alike, and one that is not."""

MODEL_SUFFIX: Final = ".plan"
"""What the name of a quantized encoder's file ends with."""
_OLD_SUFFIX: Final = ".safetensors"
"""What it ended with before."""

_Value = TypeVar("_Value")

_SHAPES: Final = {"minilm": MINILM, "bert-base": BERT_BASE, "bert-large": BERT_LARGE}
_SOFTMAX_TYPES: Final = ("uint8", "int8", "int16")
_MOST_ELEMENTS: Final = MAX_MEMORY_BYTES // 8
"""The most elements of a matrix: int32 in, and as much out at most, fit into memory."""


@dataclass(frozen=True, eq=False)
class GraphJob:
    """A graph with its inputs, and the texts that they are of, if they are of any."""

    case: Case
    texts: Texts | None = None
    step_bytes: int | None = None
    """Bytes that a decoder's step has to read: weights and caches; None: it is no decoder."""

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The only graph."""
        return (self.case.graph,)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a run says before it begins."""
        return ()

    def result(self, output: NDArray[Any]) -> NDArray[Any]:
        """What is shown of the only output."""
        return output


def softmax(options: Softmax, seed: int, _tell: Progress) -> GraphJob:
    """Normalized softmax of random scores."""
    kind = options.out_type or _SOFTMAX_TYPES[0]
    if kind not in _SOFTMAX_TYPES:
        raise InputError(f"--out-type {kind}: softmax has {', '.join(_SOFTMAX_TYPES)}")
    rows, cols = _shape("softmax", options)
    mask = _mask(options)
    with _graph_problems():
        return GraphJob(cases.softmax_case(rows, cols, seed, kind=kind, mask=mask))


def _mask(options: Softmax | Attention) -> Mask:
    if options.window is not None and not options.causal:
        raise InputError(f"--window {options.window}: give --causal, too: it hides later columns")
    return Mask(options.keys, options.causal, window=options.window)


def elementwise(
    name: str, make: Callable[[int, int, int], Case]
) -> Callable[[MatrixShape, int, Progress], GraphJob]:
    """The workload `name` with a case of so many rows, columns and this seed."""

    def job(options: MatrixShape, seed: int, _tell: Progress) -> GraphJob:
        rows, cols = _shape(name, options)
        with _graph_problems():
            return GraphJob(make(rows, cols, seed))

    return job


def attention(options: Attention, seed: int, _tell: Progress) -> GraphJob:
    """Deferred attention of several heads, of random queries, keys and values."""
    heads, rows, width = (
        needed("attention", name, getattr(options, name)) for name in ("heads", "seq", "dim")
    )
    _check_keys(rows)
    _check_elements(f"--heads {heads} --seq {rows} --dim {width}", heads * rows * width)
    mask = _mask(options)
    with _graph_problems():
        case = cases.attention_case(heads, rows, width, seed, mask=mask, dithered=options.dithered)
    return GraphJob(case)


def encoder_layer(options: EncoderLayer, seed: int, tell: Progress) -> GraphJob:
    """One layer with random weights, quantized on random activations."""
    name = needed("encoder-layer", "model", options.model)
    rows = needed("encoder-layer", "seq", options.seq)
    shape = _known_shape(name)
    _check_keys(rows)
    model = random_model(shape.with_layers(2), seed, tell)
    with _graph_problems():
        return GraphJob(cases.encoder_layer_case(model, [rows], seed))


def encoder(options: Encoder, seed: int, tell: Progress) -> GraphJob:
    """A whole encoder: the published one on texts, or one of random weights on random input."""
    name = needed("encoder", "model", options.model)
    if name == "minilm":
        return _texts_job(options, partial(published_model, tell), published=True)
    if name.endswith(MODEL_SUFFIX):
        return _texts_job(options, partial(model_of_file, Path(name)), published=False)
    if name.endswith(_OLD_SUFFIX):
        raise InputError(
            f"--model {name}: files of integer models are plans now: `celosia build minilm -o "
            f"minilm{MODEL_SUFFIX}` makes the published one anew, docs/model-format.md says how "
            "others are made"
        )
    shape = _known_shape(name, f"or a file FILE{MODEL_SUFFIX}")
    if options.text:
        raise InputError(f"--text: not with --model {name}, which has random weights: give --seq")
    rows = needed("encoder", "seq", options.seq)
    if options.layers is not None:
        shape = shape.with_layers(options.layers)
    _check_keys(rows)
    _check_elements(f"--seq {rows}", shape.layers * rows * shape.hidden)
    model = random_model(shape, seed, tell)
    with _graph_problems():
        return GraphJob(cases.encoder_case(model, [rows], seed))


def _texts_job(
    options: Encoder, get_model: Callable[[], QuantizedEncoder], *, published: bool
) -> GraphJob:
    for name in ("layers", "seq"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name}: not with --model {options.model}: give --text")
    texts = options.text or DEFAULT_TEXTS
    tokens = tokens_of(texts)
    model = get_model()
    lengths = [len(each) for each in tokens]
    with _graph_problems():
        graph = model.graph(lengths)
        (source,) = graph.inputs
        case = Case(graph, {source: model.embed(tokens)})
    return GraphJob(case, Texts(model, texts, tokens, published))


def _known_shape(name: str, *others: str) -> EncoderShape:
    if name not in _SHAPES:
        near = did_you_mean(name, _SHAPES)
        raise InputError(f"--model {name}: there are {', '.join((*_SHAPES, *others))}{near}")
    return _SHAPES[name]


def _shape(workload: str, options: MatrixShape) -> tuple[int, int]:
    """The rows and columns that option ``--shape`` gives; `InputError` if it is malformed."""
    text = needed(workload, "shape", options.shape, "RxC")
    rows, cols = parse_shape(text, "RxC")
    if min(rows, cols) < 1:
        raise InputError(f"--shape {text}: rows and columns must be at least 1")
    _check_elements(f"--shape {text}", prod((rows, cols)))
    return rows, cols


def _check_keys(rows: int) -> None:
    if rows > MAX_COLUMNS:
        raise InputError(f"--seq {rows}: is more than the {MAX_COLUMNS} keys of the longest row")


def _check_elements(place: str, elements: int) -> None:
    if elements > _MOST_ELEMENTS:
        raise InputError(
            f"{place}: {elements:,} elements are more than the {_MOST_ELEMENTS:,} that the "
            f"{MAX_MEMORY_BYTES:,} bytes of the largest memory hold"
        )


def needed(workload: str, name: str, value: _Value | None, form: str | None = None) -> _Value:
    """An option's value.  Raises `InputError` if it is not given."""
    if value is None:
        raise InputError(f"{workload}: give --{name} {form or name.upper()}")
    return value


@contextmanager
def _graph_problems() -> Iterator[None]:
    """Turn what makes no graph into `InputError`."""
    try:
        yield
    except ValueError as error:
        raise InputError(str(error)) from None
