"""What searches are raced on: two products, two attentions and a layer, small enough to run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.tune.spaces.choice_space import ChoiceSpace
from celosia.lab.tune.spaces.graph_space import plan_space
from celosia.lab.tune.work import Work
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.product_workloads import matmul
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.ir.graph import Mask
from celosia.sw.models import cases
from celosia.sw.models.cases import Case
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape

__all__ = ["WORKLOADS", "Racetrack"]


@dataclass(frozen=True, eq=False)
class Racetrack:
    """A workload, its plans, and the cycles that count as found."""

    name: str
    make: Callable[[], Work]
    target: int
    """The fewest cycles on the RTL that any search had found before the race, but for plans that
    are withheld from it."""
    preset: str = "base"
    timing: MemoryTiming = field(default_factory=MemoryTiming)

    @cached_property
    def work(self) -> Work:
        """What runs."""
        return self.make()

    @cached_property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return resolve_config(self.preset)

    @cached_property
    def space(self) -> ChoiceSpace:
        """The plans."""
        return plan_space(self.work.graph, self.config)

    @cached_property
    def own(self) -> Plan:
        """The compiler's plan."""
        return find_plan(self.work.graph, self.config, self.timing)


def _product(shape: str) -> Work:
    (operator,) = matmul(Matmul(shape=shape), 0)
    return Work(graph_of(operator.name, operator.operands.problem), operator)


def _of(case: Case) -> Work:
    return Work(case.graph, case)


def _layer() -> Work:
    model = cases.random_quantized_encoder(EncoderShape(layers=2, width=64, heads=2, hidden=128), 0)
    return _of(cases.encoder_layer_case(model, [16], 0))


WORKLOADS: Final = (
    Racetrack("product 20x40x72, tiny", lambda: _product("20x40x72"), 3751, preset="tiny"),
    Racetrack("product 48x64x96", lambda: _product("48x64x96"), 1387),
    Racetrack(
        "attention, 2 heads of 32, 32 tokens", lambda: _of(cases.attention_case(2, 32, 32, 0)), 1812
    ),
    Racetrack(
        "attention, causal, 64 wide, 80 tokens, 8 B/cycle",
        lambda: _of(cases.attention_case(1, 80, 64, 0, mask=Mask(causal=True))),
        4073,
        timing=MemoryTiming(bytes_per_cycle=8),
    ),
    Racetrack("layer, 64 wide, 2 heads, 16 tokens", _layer, 5879),
)
"""The five, with targets that were found before the race."""
