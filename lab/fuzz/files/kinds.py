"""The kinds of files that are damaged: how a good one is made, and what reads it."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from celosia.isa.encoding import pack_ring
from celosia.lab.fuzz.files.command import BUILDING_SECONDS, celosia
from celosia.sim.export.silicon.energy.table import DEFAULT_TABLE
from celosia.sw.driver.program_file import parse_program

__all__ = ["KINDS", "FileKind", "kinds"]

_TINY: Final = ("--preset", "tiny", "--sim", "functional")
_MATMUL: Final = ("run", "matmul", *_TINY)

_PROGRAM: Final = """\
.preset tiny
.random 0x80001000 16 7
.check 0x80003000 16
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""
_CONFIG: Final = 'preset = "tiny"\nscratchpad_kib = 32\nnormalization = false\n'
_PATCH: Final = "Fault: f\n--- a/hw/a.py\n+++ b/hw/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"


@dataclass(frozen=True, kw_only=True)
class FileKind:
    """A kind of file."""

    file: str
    """The name of the file that is damaged; nothing: any of them."""
    words: tuple[str, ...]
    """A command that reads it, in the folder of the files; it writes nothing but `out`."""
    make: Callable[[], Mapping[str, bytes]]
    """Good files by name, with what else the command needs."""
    needs: Callable[[], str] = str
    """The package without which the command cannot read it, if there is one."""
    cache_folder: str = ""
    """The folder of the cache, if that is what is damaged: it is made again, never refused."""
    weight: float = 1.0
    """How often the kind is drawn, beside others."""


def kinds(chosen: tuple[str, ...] = ()) -> dict[str, FileKind]:
    """The kinds that this installation can read, or those of them that are `chosen`."""
    return {
        name: kind
        for name, kind in KINDS.items()
        if (not chosen or name in chosen) and (not kind.needs() or find_spec(kind.needs()))
    }


def _text(name: str, text: str) -> Callable[[], Mapping[str, bytes]]:
    return lambda: {name: text.encode()}


def _arrays() -> Mapping[str, bytes]:
    return {"a.npy": _npy(np.ones((3, 4), np.int8)), "b.npy": _npy(np.ones((4, 5), np.int8))}


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@cache
def _run() -> Mapping[str, bytes]:
    """Two runs on the RTL of one program, one of them in a slower memory."""
    words = ("run", "matmul", "--preset", "tiny", "--shape", "9x8x20")
    return {
        "r.json": _written((*words, "--json", "out")),
        "s.json": _written((*words, "--mem-latency", "90", "--json", "out")),
        "t.toml": DEFAULT_TABLE.encode(),
    }


def _plan() -> Mapping[str, bytes]:
    words = ("compile", "matmul", "--preset", "tiny", "--shape", "9x8x20")
    return {"p.plan": _written((*words, "--print-after", "plan", "-o", "out"))}


def _written(words: tuple[str, ...]) -> bytes:
    """What a command writes into the file `out`; the file is removed."""
    ended = celosia(words, seconds=BUILDING_SECONDS)
    assert ended.code == 0, ended.output
    data = Path("out").read_bytes()
    Path("out").unlink()
    return data


def _model() -> Mapping[str, bytes]:
    """A small encoder with tables for the published tokenizer."""
    cases = import_module("celosia.sw.models.cases")
    shape = import_module("celosia.sw.reference.encoder").EncoderShape
    tables = import_module("celosia.sw.quantize.encoders.encoder").Tables
    save = import_module("celosia.sw.quantize.encoders.encoder_file").save_encoder
    model = cases.random_quantized_encoder(shape(layers=1, width=16, heads=2, hidden=32), 1)
    ones = tables(*(np.ones((rows, 16), np.int16) for rows in (30522, 256)))
    file = io.BytesIO()
    save(replace(model, tables=ones), file)
    return {"e.plan": file.getvalue()}


def _package() -> str:
    """The package of the published tokenizer."""
    return import_module("celosia.sw.reference.published").PACKAGE.replace("-", "_")


def _onnx() -> Mapping[str, bytes]:
    exports = import_module("celosia.lab.exports.catalog").EXPORTS
    size = import_module("celosia.lab.exports.writing.size").SMALL
    return {"m.onnx": exports["bert-17"].build(size).SerializeToString()}


_SIZES: Final = ("--dim", "batch=1", "--dim", "sequence=4")


@cache
def _built() -> Mapping[str, bytes]:
    """A quantized model, as `celosia build` saves it."""
    with TemporaryDirectory() as folder:
        model, saved = Path(folder) / "m.onnx", Path(folder) / "m.plan"
        model.write_bytes(_onnx()["m.onnx"])
        words = ("build", f"{model}", "-o", f"{saved}", *_SIZES, "--preset", "tiny")
        ended = celosia(words, seconds=BUILDING_SECONDS)
        assert ended.code == 0, ended.output
        return {"m.plan": saved.read_bytes(), "x.npz": _inputs()}


def _inputs() -> bytes:
    exports = import_module("celosia.lab.exports.catalog").EXPORTS
    size = import_module("celosia.lab.exports.writing.size").SMALL
    given: dict[str, Any] = exports["bert-17"].inputs(size, 0, batch=1, tokens=4)
    file = io.BytesIO()
    np.savez(file, **given)
    return file.getvalue()


def _cache() -> Mapping[str, bytes]:
    """A cache that holds a simulator, in the folder `cache`."""
    ended = celosia(_SIMULATED, "cache", BUILDING_SECONDS)
    assert ended.code == 0, ended.output
    paths = [path for path in Path("cache").rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in paths}


_SIMULATED: Final = ("run", "matmul", "--preset", "tiny", "--shape", "4x4x4")

_REPORT: Final = {
    "explain": ("explain", "r.json"),
    "top": ("top", "r.json"),
    "compare": ("compare", "r.json", "s.json", "--report", "out"),
    "annotate": ("asm", "--annotate", "r.json", "-o", "out"),
    "energy": ("energy", "r.json"),
}

KINDS: Final[Mapping[str, FileKind]] = {
    "program": FileKind(
        file="p.cel",
        words=("run", "p.cel", "--sim", "functional"),
        make=_text("p.cel", _PROGRAM),
    ),
    "assembly": FileKind(
        file="p.s",
        words=("asm", "p.s", "-o", "out"),
        make=_text("p.s", "".join(_PROGRAM.splitlines(keepends=True)[3:])),
    ),
    "ring": FileKind(
        file="r.bin",
        words=("disasm", "r.bin"),
        make=lambda: {"r.bin": pack_ring(parse_program(_PROGRAM).commands)},
    ),
    "configuration": FileKind(
        file="c.toml", words=("config", "show", "c.toml"), make=_text("c.toml", _CONFIG)
    ),
    "array": FileKind(file="a.npy", words=(*_MATMUL, "--a", "a.npy", "--b", "b.npy"), make=_arrays),
    "patch": FileKind(
        file="f.patch", words=("mutate", "--patch", "f.patch"), make=_text("f.patch", _PATCH)
    ),
    "plan": FileKind(
        file="p.plan",
        words=(
            *("compile", "matmul", "--preset", "tiny", "--shape", "9x8x20"),
            *("--plan", "p.plan", "-o", "out"),
        ),
        make=_plan,
    ),
    "model": FileKind(
        file="e.plan",
        words=("run", "encoder", *_TINY, "--model", "e.plan", "--text", "One."),
        make=_model,
        needs=_package,
    ),
    "onnx": FileKind(
        file="m.onnx",
        words=("check", "m.onnx", *_SIZES),
        make=_onnx,
        needs=lambda: "onnx",
    ),
    "built model": FileKind(
        file="m.plan",
        words=("run", "m.plan", *_TINY, "--input", "x.npz"),
        make=_built,
        needs=lambda: "onnx",
        weight=0.3,
    ),
    "inputs": FileKind(
        file="x.npz",
        words=("run", "m.plan", *_TINY, "--input", "x.npz"),
        make=_built,
        needs=lambda: "onnx",
        weight=0.3,
    ),
    "energies": FileKind(file="t.toml", words=("energy", "r.json", "--table", "t.toml"), make=_run),
    "cache": FileKind(file="", words=_SIMULATED, make=_cache, cache_folder="cache", weight=0.02),
    **{
        f"report of {name}": FileKind(file="r.json", words=words, make=_run)
        for name, words in _REPORT.items()
    },
}
