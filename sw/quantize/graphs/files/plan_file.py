"""Quantized models as files: a zip of JSON, of the text of integer graphs, and of arrays.

Nothing in it is executed when it is read, and reading it needs no onnx.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final
from zipfile import ZipFile, ZipInfo

import numpy as np

from celosia.isa.foreign_file import MIB, ForeignFileError, open_foreign, parse_json
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.mlir.print_graph import print_graph
from celosia.sw.mlir.read_graph import parse_graph
from celosia.sw.quantize.graphs.emit import Segment
from celosia.sw.quantize.graphs.files.archives import DAMAGE, check_archive
from celosia.sw.quantize.graphs.files.plan_check import check_plan
from celosia.sw.quantize.graphs.formats import Format
from celosia.sw.quantize.graphs.quantized import QuantizedGraph
from celosia.sw.quantize.graphs.segments import Form
from celosia.sw.quantize.graphs.units import Value

__all__ = ["FORMAT", "PlanFileError", "load_model_plan", "save_model_plan"]

FORMAT: Final = "celosia.model_plan/2"
"""What the file calls itself: another number is another layout."""

_DOCUMENT: Final = "plan.json"
_DIGEST: Final = "digest"
"""The member with the digest of all others: a plan that was damaged is not half understood."""
_MOST_BYTES: Final = 8 << 30
_MOST_PACKED: Final = 64
"""How many times its own bytes a plan may have unpacked.  As it is written it is not packed at all;
who packs its weights and texts saves less than half, or a few times; an archive that was written to
hurt has a thousand times its own.
"""
_PIECE_BYTES: Final = MIB


class PlanFileError(ValueError):
    """A file that is no plan, is not whole, or is of another version."""


def save_model_plan(model: QuantizedGraph, setting: Mapping[str, Any], file: BinaryIO) -> None:
    """Write `model`, and a `setting` of JSON values that `load_model_plan` returns."""
    arrays: dict[str, Array] = {}

    def stored(array: Array) -> str:
        name = f"arrays/{len(arrays)}.npy"
        arrays[name] = array
        return name

    forms = {form: [form.key, form.role] for form in model.formats}
    document = {
        "format": FORMAT,
        "setting": dict(setting),
        "name": model.name,
        "inputs": {name: _kind(kind) for name, kind in model.inputs.items()},
        "outputs": dict(model.outputs),
        "constants": {name: stored(value) for name, value in model.constants.items()},
        "host": [[_node(node) for node in level] for level in model.host],
        "converted": [[form.key, form.role, at] for form, at in model.converted.items()],
        "values": [
            [each.tensor, each.heads, each.copies, each.scores] for each in model.values.values()
        ],
        "types": {name: _kind(kind) for name, kind in model.types.items()},
        "formats": [
            [*forms[form], found.type, stored(found.steps), found.zero_point]
            for form, found in model.formats.items()
        ],
        "reads": {name: [form.key, form.role] for name, form in model.reads.items()},
        "masks": list(model.masks),
        "segments": [
            {
                "graph": f"segments/{number}.mlir",
                "constants": {name: stored(value) for name, value in each.graph.constants.items()},
                "inputs": {name: [form.key, form.role] for name, form in each.inputs.items()},
                "outputs": {name: [form.key, form.role] for name, form in each.outputs.items()},
                "keys": {name: list(keys) for name, keys in each.keys.items()},
                "operators": each.operators,
            }
            for number, each in enumerate(model.segments)
        ],
    }
    members = {_DOCUMENT: json.dumps(document).encode()}
    for number, segment in enumerate(model.segments):
        members[f"segments/{number}.mlir"] = print_graph(segment.graph).encode()
    for name, array in arrays.items():
        buffer = BytesIO()
        np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
        members[name] = buffer.getvalue()
    with ZipFile(file, "w") as archive:
        digest = _digest((name, len(data), [data]) for name, data in members.items())
        for name, data in (members | {_DIGEST: digest}).items():
            archive.writestr(name, data)


def load_model_plan(path: Path) -> tuple[QuantizedGraph, dict[str, Any]]:
    """The model in a file, and the setting it was saved with.

    Raises `PlanFileError` that names the file for one that is no plan, is not whole, or has
    another format: before anything but its first part is in memory.
    """
    try:
        with open_foreign(path, _MOST_BYTES) as file, ZipFile(file) as archive:
            check_archive(archive, _MOST_PACKED * os.fstat(file.fileno()).st_size)
            document = parse_json(archive.read(_DOCUMENT))
            if document.get("format") != FORMAT:
                raise PlanFileError(
                    f"{path}: is of format {document.get('format')!r}, not {FORMAT}: build it anew"
                )
            if not _is_whole(archive):
                raise PlanFileError(f"{path}: is no whole plan: its digest is another one")
            members = {name: archive.read(name) for name in archive.namelist()}
            model, setting = _model(members, document), document["setting"]
            check_plan(model)
            return model, setting
    except (PlanFileError, ForeignFileError) as error:
        raise PlanFileError(str(error)) from None
    except DAMAGE as error:
        raise PlanFileError(f"{path}: is no whole plan: {error}") from None


def _model(members: Mapping[str, bytes], document: dict[str, Any]) -> QuantizedGraph:
    def array(name: str) -> Array:
        return np.lib.format.read_array(BytesIO(members[name]), allow_pickle=False)

    def segment(found: dict[str, Any]) -> Segment:
        constants = {name: array(place) for name, place in found["constants"].items()}
        return Segment(
            graph=parse_graph(members[found["graph"]].decode(), constants),
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
        constants={name: array(place) for name, place in document["constants"].items()},
        host=tuple(tuple(map(_read_node, level)) for level in document["host"]),
        converted={Form(key, role): at for key, role, at in document["converted"]},
        segments=tuple(map(segment, document["segments"])),
        values={value.key: value for value in values},
        types={name: _type(kind) for name, kind in document["types"].items()},
        formats={
            Form(key, role): Format(kind, array(steps), zero)
            for key, role, kind, steps, zero in document["formats"]
        },
        reads={name: Form(*form) for name, form in document["reads"].items()},
        masks=tuple(document["masks"]),
    )


def _is_whole(archive: ZipFile) -> bool:
    """Whether all is as it was written; read piece by piece, and nothing of it is kept."""
    members = {member.filename: member for member in archive.infolist()}
    digest = members.pop(_DIGEST, None)
    found = _digest(
        (name, member.file_size, _pieces(archive, member)) for name, member in members.items()
    )
    return digest is not None and archive.read(digest) == found


def _pieces(archive: ZipFile, member: ZipInfo) -> Iterator[bytes]:
    with archive.open(member) as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _digest(members: Iterable[tuple[str, int, Iterable[bytes]]]) -> bytes:
    """What tells other members, or others of their sizes or contents, apart."""
    state = blake2b(digest_size=16)
    for name, size, pieces in sorted(members, key=itemgetter(0)):
        for length, parts in ((len(name.encode()), [name.encode()]), (size, pieces)):
            state.update(length.to_bytes(8, "little"))
            for part in parts:
                state.update(part)
    return state.hexdigest().encode()


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
