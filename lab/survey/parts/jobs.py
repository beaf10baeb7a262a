"""Runs on the RTL that do not depend on each other, and what is kept of one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.nonlinear import MODES, measure_mode
from celosia.lab.survey.parts.exposed import exposed_cycles
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.report import Measurement
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import silent
from celosia.sim.support.version import source_version
from celosia.sim.verilator.build import rtl_key
from celosia.sim.workloads.details import Details, EncoderLayer, given
from celosia.sim.workloads.quantized import random_model
from celosia.sw.models.cases import encoder_layer_case
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["Job", "Run", "Task", "WrongRunError", "run_task"]


_LAYER: Final = re.compile(r"\d+\.")
"""The number of a layer in front of an operator's name."""


class WrongRunError(RuntimeError):
    """A run whose results are not right: none of its numbers may be shown."""


class Task(Protocol):
    """Work that other work does not wait for; frozen, and may be sent to another process."""

    @property
    def key(self) -> str:
        """Names the task and all that its result depends on."""
        ...

    @property
    def array_cycles(self) -> int:
        """How long it takes, roughly: in cycles that the RTL is simulated for."""
        ...

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again."""
        ...

    def run(self) -> Any:
        """What it shows, which has a `document`.  Raises `WrongRunError`."""
        ...

    def kept(self, document: Mapping[str, Any]) -> Any:
        """The inverse of the result's `document`.  Raises `TypeError` for other keys."""
        ...


def run_task(task: Task) -> Any:
    """Run a task, in whatever process."""
    return task.run()


@dataclass(frozen=True, kw_only=True)
class Job:
    """A workload on a configuration and a memory; may be sent to another process."""

    workload: str
    details: Details
    mode: str = ""
    """A mode of `nonlinear` in `lab/compilers` of one BERT-base layer; empty: as compiled."""
    preset: str = "base"
    overrides: tuple[str, ...] = ()
    latency: int = MemoryTiming.latency
    bytes_per_cycle: int = MemoryTiming.bytes_per_cycle
    log: bool = False
    """Tell whose each cycle was, too."""
    array_cycles: int
    """Cycles that the array needs at least: how long the run will take, roughly."""

    @cached_property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return resolve_config(self.preset, self.overrides)

    @property
    def timing(self) -> MemoryTiming:
        """The memory."""
        return MemoryTiming(latency=self.latency, bytes_per_cycle=self.bytes_per_cycle)

    @cached_property
    def netlist(self) -> str:
        """The hash of all that the netlist is made from."""
        return rtl_key(self.config)

    @property
    def key(self) -> str:
        """Names the job, the RTL and the compiler: a run of others is not this one."""
        return digest([repr(self), self.netlist, source_version(("isa", "sw"))])

    @property
    def name(self) -> str:
        """The job in words."""
        words = [f"{name} {value}" for name, value in self.settings().items() if value]
        return ", ".join(words)

    def run(self) -> "Run":
        """Run it on Verilator, with every result compared."""
        if self.mode:
            return Run.of(_measure_mode(self))
        options = RunOptions(
            workload=self.workload,
            details=self.details,
            target=Target(preset=self.preset, overrides=self.overrides, timing=self.timing),
            watching=Watching(log=self.log),
        )
        report = run_workload(options).report
        return Run.of(report.total, report.operators)

    def kept(self, document: Mapping[str, Any]) -> "Run":
        """The inverse of a run's document.  Raises `TypeError` for other keys."""
        return Run(**document)

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again; given options only."""
        return {
            "workload": self.workload,
            **given(self.details),
            **({"mode": self.mode} if self.mode else {}),
            "preset": self.preset,
            **({"set": " ".join(self.overrides)} if self.overrides else {}),
            "latency": self.latency,
            "bytes_per_cycle": self.bytes_per_cycle,
        }


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a job has shown."""

    cycles: int
    macs: int
    limit_cycles: int
    """The fewest cycles that any program could need; 0: not computed."""
    dram_bytes: int
    elements_checked: int
    seconds: float
    """Time on the wall, which depends on the machine."""
    operators: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Cycles by the name of an operator, those of all layers together."""
    exposed: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Cycles by kind of work (`exposed_cycles`), if a log was kept."""

    @classmethod
    def of(cls, measured: Measurement, operators: Iterable[Measurement] = ()) -> "Run":
        """What is kept of `measured`, and of its parts.

        Raises `WrongRunError` if it is not right.
        """
        if not measured.right or measured.cycles is None:
            raise WrongRunError(
                f"{measured.name}: {measured.mismatches or 0:,} of {measured.elements_checked:,} "
                "elements are wrong, or it was stopped"
            )
        return cls(
            cycles=measured.cycles,
            macs=measured.macs,
            limit_cycles=measured.limit.cycles if measured.limit else 0,
            dram_bytes=measured.dram_read_bytes + measured.dram_write_bytes,
            elements_checked=measured.elements_checked,
            seconds=measured.elapsed_seconds,
            operators=_by_operator(operators),
            exposed=exposed_cycles(measured.executed) if measured.executed else {},
        )

    def document(self) -> dict[str, Any]:
        """The run as an object for JSON."""
        return asdict(self)


def _by_operator(operators: Iterable[Measurement]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in operators:
        name = _LAYER.sub("", each.name)
        found[name] = found.get(name, 0) + (each.cycles or 0)
    return found


def _measure_mode(job: Job) -> Measurement:
    (mode,) = (mode for mode in MODES if mode.name == job.mode)
    model = random_model(BERT_BASE.with_layers(2), 0, silent)
    assert isinstance(job.details, EncoderLayer)
    assert job.details.seq is not None
    return measure_mode(mode, encoder_layer_case(model, [job.details.seq], 0), job.config, silent)
