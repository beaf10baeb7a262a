"""Generated Verilog passes Verilator's lint, but for the waivers that `hw/lint.vlt` justifies."""

import subprocess
from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.toolchain import find_verilator
from celosia.sim.verilog import TOP_NAME, generate_verilog

WAIVERS = Path(__file__).parents[2] / "hw" / "lint.vlt"


def lint(verilog: Path) -> subprocess.CompletedProcess:
    verilator = find_verilator()
    return subprocess.run(
        [verilator.binary, "--lint-only", "-Wall", "--top-module", TOP_NAME, WAIVERS, verilog],
        env={"VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("preset", ["tiny", pytest.param("base", marks=pytest.mark.slow)])
def test_the_verilog_passes_lint(tmp_path, preset):
    verilog = tmp_path / f"{TOP_NAME}.v"
    verilog.write_text(generate_verilog(PRESETS[preset]))
    result = lint(verilog)
    assert result.returncode == 0, result.stderr[:2000]


def test_lint_finds_what_is_not_waived(tmp_path):
    verilog = tmp_path / f"{TOP_NAME}.v"
    verilog.write_text(
        f"module {TOP_NAME}(input clk, output a);\n  wire b;\n  assign a = b & clk;\nendmodule\n"
    )
    assert "UNDRIVEN" in lint(verilog).stderr
