"""Saved models: a zip of JSON, texts and arrays, with a digest of all of it.

Nothing in one is executed when it is read, and no more of it is in memory than its first part
before it is known to be whole.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from celosia.isa.foreign_file import MIB, ForeignFileError, open_foreign, parse_json
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.quantize.graphs.files.archives import DAMAGE, check_archive

__all__ = ["PlanFileError", "SavedFile", "read_saved"]

_DOCUMENT: Final = "plan.json"
_DIGEST: Final = "digest"
"""The member with the digest of all others: a plan that was damaged is not half understood."""
_MOST_BYTES: Final = 8 << 30
_MOST_PACKED: Final = 64
"""How many times its own bytes a plan may have unpacked.  Of what is written only programs are
packed; who packs its weights and texts saves less than half, or a few times; an archive that was
written to hurt has a thousand times its own.
"""
_PIECE_BYTES: Final = MIB
_ANEW: Final = "`celosia build MODEL.onnx -o FILE.plan`, or `celosia build minilm`, makes it anew"


class PlanFileError(ValueError):
    """A file that is no plan, is not whole, or is of another version."""


@dataclass(frozen=True, eq=False)
class SavedFile:
    """The members of a saved model, as they are put together or were read."""

    members: dict[str, bytes] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=dict)
    """Members that are written packed."""
    _names: dict[bytes, str] = field(default_factory=dict)
    """The member of each array, by its digest: what several graphs have is stored once."""

    def store(self, array: Array) -> str:
        """Add an array; returns what the document calls it."""
        buffer = BytesIO()
        np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
        data = buffer.getvalue()
        name = self._names.setdefault(blake2b(data).digest(), f"arrays/{len(self.members)}.npy")
        self.members[name] = data
        return name

    def array(self, name: str) -> Array:
        """The array of this name."""
        return np.lib.format.read_array(BytesIO(self.members[name]), allow_pickle=False)

    def write(self, document: Mapping[str, Any], file: BinaryIO) -> None:
        """Write a document of JSON values and all members: the same bytes for the same model."""
        members = {_DOCUMENT: json.dumps(document).encode(), **self.members, **self.packed}
        digest = _digest((name, len(data), [data]) for name, data in members.items())
        with ZipFile(file, "w") as archive:
            for name, data in (members | {_DIGEST: digest}).items():
                kind = ZIP_DEFLATED if name in self.packed else ZIP_STORED
                archive.writestr(ZipInfo(name), data, kind)


@contextmanager
def read_saved(path: Path, wanted: str) -> Iterator[tuple[SavedFile, dict[str, Any]]]:
    """The members and the document of a saved model of format `wanted`.

    Raises `PlanFileError` that names the file for one that is none, is not whole, or of another
    format; also for whatever a document that somebody else wrote makes of the block inside.
    """
    try:
        with open_foreign(path, _MOST_BYTES) as file, ZipFile(file) as archive:
            check_archive(archive, _MOST_PACKED * os.fstat(file.fileno()).st_size)
            document = parse_json(archive.read(_DOCUMENT))
            if document.get("format") != wanted:
                found = document.get("format")
                raise PlanFileError(f"{path}: is of format {found!r}, not {wanted}: {_ANEW}")
            if not _is_whole(archive):
                raise PlanFileError(f"{path}: is no whole plan: its digest is another one")
            members = {name: archive.read(name) for name in archive.namelist()}
            yield SavedFile(members), document
    except (PlanFileError, ForeignFileError) as error:
        raise PlanFileError(str(error)) from None
    except FileNotFoundError as error:
        raise PlanFileError(f"{path}: {error.strerror}") from None
    except DAMAGE as error:
        raise PlanFileError(f"{path}: is no whole plan: {error}") from None


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
