"""LOOP_WS as the library expands it, against the contract: command for command."""

import random
import subprocess
from pathlib import Path

import pytest

from celosia.isa.encoding import FLUSH, RING_ENTRY, Command, pack_ring
from celosia.isa.loop_ws import LoopWs
from celosia.isa.presets import PRESETS
from celosia.sim.c_host import build
from celosia.sim.c_host.constants import isa_header, presets_header
from celosia.sim.toolchain import find_compiler
from tests.support.loop_ws import loop

KNOWN = {name: PRESETS[name] for name in ("gemmini4", "gemmini", "tiny")}
LOOPS = 60


@pytest.fixture(scope="module")
def expander(tmp_path_factory) -> Path:
    """A program that turns commands into others."""
    work = tmp_path_factory.mktemp("expander")
    (work / "isa.h").write_text(isa_header())
    (work / "presets.h").write_text(presets_header(KNOWN))
    library = Path(build.__file__).parent
    sources = [library / "matmul_loop.cpp", Path(__file__).with_name("expander.cpp")]
    includes = [work, library, library.parent / "harness"]
    command = [
        *find_compiler().command,
        *("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"),
        *(f"-I{path}" for path in includes),
        *(*map(str, sources), "-o", str(work / "expander")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "ubsan" in done.stderr:
        command.remove("-fsanitize=undefined")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return work / "expander"


@pytest.mark.parametrize("preset", KNOWN)
def test_random_loops_are_those_of_the_contract(expander, preset):
    rng, config = random.Random(preset), KNOWN[preset]
    program: list[Command] = []
    for _ in range(LOOPS):
        program += loop(rng, config) + [FLUSH.encode()] * (rng.random() < 0.3)
    expansion = LoopWs(config)
    wanted = [made for command in program for _, made in expansion.expand(command)]
    wanted += [made for _, made in expansion.finish()]
    done = subprocess.run(
        [str(expander), preset], input=pack_ring(program), capture_output=True, check=True
    )
    got = [Command(funct, *words) for funct, _, *words in RING_ENTRY.iter_unpack(done.stdout)]
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        assert one == other, number
