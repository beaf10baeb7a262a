"""`celosia verilog`: which files there are, and that they are the same every time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export import write
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.write import design_files, write_verilog
from tests.support.exports import SMALLEST, exported

CONFIG = resolve_config("tiny", SMALLEST)
OPTIONS = [word for text in SMALLEST for word in ("--set", text)]


def command(folder: Path, seed: str) -> dict[str, str]:
    """What the command writes, in a process with the hash seed `seed`."""
    subprocess.run(
        [
            *(sys.executable, "-m", "celosia.sim.cli", "verilog", "--preset", "tiny", *OPTIONS),
            *("--top", "axi", "--memories", "blackbox", "-o", str(folder / "celosia.v")),
        ],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
    )
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_files_are_the_same_in_every_process(tmp_path):
    written = command(tmp_path, seed="1")
    assert sorted(written) == ["celosia.f", "celosia.md", "celosia.v", "celosia_memories.v"]
    assert written["celosia.f"] == "celosia.v\ncelosia_memories.v\n"
    design = exported(TopChoice.AXI, Memories.BLACKBOX)
    texts = design_files(design, str(tmp_path / "celosia.v"), Memories.BLACKBOX)
    assert written == {path.name: text for path, text in texts.items()}


def test_inferred_memories_need_no_models():
    design = exported(TopChoice.CORE, Memories.INFERRED)
    texts = design_files(design, "a/core.v", Memories.INFERRED)
    assert [str(path) for path in texts] == ["a/core.v", "a/core.f", "a/core.md"]
    assert texts[Path("a/core.f")] == "core.v\n"


@pytest.mark.parametrize("memories", Memories)
def test_standard_output_has_all_modules(capsysbinary, monkeypatch, memories):
    monkeypatch.setattr(write, "export_design", lambda _, *choices: exported(*choices))
    write_verilog(CONFIG, TopChoice.CORE, memories, "-")
    design = exported(TopChoice.CORE, memories)
    assert capsysbinary.readouterr().out.decode() == design.verilog + design.models
