"""How long a run takes, said before it begins."""

import re
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim import cli
from celosia.sim.command import compile_command
from celosia.sim.run import graph_run
from celosia.sim.run.estimate import (
    CYCLES_PER_SECOND,
    LONG,
    TILES_PER_SECOND,
    announce_products,
    compiling_text,
    estimate_text,
)
from celosia.sim.run.options.options import RunOptions, Target, Told, Watching
from celosia.sim.run.workload import run
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.problems import graph_of

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


def test_the_cycles_of_all_products_come_back():
    problems = [MatMul(m=64, n=64, k=64, scale=0.01)] * 2
    cycles = announce_products(
        lambda _: None, "verilator", problems, PRESETS["base"], MemoryTiming()
    )
    assert 2 * 1024 < cycles < 3 * 1024


def test_a_short_one_is_not():
    assert told(m=512, n=768, k=768) == []
    assert estimate_text("verilator", (LONG - 1) * RATE) is None
    assert estimate_text("verilator", LONG * RATE) is not None
    assert estimate_text("functional", 10**12) is None


def test_what_takes_a_day_is_said_in_hours():
    assert "about 24 hours" in (estimate_text("verilator", 24 * 3600 * RATE) or "")


@pytest.mark.parametrize(
    ("seconds", "length"),
    [
        (60, "1 minutes"),
        (150, "2 minutes"),
        (210, "4 minutes"),
        (119 * 60, "119 minutes"),
        (120 * 60, "2 hours"),
        (5 * 3600, "5 hours"),
    ],
)
def test_lengths_are_in_minutes_below_two_hours(seconds, length):
    for simulator, rate in CYCLES_PER_SECOND.items():
        text = estimate_text(simulator, seconds * rate)
        assert text is not None
        assert text.startswith(
            f"this takes about {length}: {seconds * rate:,} cycles are predicted"
        )


def test_compiling_takes_its_time_too():
    assert estimate_text("verilator", 59 * RATE, TILES_PER_SECOND - 1) is None
    assert estimate_text("verilator", 59 * RATE, TILES_PER_SECOND) is not None


def test_products_one_after_the_other_add_up():
    one, two = [], []
    problem = MatMul(m=2048, n=2048, k=2048, scale=0.01)
    for said, count in ((one, 1), (two, 2)):
        problems = [problem] * count
        announce_products(said.append, "amaranth", problems, PRESETS["base"], MemoryTiming())
    texts = (*one, *two)
    cycles = [int(re.findall(r"([0-9,]+) cycles", text)[0].replace(",", "")) for text in texts]
    assert cycles[1] == 2 * cycles[0]


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


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (16, "compiling"),
        # Tiles of 16 rows and columns: 2^16 for each block of rows, of which 12,000 take a second.
        (1024, r"compiling, which takes about \d\d s"),
        (1 << 16, r"compiling, which takes about \d+ minutes"),
    ],
)
def test_who_waits_for_a_large_graph_is_told_how_long(rows, said):
    graph = graph_of("matmul", MatMul(m=rows, k=4096, n=4096, scale=0.01))
    assert re.fullmatch(said, compiling_text(graph, PRESETS["base"]))


def test_who_asks_for_advice_is_told_before_the_run_how_long_it_takes():
    graph = graph_of("matmul", MatMul(m=1024, k=4096, n=4096, scale=0.01))
    program: Any = SimpleNamespace(graph=graph, config=PRESETS["base"])
    program.expected = lambda _timing: SimpleNamespace(cycles=1)
    opener: Any = None
    for advice in (False, True):
        said = []
        options = RunOptions(
            workload="m",
            target=Target(simulator="functional"),
            watching=Watching(advice=advice),
            told=Told(announce=said.append),
        )
        graph_run.announce(options, [program], run.silent, opener)
        behind = [text for text in said if "7 other accelerators and memories" in text]
        assert len(behind) == advice
        assert not advice or re.search(r"about \d+ minutes", behind[0])


def test_a_command_says_so_while_it_compiles(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    told = []

    @contextmanager
    def bar():
        yield lambda text, _done: told.append(text)

    monkeypatch.setattr(compile_command, "progress_bar", bar)
    monkeypatch.setattr(compile_command, "compiling_text", lambda *_: "compiling, for a minute")
    words = ["compile", "matmul", "--shape", "8x8x8", "--preset", "tiny"]
    assert CliRunner().invoke(cli.app, words).exit_code == 0
    assert told == ["preparing the operands", "compiling, for a minute"]
