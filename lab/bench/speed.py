"""The speed of simulation, against a reference loop on the same machine at the same time.

The loop (`benchmarks/array_loop.c`) does nothing but update the registers of a 16x16 array, in
plain C.  It and the model are built by the same compiler at -O1 and measured in turns, each in
processor time inside its run, so that the share of one in the other does not depend on what else
the machine does.  Instructions per simulated cycle, where valgrind is there, do not either.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Hidden, Key, Named, Rule
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench import replay
from celosia.lab.bench.line import BenchCase
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.run.opening import Opener, build_faster
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.display import Steps
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.build import model_library
from celosia.sim.verilator.doctor import absence
from celosia.sim.verilator.harness.settings import bench_config
from celosia.sim.verilator.profiled import profiled
from celosia.sim.verilator.toolchain import Compiler, find_compiler, run_tools
from celosia.sim.workloads.details import EncoderLayer, Matmul
from celosia.sim.workloads.product_workloads import device_bytes, matmul
from celosia.sw.driver.device import Device
from celosia.sw.driver.runtime import compile_product

__all__ = [
    "CASES",
    "PAIRS",
    "PROFILED_BOUNDS",
    "Pair",
    "Speed",
    "SpeedLine",
    "array_loop",
    "instructions_per_cycle",
    "loop_speed",
    "measure_speed",
    "save_recording",
]

PAIRS: Final = 5

_COUNTED_SHAPE: Final = "128x128x128"
_LOOP_CYCLES: Final = 8_000_000
_VALGRIND_SECONDS: Final = 900
_COLLECTED: Final = re.compile(r"Collected : (\d+)")


@dataclass(frozen=True)
class Pair:
    """Cycles per second of processor time, of both, measured one after the other."""

    loop: Annotated[float, Rule(minimum=0)]
    """The speed of `benchmarks/array_loop.c`, built by the same compiler at -O1."""
    model: Annotated[float, Rule(minimum=0)]
    """The speed of the simulation in Verilator, memory model included."""

    @property
    def share(self) -> float:
        """The model's speed in the loop's."""
        return self.model / self.loop


CASES: Final = (
    BenchCase(workload="matmul", details=Matmul(shape="512x768x768"), bound=0.22),
    BenchCase(
        workload="encoder-layer", details=EncoderLayer(model="bert-base", seq=128), bound=0.2
    ),
)
"""What is simulated, with the least share of the loop's speed."""
PROFILED_BOUNDS: Final = (0.25, 0.22)
"""The least shares of simulators that are compiled with a profile."""

_Build = Literal["plain", "profiled"]


@dataclass(frozen=True, kw_only=True)
class SpeedLine:
    """How fast a workload was."""

    case: Hidden[BenchCase]
    build: _Build
    """How the simulator was compiled: `profiled`: again, with a profile of a run."""
    pairs: Annotated[tuple[Pair, ...], Rule(minItems=1)]
    """Measurements, both in turns."""
    results_right: Hidden[bool]
    """Every run of the model had the right result."""

    @Key
    def share(self) -> Annotated[float, Rule(minimum=0)]:
        """The median share of the loop's speed."""
        return median(pair.share for pair in self.pairs)

    @Key
    def right(self) -> bool:
        """The results are right, and the bound is kept."""
        return self.results_right and self.share >= self.case.bound

    @Key
    def name(self) -> str:
        """What was simulated on preset base."""
        return self.case.name

    @Key
    def bound(self) -> Annotated[float, Rule(minimum=0)]:
        """The least share that is accepted."""
        return self.case.bound

    @Key
    def cycles_per_second(self) -> Annotated[float, Rule(minimum=0)]:
        """The model's speed: the median."""
        return median(pair.model for pair in self.pairs)

    @Key
    def loop_cycles_per_second(self) -> Annotated[float, Rule(minimum=0)]:
        """The loop's speed: the median."""
        return median(pair.loop for pair in self.pairs)


@dataclass(frozen=True, kw_only=True)
class Speed:
    """The lines of the benchmark of speed, and what they were measured with."""

    lines: Annotated[tuple[SpeedLine, ...], Named("workloads"), Rule(minItems=1)]
    """A product, and a layer of an encoder, each on both builds of the simulator."""
    instructions_per_cycle: Annotated[float | None, Rule(minimum=0)] = None
    """Machine instructions of the model and its memory for each simulated cycle; null: valgrind is
    not there."""
    profiled_instructions_per_cycle: Annotated[float | None, Rule(minimum=0)] = None
    """Machine instructions of the model that was compiled with a profile; null: it is not there, or
    valgrind is not."""
    compiler: str = ""
    """What built both."""

    @property
    def right(self) -> bool:
        """Whether all lines are right."""
        return all(line.right for line in self.lines)


def measure_speed(
    tell: Progress,
    runner: Callable[..., Outcome] = run_workload,
    cases: Sequence[BenchCase] = CASES,
    pairs: int = PAIRS,
) -> Speed:
    """Measure preset `base` in Verilator on `cases`, without and with a profile.

    Raises `EnvironmentProblem` where a compiler or Verilator is missing, `InputError` outside of a
    checkout.
    """
    compiler = find_compiler()
    loop = array_loop(compiler)
    libraries = _libraries(tell)
    steps = Steps(tell, len(cases) * pairs)
    lines = [
        line
        for case, bound in zip(cases, PROFILED_BOUNDS, strict=True)
        for line in _measure(
            {"plain": case, "profiled": replace(case, bound=bound)},
            _Tools(loop, libraries, runner),
            steps,
            pairs,
        )
    ]
    tell("counting instructions", None)
    return Speed(
        lines=tuple(lines),
        instructions_per_cycle=instructions_per_cycle(libraries["plain"]),
        profiled_instructions_per_cycle=(
            instructions_per_cycle(libraries["profiled"]) if "profiled" in libraries else None
        ),
        compiler=compiler.identity.partition("\n")[2].partition("\n")[0],
    )


@dataclass(frozen=True)
class _Tools:
    """What measures."""

    loop: Path
    libraries: Mapping[_Build, Path]
    runner: Callable[..., Outcome]


def _libraries(tell: Progress) -> dict[_Build, Path]:
    """The simulators of `base`: the second one only where the compiler is GCC."""
    plain = model_library(PRESETS["base"], progress=tell)
    build_faster(PRESETS["base"], tell)
    again = profiled(plain)
    return {"plain": plain} if again is None else {"plain": plain, "profiled": again}


def _measure(
    cases: Mapping[_Build, BenchCase], tools: _Tools, steps: Steps, pairs: int
) -> list[SpeedLine]:
    """Lines of the same workload, measured in turns."""
    measured: dict[_Build, list[Pair]] = {build: [] for build in tools.libraries}
    right = dict.fromkeys(tools.libraries, True)
    for number in range(pairs):
        steps.begin(f"{cases['plain'].name}, pair {number + 1} of {pairs}")
        speed = loop_speed(tools.loop)
        for build, library in tools.libraries.items():
            report = tools.runner(cases[build].options(), steps, _opener(library)).report
            measured[build].append(Pair(speed, report.total.sim_cycles_per_second or 0.0))
            right[build] = right[build] and report.right
    return [
        SpeedLine(case=cases[build], build=build, pairs=tuple(found), results_right=right[build])
        for build, found in measured.items()
    ]


def _opener(library: Path) -> Opener:
    """Opens the simulator `library`."""

    def device(
        name: str,
        config: AcceleratorConfig,
        timing: MemoryTiming,
        memory_bytes: int,
        *,
        progress: Progress,
    ) -> Device:
        assert name == VerilatorDevice.name
        return VerilatorDevice(config, timing, memory_bytes, progress, library)

    return device


def array_loop(compiler: Compiler) -> Path:
    """The reference loop, built."""
    source = checkout_root() / "benchmarks" / "array_loop.c"

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


def instructions_per_cycle(library: Path, shape: str = _COUNTED_SHAPE) -> float | None:
    """Machine instructions of a model of preset `base`, with its memory, per simulated cycle.

    None where valgrind is not there.
    """
    if absence("valgrind"):
        return None
    (operator,) = matmul(Matmul(shape=shape), 0)
    config, timing, size = PRESETS["base"], MemoryTiming(), device_bytes([operator])
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(VerilatorDevice(config, timing, size, library=library)) as device,
    ):
        operands = operator.operands
        compiled = compile_product(device, operands.problem, timing=timing)
        compiled.load(operands.a, operands.b, operands.bias)
        save_recording(Path(folder), device, compiled.commands, timing)
        cycles = compiled.run().cycles
        assert cycles is not None
        # A run of no cycles is what does not belong to the model.
        counts = [_count_instructions(library, folder, edges) for edges in (2 * cycles, 0)]
    return (counts[0] - counts[1]) / cycles


def save_recording(
    folder: Path, device: Device, program: Sequence[Command], timing: MemoryTiming
) -> None:
    """Put what `celosia.lab.bench.replay` needs to run `program` on `device` into `folder`."""
    size = device.memory_bytes
    (folder / "bench").write_bytes(bytes(bench_config(device.config, timing, size)))
    (folder / "memory").write_bytes(device.read(MEMORY_BASE, size))
    (folder / "ring").write_bytes(pack_ring(program))


def _count_instructions(library: Path, folder: str, edges: int) -> int:
    """Machine instructions of a process that replays `edges` cycles."""
    command = [
        *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *(sys.executable, "-I", "-S", replay.__file__, str(library), folder),
        *(str(MemoryTiming.seed), str(edges)),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VALGRIND_SECONDS, check=True
        )
    except subprocess.SubprocessError as error:
        raise EnvironmentProblem(f"valgrind: {error}") from error
    collected = _COLLECTED.search(done.stderr)
    if not collected:
        raise EnvironmentProblem(f"valgrind: no count in {done.stderr!r}")
    return int(collected[1])
