"""Exported Verilog synthesizes in Yosys: no latches, no loops, no net that two things drive."""

from pathlib import Path

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from tests.support.exports import SMALLEST, exported
from tests.support.yosys import CHECKS, run_yosys

ONE_ROW = "Warning: Replacing memory"
"""Of a queue with one row, as there are in the smallest design: a register, rightly."""


def synthesize(work: Path, top: TopChoice, preset: str, overrides, *steps: str) -> str:
    """What Yosys says of a design whose memories are black boxes."""
    design = exported(top, Memories.BLACKBOX, preset, overrides)
    (work / "design.v").write_text(design.verilog)
    (work / "models.v").write_text(design.models)
    module = f"celosia_{top}"
    result = run_yosys(
        work,
        "read_verilog design.v",
        "read_verilog -lib models.v",
        f"hierarchy -check -top {module}",
        *(step.format(top=module) for step in steps),
        *CHECKS,
        yosys=find_yosys().command,  # A native one, if there is one: that of PyPI is slower.
    )
    assert result.returncode == 0, result.stdout[-2000:]
    assert "Warning: " not in result.stdout.replace(ONE_ROW, "")
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("top", [TopChoice.AXI, TopChoice.CORE])
def test_the_smallest_design_passes_the_checks(tmp_path, top):
    synthesize(tmp_path, top, "tiny", SMALLEST, "proc", "flatten", "opt_clean")


@pytest.mark.slow
@pytest.mark.parametrize("top", TopChoice)
def test_tiny_becomes_gates(tmp_path, top):
    text = synthesize(tmp_path, top, "tiny", (), "synth -top {top} -noabc", "stat")
    assert "$_DFFE_PP_" in text


@pytest.mark.nightly
@pytest.mark.parametrize("top", TopChoice)
@pytest.mark.parametrize(
    ("preset", "overrides"), [("base", ()), ("small", ("bus_bits=512", "store_queue=2"))]
)
def test_larger_designs_are_synthesized_as_far_as_words_go(tmp_path, top, preset, overrides):
    synthesize(tmp_path, top, preset, overrides, "synth -flatten -top {top} -run begin:fine")


@pytest.mark.slow
def test_memories_are_inferred(tmp_path):
    """Without black boxes, each memory is one that Yosys can map; what a Switch says is logic."""
    design = exported(TopChoice.CORE, Memories.INFERRED, "tiny", ())
    (tmp_path / "design.v").write_text(design.verilog)
    count = len(design.memories)
    result = run_yosys(
        tmp_path,
        "read_verilog design.v",
        "hierarchy -check -top celosia_core",
        *("proc -norom", "flatten", "opt_clean", "memory -nomap"),
        *CHECKS,
        f"select -assert-count {count} t:$mem_v2",
    )
    assert result.returncode == 0, result.stdout[-2000:]


@pytest.mark.slow
def test_a_model_is_one_memory(tmp_path):
    design = exported(TopChoice.AXI, Memories.BLACKBOX)
    (tmp_path / "models.v").write_text(design.models)
    result = run_yosys(
        tmp_path,
        *("read_verilog models.v", "proc", "opt_clean", "memory -nomap"),
        *CHECKS,
        f"select -assert-count {len(design.rams)} t:$mem_v2",
    )
    assert result.returncode == 0, result.stdout[-2000:]


@pytest.mark.slow  # As are the tests whose checks these are.
@pytest.mark.parametrize(
    "body",
    [
        "always @* if (a) b = a;",
        "always @* b = a ^ b;",
        "always @* b = a; assign b = c;",
        "wire nobody; always @* b = nobody;",
    ],
    ids=["a latch", "a loop", "two drivers", "no driver"],
)
def test_what_must_not_be_is_found(tmp_path, body):
    head = "module top(input a, input c, output reg b);"
    (tmp_path / "bad.v").write_text(f"{head}\n{body}\nendmodule\n")
    commands = ("read_verilog bad.v", "hierarchy -top top", "proc", "opt_clean")
    assert run_yosys(tmp_path, *commands).returncode == 0
    assert run_yosys(tmp_path, *commands, *CHECKS).returncode != 0
