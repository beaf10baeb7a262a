"""Quantized models as files: segments' integer graphs as text, formats, and what the host does.

Reading one needs no onnx.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.quantize.graphs.files.plan_check import check_plan
from celosia.sw.quantize.graphs.files.saved_file import SavedFile, read_saved
from celosia.sw.quantize.graphs.quantized import QuantizedGraph
from celosia.sw.quantize.units.segments import Form, Segment
from celosia.sw.quantize.units.units import Value

__all__ = ["FORMAT", "load_model_plan", "save_model_plan"]

FORMAT: Final = "celosia.model_plan/3"
"""What the file calls itself: another number is another layout."""


def save_model_plan(model: QuantizedGraph, setting: Mapping[str, Any], file: BinaryIO) -> None:
    """Write `model`, and a `setting` of JSON values that `load_model_plan` returns."""
    saved = SavedFile()
    document = {
        "format": FORMAT,
        "setting": dict(setting),
        "name": model.name,
        "inputs": {name: _kind(kind) for name, kind in model.inputs.items()},
        "outputs": dict(model.outputs),
        "constants": {name: saved.store(value) for name, value in model.constants.items()},
        "host": [[_node(node) for node in level] for level in model.host],
        "converted": [[form.key, form.role, at] for form, at in model.converted.items()],
        "values": [
            [each.tensor, each.heads, each.copies, each.scores] for each in model.values.values()
        ],
        "types": {name: _kind(kind) for name, kind in model.types.items()},
        "formats": saved.store_formats(model.formats),
        "reads": {name: [form.key, form.role] for name, form in model.reads.items()},
        "masks": list(model.masks),
        "segments": [_segment(saved, number, each) for number, each in enumerate(model.segments)],
    }
    saved.write(document, file)


def _segment(saved: SavedFile, number: int, segment: Segment) -> dict[str, Any]:
    graph = f"segments/{number}.mlir"
    saved.members[graph] = print_graph(segment.graph).encode()
    return {
        "graph": graph,
        "constants": {name: saved.store(value) for name, value in segment.graph.constants.items()},
        "inputs": {name: [form.key, form.role] for name, form in segment.inputs.items()},
        "outputs": {name: [form.key, form.role] for name, form in segment.outputs.items()},
        "keys": {name: list(keys) for name, keys in segment.keys.items()},
        "operators": segment.operators,
    }


def load_model_plan(path: Path) -> tuple[QuantizedGraph, dict[str, Any]]:
    """The model in a file, and the setting it was saved with.

    Raises `PlanFileError` that names the file for one that is no plan, is not whole, or has
    another format: before anything but its first part is in memory.
    """
    with read_saved(path, FORMAT) as (saved, document):
        model, setting = _model(saved, document), document["setting"]
        check_plan(model)
        return model, setting


def _model(saved: SavedFile, document: dict[str, Any]) -> QuantizedGraph:
    def segment(found: dict[str, Any]) -> Segment:
        constants = {name: saved.array(place) for name, place in found["constants"].items()}
        return Segment(
            graph=parse_graph(saved.members[found["graph"]].decode(), constants),
            inputs={name: Form(*form) for name, form in found["inputs"].items()},
            outputs={name: Form(*form) for name, form in found["outputs"].items()},
            keys={name: (keys[0], keys[1]) for name, keys in found["keys"].items()},
            operators=found["operators"],
        )

    values = [Value(*each) for each in document["values"]]
    return QuantizedGraph(
        name=document["name"],
        inputs={name: _type(kind) for name, kind in document["inputs"].items()},
        outputs=document["outputs"],
        constants={name: saved.array(place) for name, place in document["constants"].items()},
        host=tuple(tuple(map(_read_node, level)) for level in document["host"]),
        converted={Form(key, role): at for key, role, at in document["converted"]},
        segments=tuple(map(segment, document["segments"])),
        values={value.key: value for value in values},
        types={name: _type(kind) for name, kind in document["types"].items()},
        formats=saved.formats(document["formats"]),
        reads={name: Form(*form) for name, form in document["reads"].items()},
        masks=tuple(document["masks"]),
    )


def _kind(kind: TensorType) -> list[Any]:
    return [kind.dtype, list(kind.shape)]


def _type(kind: list[Any]) -> TensorType:
    return TensorType(kind[0], tuple(kind[1]))


def _node(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "op": node.op,
        "inputs": list(node.inputs),
        "attributes": dict(node.attributes),
        "type": _kind(node.type),
        "origin": node.origin,
    }


def _read_node(found: dict[str, Any]) -> Node:
    return Node(
        name=found["name"],
        op=found["op"],
        inputs=tuple(found["inputs"]),
        attributes={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in found["attributes"].items()
        },
        type=_type(found["type"]),
        origin=found["origin"],
    )
