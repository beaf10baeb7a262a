"""What a run has shown, and its JSON document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal, TypeAlias

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import (
    Added,
    As,
    Count,
    Hidden,
    Inline,
    Key,
    Named,
    Record,
    Rule,
    Share,
)
from celosia.isa.documents.shown import html_table
from celosia.isa.encoding import RING_ENTRY
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.profile import Profile, join
from celosia.sim.profile.whatif import Change
from celosia.sim.run.options.options import Check
from celosia.sim.run.origin import Memory, Origin
from celosia.sim.run.programs.failure import Failure
from celosia.sim.run.programs.traffic import Traffic
from celosia.sim.workloads.similarity import Similarity
from celosia.sw.driver.device import Issue
from celosia.sw.ir.matmul import MatMul
from celosia.sw.passes.rounded_scales import RoundedScales
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan
from celosia.sw.timeline.limits import Limit
from celosia.sw.timeline.product_limits import total_limit

__all__ = ["Cycles", "Measurement", "Report", "Setting", "Shown", "ShownLimit"]

Cycles: TypeAlias = Annotated[int, Rule(minimum=1)]


def _unless_empty(counters: Mapping[str, int]) -> Mapping[str, Count] | None:
    return counters or None


@dataclass(frozen=True, kw_only=True)
class Measurement(Record):
    """One operator of a run, or several one after the other."""

    name: Annotated[str, Named("workload")]
    """What was run, the file of a model; of an operator, its name."""
    macs: Count = 0
    """Useful multiply-accumulates, whatever the array did: m n k of a product, without tiles above
    the diagonal of a causal one; of a program file, products of elements that A, weights and C all
    have."""
    shape: str | None = None
    """MxNxK of a product: A is MxK, B is KxN; null for a program file and for several operators."""
    cycles: Cycles | None = None
    """From the first command accepted (of a ring: from the write to the doorbell) to the last write
    response; null without a clock (functional), and of a run that was stopped."""
    mismatches: Count | None = None
    """Elements that differ from the definition; of a program file, bytes that differ from the
    functional model; null: nothing was compared."""
    elements_checked: Count = 0
    """Elements (bytes) that were compared; 0 is an error, unless `check` is `none`."""
    dram_read_bytes: Count = 0
    """Bytes that loads asked for; without a clock, what the commands say."""
    dram_write_bytes: Count = 0
    """Bytes that stores wrote; without a clock, what the commands say."""
    commands: Count = 0
    """Commands of the program, loops expanded."""
    entries: Annotated[Count | None, Named("program_entries")] = None
    """Commands of the program as it stands in memory, a loop's body once; null for a graph's parts
    and program files."""
    cpu_seconds: Hidden[float] = 0.0
    """Processor time inside the simulator, memory model included."""
    elapsed_seconds: Annotated[float, Rule(minimum=0)] = 0.0
    """Time on the wall in seconds; of the whole run, with operands, compilation and the building of
    a simulator."""
    counters: Mapping[str, Count] = field(default_factory=dict)
    """The hardware's counters, as [counters.md](counters.md) names them; empty without a clock, and
    of a run that was stopped."""
    predicted_cycles: Cycles | None = None
    """What the compiler's cost model expects of commands that stream; null for program files."""
    limit: Hidden[Limit | None] = None
    failure: Failure | None = None
    """Why the accelerator stopped before its program ended; null if it did not."""
    until_stopped: Annotated[Mapping[str, int], As(_unless_empty)] = field(default_factory=dict)
    """Counters of what ran until the run was stopped; null if it was not, or nobody can say."""
    least_traffic: Traffic | None = None
    """What must move if nothing moves twice and all else stays on the chip; null for program files.
    """
    problem: MatMul | None = None
    """The product that was measured, if it is one product alone, else null."""
    executed: Hidden[Executed | None] = None
    """Its program, if the device kept a log."""

    @property
    def right(self) -> bool:
        """Something was checked, and all of it is as it must be."""
        return self.failure is None and not self.mismatches and self.elements_checked > 0

    @Key
    def sim_cycles_per_second(self) -> Annotated[float | None, Rule(minimum=0)]:
        """Simulated cycles per second of processor time inside the run; null without a clock.

        The memory model is included.
        """
        return self.cycles / self.cpu_seconds if self.cycles and self.cpu_seconds > 0 else None

    @Key
    def program_bytes(self) -> Count | None:
        """Bytes that `program_entries` take in memory."""
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


def _unless_zero(budget: int) -> Cycles | None:
    return budget or None


@dataclass(frozen=True, kw_only=True)
class Setting(Record):
    """What a run was asked to be."""

    schema: Literal["celosia.run/1"] = "celosia.run/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    workload: Hidden[str]
    preset: str
    """The name or file that the configuration started from."""
    simulator: Annotated[str, Rule(enum=["functional", "amaranth", "verilator", "board"])]
    """What computed."""
    config: AcceleratorConfig
    """Every parameter of the accelerator, as it was used."""
    timing: Memory
    """The simulated memory."""
    issue: Issue = "stream"
    """How commands reached the accelerator: on its command port, or from a ring in memory."""
    cycle_budget: Annotated[int, As(_unless_zero)] = 0
    """Busy cycles (on functional: commands, loops expanded) after which a program is stopped with
    an error, or null."""
    check: Added[Check] = "all"
    """What was compared: every tensor in memory and the distance to float, only what programs
    compute for others, or nothing."""
    weights_prepacked: Literal[False] = False
    """Whether weights stood in memory in another order than row-major; so far always false."""
    origin: Inline[Origin] = field(default_factory=Origin)

    @Key
    def seed(self) -> Count:
        """The seed of random operands, of garbage in memories and of back-pressure."""
        return self.timing.seed


@dataclass(frozen=True)
class ShownLimit:
    """What no program can be faster than."""

    cycles: Cycles
    """No program needs fewer."""
    mac_utilization: Share | None
    """The utilization of a run of so many cycles."""
    bound: Annotated[str, Rule(enum=["compute", "reads", "writes"])]
    """The slowest resource."""


@dataclass(frozen=True)
class Shown(Record):
    """An operator of a run, or the whole run, with what was asked for."""

    setting: Inline[Setting]
    part: Inline[Measurement]

    @Key
    def mac_utilization(self) -> Share | None:
        """`macs` over what the array could have done in `cycles`; null without either."""
        return self.part.utilization(self.setting.config)

    @Key
    def limit(self) -> ShownLimit | None:
        """The fewest cycles that any program could need; null for program files."""
        if (limit := self.part.limit) is None:
            return None
        share = self.part.limit_utilization(self.setting.config)
        return ShownLimit(limit.cycles, share, limit.bound)


_SUMMED: Final = (
    *("macs", "elements_checked"),
    *("dram_read_bytes", "dram_write_bytes", "commands", "cpu_seconds"),
)
"""What adds up over operators."""


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    """A run: its setting, and what each of its operators has shown."""

    setting: Hidden[Setting]
    operators: Hidden[tuple[Measurement, ...]]
    elapsed_seconds: Hidden[float]
    whole: Hidden[Measurement | None] = None
    """The program that `operators` are parts of; None: each is a program of its own."""
    on_chip: tuple[str, ...] = ()
    """Tensors of a graph that never are in memory, and so are not compared themselves; what is
    computed from them is."""
    memory_plan: MemoryPlan | None = None
    """How bytes of memory were used again (`--check outputs`, `--check none`, `--reuse-memory`);
    null: each tensor had its own, or there are several programs."""
    rounded_scales: Added[RoundedScales | None] = None
    """How scales were rounded; null: the accelerator takes any float32, or it ran a program file.
    """
    similarity: Similarity | None = None
    """How alike the texts are that an encoder ran on; null: it ran on none."""
    step_bytes: Hidden[int | None] = None
    """Bytes that a decoder's step has to read: weights and caches; None: it is no decoder."""
    changes: tuple[Change, ...] = ()
    """What other hardware saves, if instructions were followed: of a graph, or measured."""

    @Key
    def everything(self) -> Inline[Shown]:
        """The whole run."""
        return Shown(self.setting, self.total)

    @Key
    def parts(self) -> Annotated[Sequence[Shown], Named("operators"), Rule(minItems=1)]:
        """The products, or the groups of operators, in order."""
        return [Shown(self.setting, part) for part in self.operators]

    @Key
    def one_program(self) -> bool:
        """Whether the operators are parts of one program.

        Else products run one after the other, each as a program of its own, and cycles, products,
        bytes, limits and counters of the whole are sums.
        """
        return self.whole is not None

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

    @Key
    def profile(self) -> Profile | None:
        """What each instruction did when.

        Null unless `--profile`, `--report` or `--trace` asked for it.
        """
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

    @Key
    def memory_limit_share(self) -> float | None:
        """The share of the memory's limit that a decoder's step reaches; null for other runs.

        Bytes of its int8 weights (no padding, bias or scales) and of keys and values of all tokens,
        over the memory's rate, over `cycles`.
        """
        cycles = self.total.cycles
        if self.step_bytes is None or not cycles:
            return None
        return self.step_bytes / self.setting.timing.bytes_per_cycle / cycles

    @Key
    def status(self) -> Literal["right", "wrong", "stopped", "unchecked"]:
        """What the run has shown; `unchecked`: it came to its end, and nothing was compared."""
        if self.total.failure:
            return "stopped"
        if self.setting.check == "none":
            return "unchecked"
        return "right" if self.right else "wrong"

    def _repr_html_(self) -> str:
        """A line for each operator, and one for all, as a table for notebooks."""
        config, parts = self.setting.config, [*self.operators]
        parts += [self.total] if len(parts) > 1 else []
        rows = [
            (
                part.name,
                part.cycles,
                part.predicted_cycles,
                None if (use := part.utilization(config)) is None else f"{use:.2%}",
                part.dram_read_bytes + part.dram_write_bytes,
                part.mismatches,
                part.elements_checked,
            )
            for part in parts
        ]
        heads = "operator", "cycles", "predicted", "MAC use", "bytes", "mismatches", "checked"
        setting = self.setting
        asked = f"{setting.workload} on {setting.preset} ({setting.simulator}): {self.status}"
        return html_table(heads, rows, asked)

    @property
    def exit_code(self) -> int:
        """The exit code of the command that made this report: 0 if nothing is wrong, else 1."""
        return 0 if self.right else 1


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
