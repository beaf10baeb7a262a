"""The files of an exported design: all of them appear, or none."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from celosia.sim.export.choices import Memories
from celosia.sim.support.output import STANDARD_OUTPUT, check_destination, open_atomically
from celosia.sim.support.problems import OutputError

__all__ = ["check_destinations", "companions", "stands_alone", "write_files"]

_SUFFIXES: Final = {".v", ".sv"}


def stands_alone(output: str) -> bool:
    """Whether nothing can be beside `output`: it is standard output, a pipe or a device."""
    target = Path(os.path.realpath(output))
    special = target.exists() and not target.is_file() and not target.is_dir()
    return output == STANDARD_OUTPUT or special


def companions(output: str, memories: Memories) -> dict[str, Path]:
    """The files beside the Verilog file `output`, by what they are: listing, page, models."""
    path = Path(output)
    stem = path.stem if path.suffix in _SUFFIXES else path.name
    names = {"listing": f"{stem}.f", "page": f"{stem}.md"}
    if memories is Memories.BLACKBOX:
        names["models"] = f"{stem}_memories.v"
    return {kind: path.with_name(name) for kind, name in names.items()}


def check_destinations(output: str, memories: Memories) -> None:
    """Raise `OutputError` if `output`, or a file beside it, can certainly not be written."""
    check_destination(output)
    if not stands_alone(output):
        for path in companions(output, memories).values():
            check_destination(path)


def write_files(texts: Mapping[Path, str]) -> None:
    """Write all of `texts`; none if one of them cannot be written: then raise `OutputError`."""
    with ExitStack() as stack:
        files = [(path, stack.enter_context(open_atomically(path))) for path in texts]
        for path, file in files:
            try:
                file.write(texts[path].encode())
                file.flush()
            except OSError as error:
                raise OutputError(f"{path}: not written: {error.strerror or error}") from error
