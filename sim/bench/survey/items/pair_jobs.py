"""A pair of operators, fused or not, as a task."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.sim.bench.compilers.nonlinear import MODES, measure_mode
from celosia.sim.bench.survey.parts.jobs import Run
from celosia.sim.support.cache import digest
from celosia.sim.support.progress import silent
from celosia.sim.support.version import source_version
from celosia.sim.verilator.build import rtl_key
from celosia.sw.models.cases import Case
from celosia.sw.models.pairs import linear_norm_case, scores_case
from celosia.sw.reference.encoder import BERT_BASE

__all__ = ["AS_COMPILED", "PAIRS", "SERIAL", "PairJob"]

SERIAL: Final = "serial"
AS_COMPILED: Final = "as compiled"
_MODES: Final = {mode.name: mode for mode in MODES}

PAIRS: Final[Mapping[str, int]] = {
    "scores and softmax": BERT_BASE.head_width,
    "output and normalization": BERT_BASE.width,
    "down and normalization": BERT_BASE.hidden,
}
"""The depth of the product of each pair, of BERT-Base."""


@dataclass(frozen=True, kw_only=True)
class PairJob:
    """A pair to run on `base` with an accumulator of its own."""

    pair: str
    """One of `PAIRS`."""
    tokens: int
    heads: int
    """Heads of attention, of which a linear layer has none."""
    accumulator_kib: int
    spilled: bool
    """Sums go to memory and come back."""
    mode: str
    """`SERIAL`: units take turns; `AS_COMPILED`: they overlap."""

    @cached_property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return resolve_config("base", self._overrides)

    @cached_property
    def _overrides(self) -> tuple[str, ...]:
        usual = self.accumulator_kib == resolve_config("base").accumulator_kib
        return () if usual else (f"accumulator_kib={self.accumulator_kib}",)

    @cached_property
    def netlist(self) -> str:
        """The hash of all that the netlist is made from."""
        return rtl_key(self.config)

    @property
    def key(self) -> str:
        """Names the job, the RTL and the compiler."""
        return digest([repr(self), self.netlist, source_version(("isa", "sw"))])

    @property
    def _scores(self) -> bool:
        return self.pair == next(iter(PAIRS))

    @property
    def array_cycles(self) -> int:
        """Cycles that the array needs at least: how long the run will take, roughly."""
        columns = self.heads * self.tokens if self._scores else BERT_BASE.width
        return self.tokens * columns * PAIRS[self.pair] // self.config.macs_per_cycle

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again."""
        return {
            "workload": self.pair,
            "seq": self.tokens,
            **({"heads": self.heads} if self._scores else {}),
            "sums": "through memory" if self.spilled else "kept",
            "mode": self.mode,
            "preset": "base",
            **({"set": " ".join(self._overrides)} if self._overrides else {}),
        }

    def run(self) -> Run:
        """Run it on Verilator, with every result compared.  Raises `WrongRunError`."""
        return Run.of(measure_mode(_MODES[self.mode], self._case(), self.config, silent))

    def kept(self, document: Mapping[str, Any]) -> Run:
        """The inverse of a run's document.  Raises `TypeError` for other keys."""
        return Run(**document)

    def _case(self) -> Case:
        depth = PAIRS[self.pair]
        if self._scores:
            return scores_case(self.heads, self.tokens, depth, 0, spilled=self.spilled)
        return linear_norm_case(self.tokens, BERT_BASE.width, depth, 0, spilled=self.spilled)
