"""What was decided for a saved model: plans of segments, on an accelerator and its memory.

Programs are what the compiler made of these plans: another compiler makes others of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.version import source_version
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import parse_plan, print_plan

__all__ = ["Decided"]

_NOT_PLANNED_FOR: Final = {"faults", "seed"}
"""What the timeline does not read of a memory."""

_OPS, _RING = "ops", "ring"
"""What the two parts of a program are called in a file."""
_COMPILER: Final = ("isa", "sw")
"""The layers whose code decides what a program is."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Plans with their tactics and their programs, and what they are the best ones for."""

    hardware: Mapping[str, Any]
    """Parameters of the configuration, and those of the memory."""
    plans: tuple[Plan, ...]
    programs: tuple[SavedProgram, ...] = ()
    """What was compiled of the plans; empty: it was another compiler, or nothing was."""
    outdated: bool = False
    """There were programs, of another compiler."""

    @classmethod
    def on(
        cls, config: AcceleratorConfig, timing: MemoryTiming, compiled: Sequence[CompiledGraph]
    ) -> "Decided":
        """Plans that were decided for this hardware, and compiled for it."""
        programs = tuple(map(SavedProgram.of, compiled))
        return cls(_parameters(config, timing), tuple(each.plan for each in programs), programs)

    def difference(self, config: AcceleratorConfig, timing: MemoryTiming) -> str:
        """How this hardware is another one; an empty text if it is the same."""
        here = _parameters(config, timing)
        return ", ".join(
            f"{name} = {self.hardware.get(name)}, not {value}"
            for name, value in here.items()
            if self.hardware.get(name) != value
        )

    def document(self, prefix: str) -> tuple[dict[str, Any], dict[str, bytes]]:
        """All of it as JSON values, and as members of a file whose names begin with `prefix`."""
        members: dict[str, bytes] = {}
        for number, each in enumerate(self.programs):
            members |= {
                f"{prefix}{number}/{_OPS}": each.ops,
                f"{prefix}{number}/{_RING}": each.ring,
            }
        found = {
            "hardware": dict(self.hardware),
            "plans": [print_plan(each) for each in self.plans],
            "compiler": source_version(_COMPILER) if self.programs else None,
        }
        return found, members

    @classmethod
    def read(cls, found: Mapping[str, Any], members: Mapping[str, bytes], prefix: str) -> "Decided":
        """What a file has.  Raises `KeyError`, `TypeError` or `ValueError` for what is none."""
        plans = tuple(parse_plan(each) for each in found["plans"])
        here = found["compiler"] == source_version(_COMPILER)
        programs = (
            SavedProgram(plan, *(members[f"{prefix}{number}/{part}"] for part in (_OPS, _RING)))
            for number, plan in enumerate(plans)
        )
        return cls(
            hardware=dict(found["hardware"]),
            plans=plans,
            programs=tuple(programs) if here else (),
            outdated=found["compiler"] is not None and not here,
        )


def _parameters(config: AcceleratorConfig, timing: MemoryTiming) -> dict[str, Any]:
    memory = asdict(timing) | {"channel_stalls": dict(timing.channel_stalls)}
    named = {f"memory {name}": memory[name] for name in memory.keys() - _NOT_PLANNED_FOR}
    return asdict(config) | dict(sorted(named.items()))
