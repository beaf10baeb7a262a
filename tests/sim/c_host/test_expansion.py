"""Loops as the library expands them, against the contract: command for command."""

import random
import subprocess
from pathlib import Path

import pytest

from celosia.isa.encoding import FLUSH, REPEAT, RING_ENTRY, Command, pack_ring
from celosia.isa.operations.loop_ws import LoopWs
from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS
from celosia.sim.c_host.constants import presets_header
from tests.support.c_host import compile_parts
from tests.support.loop_ws import loop
from tests.support.loops import LoopPrograms

KNOWN = {name: PRESETS[name] for name in ("gemmini4", "gemmini", "tiny")}
LOOPS = 60


@pytest.fixture(scope="module")
def expander(tmp_path_factory) -> Path:
    """A program that turns commands into others."""
    work = tmp_path_factory.mktemp("expander")
    (work / "presets.h").write_text(presets_header(KNOWN))
    own = Path(__file__).with_name("expander.cpp")
    return compile_parts(work, own, "matmul_loop.cpp", "repeat.cpp")


@pytest.mark.parametrize("preset", KNOWN)
def test_random_loops_are_those_of_the_contract(expander, preset):
    rng, config = random.Random(preset), KNOWN[preset]
    program: list[Command] = []
    for _ in range(LOOPS):
        program += loop(rng, config) + [FLUSH.encode()] * (rng.random() < 0.3)
    expansion = LoopWs(config)
    wanted = [made for command in program for _, made in expansion.expand(command)]
    wanted += [made for _, made in expansion.finish()]
    check(expander, preset, program, wanted)


def check(expander, preset, program, wanted):
    """`program` becomes the commands `wanted`."""
    done = subprocess.run(
        [str(expander), preset], input=pack_ring(program), capture_output=True, check=True
    )
    got = [Command(funct, *words) for funct, _, *words in RING_ENTRY.iter_unpack(done.stdout)]
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        assert one == other, number


@pytest.mark.parametrize("faults", [0.0, 0.1])
@pytest.mark.parametrize("preset", KNOWN)
def test_random_repeats_are_those_of_the_contract(expander, preset, faults):
    """Loops that are not well formed come out as the command that is at fault."""
    config = KNOWN[preset]
    # Not around PRODUCTS: those that advance may stand for millions of commands.
    programs = LoopPrograms(config, random.Random(preset), faults=faults, products=False)
    program: list[Command] = []
    for _ in range(LOOPS):
        # Every body is complete.
        program += programs.program(6) + [FLUSH.encode()] * config.loop_entries
    check(expander, preset, program, [made for _, made in expand(program, config)])


@pytest.mark.parametrize("faults", [0.0, 0.3])
@pytest.mark.parametrize("preset", KNOWN)
def test_random_products_are_those_of_the_contract(expander, preset, faults):
    config = KNOWN[preset]
    programs = LoopPrograms(config, random.Random(preset), faults=faults)
    program = [programs.command() for _ in range(4 * LOOPS)]
    body = program[: config.loop_entries // 2]
    program += [REPEAT.encode(count=2, length=len(body)), *body]
    check(expander, preset, program, [made for _, made in expand(program, config)])


def test_a_repeat_may_hold_the_other_loops(expander):
    rng, config = random.Random(3), KNOWN["gemmini4"]
    program: list[Command] = []
    for _ in range(LOOPS):
        body = loop(rng, config)
        program += [REPEAT.encode(count=rng.randint(1, 3), length=len(body)), *body]
    check(expander, "gemmini4", program, [made for _, made in expand(program, config)])
