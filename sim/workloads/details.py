"""What a workload computes: a record for each kind of workload, of the options that it has.

Any option may be left out; what a workload cannot do without, it asks for by the option's name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from celosia.sw.quantize.ranges import Clip

__all__ = [
    "Attention",
    "Branches",
    "Decoder",
    "DecoderLayer",
    "Details",
    "Encoder",
    "EncoderLayer",
    "ExpressionFile",
    "HeldModel",
    "Linears",
    "Matmul",
    "MatrixShape",
    "ModelFile",
    "OperandFiles",
    "ProductForm",
    "SavedModel",
    "Softmax",
    "details_of",
    "given",
    "option_names",
]

_Record = TypeVar("_Record")


@dataclass(frozen=True, kw_only=True)
class OperandFiles:
    """Files of operands, and of the result."""

    a: Path | None = None
    b: Path | None = None
    bias: Path | None = None
    out: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ProductForm:
    """What is computed beside the sums of a product."""

    scale: float | None = None
    relu: bool = False
    transpose_b: bool = False
    unsigned_a: bool = False
    out_type: str | None = None


@dataclass(frozen=True, kw_only=True)
class Matmul:
    """A product, of files or of random numbers."""

    shape: str | None = None
    """``MxNxK``."""
    files: OperandFiles = field(default_factory=OperandFiles)
    form: ProductForm = field(default_factory=ProductForm)


@dataclass(frozen=True, kw_only=True)
class Linears:
    """The products of a layer, of a text's activations."""

    text: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MatrixShape:
    """An operator of a matrix."""

    shape: str | None = None
    """``RxC``."""


@dataclass(frozen=True, kw_only=True)
class Softmax(MatrixShape):
    """Softmax over rows with masks."""

    out_type: str | None = None
    keys: int | None = None
    causal: bool = False
    window: int | None = None
    """Keys that a row sees at most, its own the last."""


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Attention of several heads."""

    heads: int | None = None
    seq: int | None = None
    dim: int | None = None
    """Columns of each head."""
    keys: int | None = None
    causal: bool = False
    window: int | None = None
    """Keys that a row sees at most, its own the last."""
    dithered: bool = False


@dataclass(frozen=True, kw_only=True)
class EncoderLayer:
    """A layer of an encoder."""

    model: str | None = None
    seq: int | None = None


@dataclass(frozen=True, kw_only=True)
class Encoder(EncoderLayer):
    """A whole encoder."""

    text: tuple[str, ...] = ()
    layers: int | None = None


@dataclass(frozen=True, kw_only=True)
class Branches:
    """A graph with branches."""

    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class DecoderLayer:
    """A layer of a decoder."""

    model: str | None = None
    context: str | None = None
    """Tokens in the caches: ``N``, or ``N,N`` of several texts."""
    rows: int | None = None
    weights: str | None = None
    """One of `WEIGHT_CHOICES`; None: int8."""


@dataclass(frozen=True, kw_only=True)
class Decoder(DecoderLayer):
    """A step of a decoder."""

    layers: int | None = None


@dataclass(frozen=True, kw_only=True)
class ExpressionFile:
    """An operator of one's own, in a Python file."""

    input: Path | None = None
    """Its inputs, in an .npz file."""
    out: Path | None = None
    """Where the result goes."""


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    """A model that `celosia build` has saved: it has its calibration, and some sizes."""

    input: Path | None = None
    """Its inputs, in an .npz file."""
    dim: tuple[str, ...] = ()
    """Sizes, each as ``NAME=N``: those that a file leaves open, or some that one is saved for."""


@dataclass(frozen=True, kw_only=True)
class HeldModel(SavedModel):
    """A saved model that is not in a file, with its inputs: two are equal if their digests are."""

    digest: str = ""
    model: bytes = field(default=b"", repr=False, compare=False)
    """The file that `celosia build` would have written."""
    inputs: bytes = field(default=b"", repr=False, compare=False)
    """An .npz file of inputs; empty: there are none."""


@dataclass(frozen=True, kw_only=True)
class ModelFile(SavedModel):
    """A model of another tool."""

    beside: tuple[Path, ...] = ()
    """Files whose models are in the same graph: their names begin with those of their files."""
    set_input: tuple[str, ...] = ()
    """Inputs that are a number in all of their elements, each as ``NAME=VALUE``."""
    calibrate: Path | None = None
    """What ranges are chosen by."""
    clip: Clip = "error"
    """Where values of 8 bits are clipped."""
    per_tensor: bool = False
    """Products have one scale, and the host computes what stores do not finish."""
    weights: str | None = None
    """One of `WEIGHT_CHOICES`; None: int8."""
    precision: str | None = None
    """The file that says which products have which weights, or ``auto``; None: `weights` does."""
    least_sqnr: float | None = None
    """The least dB that ``auto`` has to reach."""
    most_cycles: int | None = None
    """The most predicted cycles that ``auto`` may take."""


Details = (
    Matmul
    | Linears
    | MatrixShape
    | Softmax
    | Attention
    | EncoderLayer
    | Encoder
    | Branches
    | DecoderLayer
    | Decoder
    | ExpressionFile
    | SavedModel
    | HeldModel
    | ModelFile
)


def option_names(record: type[Any]) -> Iterator[str]:
    """The names of a record's options, those of its parts included."""
    for name, part in _parts(record).items():
        yield from [name] if part is None else option_names(part)


def given(record: Any) -> dict[str, Any]:
    """The options of a record that are not as they are by default."""
    found: dict[str, Any] = {}
    for each in fields(record):
        value = getattr(record, each.name)
        if is_dataclass(value):
            found |= given(value)
        elif value != each.default:
            found[each.name] = value
    return found


def details_of(record: type[_Record], options: Mapping[str, Any]) -> _Record:
    """The record with these options, each by its name; options that it does not have are left."""
    values = {
        name: options.get(name) if part is None else details_of(part, options)
        for name, part in _parts(record).items()
    }
    return record(**{name: value for name, value in values.items() if value is not None})


def _parts(record: type[Any]) -> dict[str, type[Any] | None]:
    """The fields of a record, with the record that is a part of it, or None for an option."""
    return {
        each.name: each.default_factory
        if isinstance(each.default_factory, type) and is_dataclass(each.default_factory)
        else None
        for each in fields(record)
    }
