"""What was decided for a saved model: a plan for each segment, on an accelerator and its memory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import parse_plan, print_plan

__all__ = ["Decided"]

_PLANNED_FOR: Final = ("latency", "bytes_per_cycle", "stall_percent")
"""What plans depend on of a memory."""


@dataclass(frozen=True, eq=False)
class Decided:
    """Plans with their tactics, and what they are the best ones for."""

    hardware: Mapping[str, Any]
    """Parameters of the configuration, and those of the memory."""
    plans: tuple[Plan, ...]

    @classmethod
    def on(
        cls, config: AcceleratorConfig, timing: MemoryTiming, plans: Sequence[Plan]
    ) -> "Decided":
        """Plans that were decided for this hardware."""
        return cls(_parameters(config, timing), tuple(plans))

    def difference(self, config: AcceleratorConfig, timing: MemoryTiming) -> str:
        """How this hardware is another one; an empty text if it is the same."""
        here = _parameters(config, timing)
        return ", ".join(
            f"{name} = {self.hardware.get(name)}, not {value}"
            for name, value in here.items()
            if self.hardware.get(name) != value
        )

    def document(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {"hardware": dict(self.hardware), "plans": [print_plan(each) for each in self.plans]}

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> "Decided":
        """What a document has.  Raises `KeyError`, `TypeError` or `ValueError` for what is none."""
        return cls(dict(found["hardware"]), tuple(parse_plan(each) for each in found["plans"]))


def _parameters(config: AcceleratorConfig, timing: MemoryTiming) -> dict[str, Any]:
    memory = {f"memory {name}": getattr(timing, name) for name in _PLANNED_FOR}
    return asdict(config) | memory
