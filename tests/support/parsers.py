"""All that reads what users write: with what it may refuse it, and something that it takes."""

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import FunctionType
from unittest.mock import patch

import numpy as np

from celosia.isa.config import ConfigError
from celosia.isa.encoding import pack_ring
from celosia.isa.presets import parse_override, resolve_config
from celosia.lab.mutate.patch import load_foreign
from celosia.sim.profile.packing import pack, unpack
from celosia.sim.reporting.run_file import read_run
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.origin import as_json
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.cache import CACHE_VARIABLE, sound
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.operands import load_array
from celosia.sw.driver.assembly import disassemble, parse_command
from celosia.sw.driver.program_file import ProgramError, load_program, parse_program
from celosia.sw.frontend.importer.import_model import examine
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder_file import load_encoder, save_encoder
from celosia.sw.quantize.graphs.files.saved_file import PlanFileError
from celosia.sw.reference.encoder import EncoderShape
from tests.support.command_line import PROGRAM
from tests.sw.frontend.importer.models import small_model

__all__ = ["PARSERS", "Parser"]


@dataclass(frozen=True)
class Parser:
    """Reads a file, or refuses it."""

    suffix: str
    read: Callable[[Path], object]
    refusal: type[Exception]
    """What it raises for what it does not take; with a message."""
    good: bytes

    def accepts(self, path: Path) -> bool:
        """Whether it takes the file at `path`; fails if it does anything else than it may."""
        refused = ""
        try:
            self.read(path)
        except self.refusal as error:
            refused = str(error)
            assert refused.strip(), "refused without a word"
        return not refused


def _text(parse: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: parse(path.read_text(errors="replace"))


def _array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones((3, 4), np.int8))
    return file.getvalue()


_TOML = b'preset = "tiny"\nscratchpad_kib = 32\nnormalization = false\n'
_PATCH = b"Fault: f\n--- a/hw/a.py\n+++ b/hw/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"


def _encoder() -> bytes:
    file = io.BytesIO()
    shape = EncoderShape(layers=1, width=4, heads=1, hidden=4)
    save_encoder(random_quantized_encoder(shape, 0), file)
    return file.getvalue()


def _report() -> bytes:
    target = Target(simulator="functional", preset="tiny")
    options = RunOptions(workload="matmul", details=Matmul(shape="3x4x5"), target=target)
    return as_json(run_workload(options).report.document()).encode()


_CONTENTS = b"a built simulator"
_RECORD = {"size": len(_CONTENTS), "digest": blake2b(_CONTENTS, digest_size=16).hexdigest()}


def _sound(path: Path) -> None:
    """Take the file at `path` for the record of a file in a cache."""
    file = path.parent / "cache" / "kind" / "name"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(_CONTENTS)
    file.with_name(".name.record").write_bytes(path.read_bytes())
    with patch.dict(os.environ, {CACHE_VARIABLE: str(path.parent / "cache")}):
        if sound("kind/name") is None:
            raise ValueError("damaged")


PARSERS = {
    "assembly": Parser(
        ".s", _text(parse_command), ValueError, b"mvin dram=0x80001000 local=sp[0] local_cols=4"
    ),
    "ring": Parser(
        ".bin",
        lambda path: disassemble(path.read_bytes()),
        ValueError,
        pack_ring(parse_program(PROGRAM).commands),
    ),
    "program": Parser(".cel", load_program, ProgramError, PROGRAM.encode()),
    "configuration": Parser(".toml", lambda path: resolve_config(str(path)), ConfigError, _TOML),
    "override": Parser(".txt", _text(parse_override), ConfigError, b"dim=0x8"),
    "array": Parser(
        ".npy", lambda path: load_array("--a", path, (np.int8,), 2), InputError, _array()
    ),
    "encoder": Parser(".plan", load_encoder, PlanFileError, _encoder()),
    "report": Parser(".json", lambda path: read_run(str(path)), InputError, _report()),
    "packed": Parser(".txt", _text(unpack), ValueError, pack(np.arange(40)).encode()),
    "cache record": Parser(".record", _sound, ValueError, json.dumps(_RECORD).encode()),
    "onnx": Parser(".onnx", lambda path: examine(path, {}), ImportProblem, small_model()),
    "patch": Parser(".patch", lambda path: load_foreign(str(path)), InputError, _PATCH),
}


def _fuzz(name: str, place: str, arguments: list[str]) -> None:
    """Let atheris look for a file that a parser neither takes nor refuses."""
    atheris = import_module("atheris")

    parser, path = PARSERS[name], Path(place) / f"file{PARSERS[name].suffix}"

    def once(data: bytes) -> None:
        path.write_bytes(data)
        parser.accepts(path)

    for module in (
        "isa.foreign_file",
        "sw.driver.assembly",
        "sw.driver.program_file",
        "isa.presets",
        "sim.workloads.operands",
        "sw.frontend.importer.import_model",
        "sw.frontend.importer.source.model_file",
        "sw.quantize.encoders.encoder_file",
        "sw.quantize.graphs.files.formats_document",
        "sw.quantize.graphs.files.graph_document",
        "sim.reporting.run_file",
        "sim.reporting.run_schema",
        "sim.reporting.run_facts",
        "sim.profile.packing",
        "sim.support.cache",
        "lab.mutate.patch",
    ):
        for function in vars(import_module(f"celosia.{module}")).values():
            if isinstance(function, FunctionType):
                atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], *arguments], once)
    atheris.Fuzz()


if __name__ == "__main__":
    _fuzz(sys.argv[1], sys.argv[2], sys.argv[3:])
