"""Reads the protobuf of a model, and checks what can be known before a node is looked at."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError
from onnx import FunctionProto, GraphProto, ModelProto, TensorProto
from onnx.shape_inference import InferenceError
from onnx.version_converter import ConvertError, convert_version

from celosia.isa.foreign_file import ForeignFileError, read_foreign
from celosia.sw.frontend.importer.source.conversion import conversion
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.importer.source.tensors import stored_bytes

__all__ = ["DEFAULT_DOMAIN", "OPSETS", "Model", "checked_model", "domain_name", "read_model"]

OPSETS: Final = range(11, 29)
"""Versions of ONNX's own operators that are known."""
_UPGRADED: Final = range(7, OPSETS[0])
"""Versions that onnx's converter makes the first known one of."""
DEFAULT_DOMAIN: Final = ""
_MOST_BYTES: Final = (2 << 30) - 1
"""What protobuf can read at once."""


@dataclass(frozen=True)
class Model:
    """A model as its file has it."""

    proto: ModelProto
    opsets: Mapping[str, int]
    """The version of each domain that it imports."""
    functions: Mapping[tuple[str, str], FunctionProto]
    """Its own functions, by domain and name."""
    folder: Path | None
    """Where data outside of the file may be; None if there is no file."""
    upgraded: int | None = None
    """The version of ONNX's own operators in the file, if it was too old."""

    @property
    def graph(self) -> GraphProto:
        """The main graph."""
        return self.proto.graph


def domain_name(domain: str) -> str:
    """One name of each domain: ONNX's own has two."""
    return DEFAULT_DOMAIN if domain == "ai.onnx" else domain


def read_model(path: Path) -> Model:
    """The model in the file at `path`.  Raises `ImportProblem` that names file and reason."""
    try:
        data = read_foreign(path, _MOST_BYTES)
    except ForeignFileError as error:
        raise ImportProblem(str(error)) from None
    try:
        proto = ModelProto.FromString(data)
    except (DecodeError, RecursionError):
        way = f": {found}" if (found := conversion(path.name)) else ", or one that is cut short"
        raise ImportProblem(f"{path}: not an ONNX file{way}") from None
    try:
        return checked_model(proto, path.parent)
    except ImportProblem as error:
        raise ImportProblem(f"{path}: {error}") from None


def checked_model(proto: ModelProto, folder: Path | None = None) -> Model:
    """`proto`, if its version is known and its tensors fit this machine's memory."""
    if not proto.HasField("graph") or not proto.opset_import:
        raise ImportProblem("it has no graph or imports no operators: this is no ONNX model")
    if not proto.graph.output:
        raise ImportProblem("its graph has no outputs")
    opsets = {domain_name(each.domain): each.version for each in proto.opset_import}
    version = opsets.get(DEFAULT_DOMAIN)
    if version is not None and version not in OPSETS and version not in _UPGRADED:
        known = f"{_UPGRADED[0]} to {OPSETS[-1]}"
        raise ImportProblem(f"it imports opset {version}; known are {known}")
    _check_memory(proto.graph)
    old = version if version in _UPGRADED else None
    if old is not None:
        proto, opsets = _upgraded(proto, old), opsets | {DEFAULT_DOMAIN: OPSETS[0]}
    functions = {(domain_name(each.domain), each.name): each for each in proto.functions}
    return Model(proto, opsets, functions, folder, old)


def _upgraded(proto: ModelProto, version: int) -> ModelProto:
    """A model of old operators, with those of the lowest version that is known.

    A higher one changes more than it must: a softmax becomes one between two reshapes.
    """
    try:
        return convert_version(proto, OPSETS[0])
    except (ConvertError, InferenceError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).rpartition(" failed: ")[2].split())
        raise ImportProblem(
            f"it imports opset {version}, which onnx's converter cannot upgrade to {OPSETS[0]}: "
            f"{reason}"
        ) from None


def _check_memory(graph: GraphProto) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for tensor in _tensors(graph):
        if min(tensor.dims, default=0) < 0:
            raise ImportProblem(f"tensor {tensor.name}: its sizes are {tuple(tensor.dims)}")
    needed = sum(map(stored_bytes, _tensors(graph)))
    if needed > memory:
        raise ImportProblem(
            f"its tensors have {needed:,} bytes, more than this machine's memory of {memory:,}"
        )


def _tensors(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
