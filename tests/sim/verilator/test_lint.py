"""Generated Verilog passes Verilator's lint, but for what `hw/host/lint.vlt` waives."""

import re
import subprocess
from pathlib import Path

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.verilator.toolchain import find_verilator
from tests.support.exports import SMALLEST, exported

WAIVERS = Path(__file__).parents[3] / "hw" / "host" / "lint.vlt"
LARGE = ("dim=32", "bus_bits=512", "accumulator_banks=8", "parameter_rows=512", "load_queue=32")
NARROW = ("bus_bits=32", "scratchpad_banks=2", "accumulator_banks=1", "read_requests=2")
SLOW = pytest.mark.slow


def lint(module: str, *files: Path | str) -> subprocess.CompletedProcess[str]:
    verilator = find_verilator()
    return subprocess.run(
        [verilator.binary, "--lint-only", "-Wall", "--top-module", module, WAIVERS, *files],
        env={"VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("top", "preset", "overrides"),
    [
        (TopChoice.AXI, "tiny", SMALLEST),
        pytest.param(TopChoice.AXI, "tiny", (), marks=SLOW),
        pytest.param(TopChoice.CORE, "tiny", (), marks=SLOW),
        pytest.param(TopChoice.AXI, "base", (), marks=SLOW),
        pytest.param(TopChoice.CORE, "base", (), marks=SLOW),
        pytest.param(TopChoice.AXI, "base", LARGE, marks=SLOW),
        pytest.param(TopChoice.AXI, "small", NARROW, marks=SLOW),
    ],
    ids=["smallest axi", "tiny axi", "tiny core", "base axi", "base core", "large", "narrow"],
)
@pytest.mark.parametrize(
    "defines",
    [
        # Without them the two tests below lint the same modules: memories alone, and the others.
        pytest.param((), marks=SLOW, id="plain"),
        pytest.param(("CELOSIA_ASSERTIONS", "CELOSIA_PESSIMISTIC_RAMS"), id="defined"),
    ],
)
def test_the_verilog_passes_lint(tmp_path, top, preset, overrides, defines):
    design = exported(top, Memories.BLACKBOX, preset, overrides)
    verilog, models = tmp_path / "design.v", tmp_path / "models.v"
    verilog.write_text(design.verilog)
    models.write_text(design.models)
    words = [f"+define+{name}" for name in defines]
    result = lint(design.top.module, *words, verilog, models)
    assert result.returncode == 0, result.stderr[:2000]


def test_models_of_memories_pass_lint_without_what_is_for_simulation(tmp_path):
    models = exported(TopChoice.AXI, Memories.BLACKBOX).models
    (tmp_path / "models.v").write_text(models)
    names = re.findall(r"^module (\w+)", models, re.MULTILINE)
    assert len(names) > 2
    for name in names:
        result = lint(name, tmp_path / "models.v")
        assert result.returncode == 0, result.stderr[:2000]


# All but the memories is what `test_the_verilog_passes_lint` lints.
@pytest.mark.slow
@pytest.mark.parametrize("top", [TopChoice.AXI, TopChoice.CORE], ids=["axi", "core"])
def test_inferred_memories_pass_lint(tmp_path, top):
    design = exported(top, Memories.INFERRED)
    (tmp_path / "design.v").write_text(design.verilog)
    result = lint(design.top.module, tmp_path / "design.v")
    assert result.returncode == 0, result.stderr[:2000]


def test_lint_finds_what_is_not_waived(tmp_path):
    verilog = tmp_path / "top.v"
    verilog.write_text(
        "module top(input clk, output a);\n  wire b;\n  assign a = b & clk;\nendmodule\n"
    )
    assert "UNDRIVEN" in lint("top", verilog).stderr
