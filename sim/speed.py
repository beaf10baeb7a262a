"""The speed of simulation, against a reference loop on the same machine at the same time.

The loop (`benchmarks/array_loop.c`) does nothing but update the registers of a 16x16 array, in
plain C.  It and the model are built by the same compiler at -O1 and measured in turns, each in processor
time inside its run, so that the share of one in the other does not depend on what else the machine
does.  Instructions per simulated cycle, where valgrind is there, do not either.
"""

import json
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import celosia.isa
from celosia.isa.presets import PRESETS
from celosia.sim.cache import cached, digest
from celosia.sim.devices import open_device
from celosia.sim.doctor import absence
from celosia.sim.errors import EnvironmentProblem
from celosia.sim.measure import measure_product
from celosia.sim.problems import InputError
from celosia.sim.progress import Progress
from celosia.sim.report import Measurement
from celosia.sim.toolchain import Compiler, find_compiler, run_tools
from celosia.sim.workloads import WorkloadOptions, device_bytes, make_operators
from celosia.sw.driver.device import MemoryTiming

__all__ = ["BOUND", "PAIRS", "Pair", "Speed", "array_loop", "loop_speed", "measure_speed"]

BOUND: Final = 0.22
"""The least share of the loop's speed."""
PAIRS: Final = 5

_SHAPE: Final = "512x768x768"
_COUNTED_SHAPE: Final = "128x128x128"
_LOOP_CYCLES: Final = 8_000_000
_VALGRIND_SECONDS: Final = 900
_COLLECTED: Final = re.compile(r"Collected : (\d+)")


@dataclass(frozen=True)
class Pair:
    """Cycles per second of processor time, of both, measured one after the other."""

    loop: float
    model: float

    @property
    def share(self) -> float:
        """The model's speed in the loop's."""
        return self.model / self.loop


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What was measured."""

    pairs: tuple[Pair, ...]
    results_right: bool
    """Every run of the model had the right result."""
    instructions_per_cycle: float | None = None
    """None: valgrind is not there."""
    compiler: str = ""

    @property
    def share(self) -> float:
        """The median share of the loop's speed."""
        return median(pair.share for pair in self.pairs)

    @property
    def right(self) -> bool:
        """The results are right, and the bound is kept."""
        return self.results_right and self.share >= BOUND

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "shape": _SHAPE,
            "bound": BOUND,
            "share": self.share,
            "right": self.right,
            "cycles_per_second": median(pair.model for pair in self.pairs),
            "loop_cycles_per_second": median(pair.loop for pair in self.pairs),
            "pairs": [{"loop": pair.loop, "model": pair.model} for pair in self.pairs],
            "instructions_per_cycle": self.instructions_per_cycle,
            "compiler": self.compiler,
        }


def measure_speed(tell: Progress, pairs: int = PAIRS) -> Speed:
    """Measure preset `base` in Verilator on a product.

    Raises `EnvironmentProblem` where a compiler or Verilator is missing, `InputError` outside of a
    checkout.
    """
    compiler = find_compiler()
    loop = array_loop(compiler)
    measured = []
    operators = make_operators("matmul", WorkloadOptions(shape=_SHAPE), 0)
    timing = MemoryTiming()
    device = open_device("verilator", PRESETS["base"], timing, device_bytes(operators), tell)
    with closing(device):
        runs: list[Measurement] = []
        for number in range(pairs):
            tell(f"pair {number + 1} of {pairs}", number / pairs)
            speed = loop_speed(loop)
            run, _ = measure_product(device, operators[0], timing)
            runs.append(run)
            measured.append(Pair(speed, run.cycles_per_second or 0.0))
    tell("counting instructions", None)
    return Speed(
        pairs=tuple(measured),
        results_right=all(run.right for run in runs),
        instructions_per_cycle=_instructions_per_cycle(),
        compiler=compiler.identity.partition("\n")[2].partition("\n")[0],
    )


def array_loop(compiler: Compiler) -> Path:
    """The reference loop, built."""
    source = Path(next(iter(celosia.isa.__path__))).parent / "benchmarks" / "array_loop.c"
    if not source.is_file():
        raise InputError(f"{source}: not there; the speed is measured in a checkout only")

    def make(work: Path) -> Path:
        words = [*compiler.command, "-O1", "-x", "c", str(source), "-o", "array_loop"]
        run_tools([words], work)
        return work / "array_loop"

    return cached(f"bench/{digest([compiler.identity, source.read_bytes()])}-array-loop", make)


def loop_speed(loop: Path, cycles: int = _LOOP_CYCLES) -> float:
    """Cycles per second of processor time of the reference loop."""
    done = subprocess.run([str(loop), str(cycles)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentProblem(
            f"{loop}: exit code {done.returncode}: {done.stdout or done.stderr}"
        )
    return float(json.loads(done.stdout)["cycles_per_second"])


def _instructions_per_cycle() -> float | None:
    """Machine instructions of the model, with its memory, for each simulated cycle."""
    if absence("valgrind"):
        return None
    command = [
        *("valgrind", "--tool=callgrind", "--toggle-collect=celosia_run"),
        "--callgrind-out-file=/dev/null",
        *(sys.executable, "-m", "celosia.sim.cli", "run", "matmul"),
        *("--shape", _COUNTED_SHAPE, "--json", "-"),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VALGRIND_SECONDS, check=True
        )
    except subprocess.SubprocessError as error:
        raise EnvironmentProblem(f"valgrind: {error}") from error
    collected = _COLLECTED.search(done.stderr)
    return int(collected[1]) / json.loads(done.stdout)["cycles"] if collected else None
