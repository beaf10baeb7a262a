"""Runs a recorded program on a Verilator model, with as little around the model as possible.

A script, to be run under valgrind (``python -I -S replay.py ...``), where importing any package
takes minutes: it imports nothing of Celosia's.  `celosia.lab.bench.speed` records what it needs.
"""

import ctypes
import sys
from ctypes import c_char_p, c_uint32, c_uint64, c_void_p

__all__ = ["ENTRY_BYTES", "replay"]

ENTRY_BYTES = 24
"""Bytes of one command in the ring's image."""
RUN_OVER = 0
"""The simulation ends with the program, too."""


def replay(library: str, folder: str, seed: int, edges: int) -> bytes:
    """Run `edges` cycles of the program in `folder` on the model `library`; what memory then holds.

    The folder has `bench` (the C structure `BenchConfig`), `memory` (all of device memory) and
    `ring` (the commands).
    """
    model = ctypes.CDLL(library)
    for name, result, arguments in (
        ("celosia_create", c_void_p, [c_char_p, c_uint32]),
        ("celosia_memory", c_void_p, [c_void_p]),
        ("celosia_load", None, [c_void_p, c_char_p, c_uint64]),
        ("celosia_run", None, [c_void_p, c_uint64, c_uint32]),
        ("celosia_destroy", None, [c_void_p]),
    ):
        function = getattr(model, name)
        function.restype, function.argtypes = result, arguments
    image, ring = _read(folder, "memory"), _read(folder, "ring")
    handle = model.celosia_create(_read(folder, "bench"), seed)
    memory = model.celosia_memory(handle)
    ctypes.memmove(memory, image, len(image))
    model.celosia_load(handle, ring, len(ring) // ENTRY_BYTES)
    model.celosia_run(handle, edges, RUN_OVER)
    result = ctypes.string_at(memory, len(image))
    model.celosia_destroy(handle)
    return result


def _read(folder: str, name: str) -> bytes:
    with open(f"{folder}/{name}", "rb") as file:
        return file.read()


if __name__ == "__main__":
    replay(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
