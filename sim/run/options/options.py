"""The options of a run, in records that each say one thing."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, ignore
from celosia.sim.wave.request import WaveRequest
from celosia.sim.workloads.details import Details
from celosia.sim.workloads.jobs import Job, job_of
from celosia.sim.workloads.models.model_job import ModelJob
from celosia.sw.compiler.passes import Encode
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.driver.device import Issue
from celosia.sw.planning.forms.plan import Plan

__all__ = ["Check", "Compiling", "RunOptions", "Target", "Told", "Watching"]

Check = Literal["all", "outputs", "none"]
"""What is compared of a run: all that it leaves in memory, and its distance to float; only what
programs compute for others; nothing."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a program runs on."""

    simulator: str = "verilator"
    preset: str | None = None
    """A name or a ``.toml`` file; None: what the program file says, else `base`."""
    overrides: tuple[str, ...] = ()
    """Changes of the preset's parameters, each as ``key=value``."""
    timing: MemoryTiming = field(default_factory=MemoryTiming)
    issue: Issue = "stream"
    cycle_budget: int = 0
    """Busy cycles, on functional commands, after which a program is stopped; 0: never."""

    @property
    def preset_name(self) -> str:
        """The preset of what has none of its own."""
        return self.preset or "base"

    @property
    def config(self) -> AcceleratorConfig:
        """The configuration.  Raises `ConfigError`."""
        return resolve_config(self.preset_name, self.overrides)

    def on(self, config: AcceleratorConfig) -> "Target":
        """The same with another configuration, whatever presets are called elsewhere."""
        values = tuple(f"{name}={value}" for name, value in asdict(config).items())
        return replace(self, preset="base", overrides=values)

    @property
    def hardware(self) -> tuple[AcceleratorConfig, MemoryTiming]:
        """The configuration and its memory.  Raises `ConfigError`."""
        return self.config, self.timing


@dataclass(frozen=True, kw_only=True)
class Compiling:
    """How a graph becomes a program."""

    given: GivenPlan = field(default_factory=GivenPlan)
    """The plan by which a product alone or a graph is computed."""
    optimize: bool = False
    """Rewrite a graph before it is compiled."""
    reuse_memory: bool = False
    """Tensors of a graph may take the bytes of others that nobody needs any more, even if all
    would be compared."""

    def check_no_graph(self, workload: str) -> None:
        """Raise `InputError` for what only graphs have: `workload` is none."""
        if self.reuse_memory:
            raise InputError(f"--reuse-memory: {workload} is no graph with tensors between")
        if self.optimize:
            raise InputError(f"--optimize: {workload} is no graph")


@dataclass(frozen=True, kw_only=True)
class Watching:
    """What is looked at of a run beside its results."""

    check: Check = "all"
    """What is compared."""
    wave: WaveRequest | None = None
    """The waveform to write."""
    log: bool = False
    """Keep a log of what operations do when."""
    advice: bool = False
    """Ask the cost model what other hardware would save a graph."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """The command line that a report names, and what is told while a run works."""

    command_line: tuple[str, ...] = ()
    announce: Callable[[str], None] = field(default=ignore, compare=False)
    """Told how long a run takes, before it begins, if that is long."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to run, and on what."""

    workload: str
    """A name of `celosia.sim.workloads.workloads.WORKLOADS`, or a file: program or model."""
    details: Details | None = None
    """What that workload computes; None: it has all that by default, or is a file."""
    target: Target = field(default_factory=Target)
    compiling: Compiling = field(default_factory=Compiling)
    watching: Watching = field(default_factory=Watching)
    told: Told = field(default_factory=Told)

    def plans(self, job: Job) -> tuple[Plan | None, ...]:
        """The plans of a job's graphs: given, or saved with it; None: the compiler's own.

        Raises `InputError` for one that is illegal.
        """
        given = self.compiling.given
        if isinstance(job, ModelJob) and not given.options:
            return job.plans
        return given.of(job.graphs, *self.target.hardware)

    @property
    def reuse_memory(self) -> bool:
        """Whether tensors may share bytes.  What is overwritten cannot be compared."""
        return self.compiling.reuse_memory or self.watching.check != "all"

    @property
    def encode(self) -> Encode:
        """The pass that gives tensors their addresses."""
        return Reuse() if self.reuse_memory else Encode()

    def checking(self, check: Check) -> "RunOptions":
        """The same with something else compared."""
        return replace(self, watching=replace(self.watching, check=check))

    def job(self, tell: Progress) -> Job:
        """What is to be computed, rewritten if that is asked for.  Raises `InputError`."""
        return job_of(
            self.workload,
            self.details,
            self.target.hardware,
            tell,
            optimize=self.compiling.optimize,
        )
