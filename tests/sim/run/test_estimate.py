"""How long a run takes, said before it begins."""

import pytest
from typer.testing import CliRunner

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim import cli
from celosia.sim.run import run
from celosia.sim.run.estimate import CYCLES_PER_SECOND, LONG, announce_products, estimate_text
from celosia.sw.ir.matmul import MatMul

RATE = CYCLES_PER_SECOND["verilator"]


def told(**extents):
    said = []
    problem = MatMul(**extents, scale=0.01)
    announce_products(said.append, "verilator", [problem], PRESETS["base"], MemoryTiming())
    return said


def test_a_long_product_is_announced_with_its_cycles():
    """4096 x 4096 x 4096 are 268 million cycles of 256 products."""
    (text,) = told(m=4096, n=4096, k=4096)
    assert "about 7 minutes: 268,4" in text
    assert f"{RATE:,} per second" in text


def test_a_short_one_is_not():
    assert told(m=512, n=768, k=768) == []
    assert estimate_text("verilator", (LONG - 1) * RATE) is None
    assert estimate_text("verilator", LONG * RATE) is not None
    assert estimate_text("functional", 10**12) is None


def test_what_takes_a_day_is_said_in_hours():
    assert "about 24 hours" in (estimate_text("verilator", 24 * 3600 * RATE) or "")


@pytest.mark.parametrize(
    "words",
    [
        ("matmul", "--shape", "512x512x512", "--preset", "tiny", "--sim", "amaranth"),
        ("attention", "--heads", "4", "--seq", "128", "--dim", "64", "--sim", "amaranth"),
    ],
)
def test_the_command_line_says_it_before_the_run(monkeypatch, words):
    """Nothing is simulated here: there is no device."""

    def open_device(*_arguments, **_more):
        raise ValueError("no device")

    monkeypatch.setattr(run.run_workload, "__defaults__", (run.silent, open_device))
    result = CliRunner().invoke(cli.app, ["run", *words])
    assert result.exit_code == 2
    assert result.stderr.index("this takes about") < result.stderr.index("no device")
