"""Operators that may be fused, in one of several forms, as a task."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.nonlinear import by_turns
from celosia.lab.graphs.pairs import context_case, linear_norm_case, scores_case
from celosia.lab.survey.items.whole_rows import whole_rows
from celosia.lab.survey.parts.jobs import Run
from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import measure_compiled
from celosia.sim.support.cache import digest
from celosia.sim.support.version import source_version
from celosia.sim.verilator.build import rtl_key
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import Case, attention_case
from celosia.sw.reference.encoder import BERT_BASE

__all__ = [
    "APART",
    "AS_CHOSEN",
    "ATTENTION",
    "BY_TURNS",
    "FORMS",
    "FUSED",
    "NORM_APART",
    "PAIRS",
    "WHOLE_ROWS",
    "PairJob",
]

APART: Final = "apart"
NORM_APART: Final = "norm apart"
FUSED: Final = "fused"
WHOLE_ROWS: Final = "whole rows"
ATTENTION: Final = "as attention"
FORMS: Final[Mapping[str, str]] = {
    APART: "each operator by itself, int32 sums through memory",
    NORM_APART: "the residual sum on the way out of the accumulator, the norm by itself",
    FUSED: "softmax, or residual sum and moments, on the way out of the accumulator",
    WHOLE_ROWS: "all columns of a row in the accumulator, on the chip until they are normalized",
    ATTENTION: "numerators on the chip, divided behind the product with the values",
}
"""How operators are put together."""

BY_TURNS: Final = "products and others by turns"
AS_CHOSEN: Final = "as the compiler chooses"

PAIRS: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "scores and softmax": (BERT_BASE.head_width, (APART, FUSED)),
    "scores, softmax and context": (BERT_BASE.head_width, (APART, FUSED, ATTENTION)),
    "output and normalization": (BERT_BASE.width, (APART, NORM_APART, FUSED, WHOLE_ROWS)),
    "down and normalization": (BERT_BASE.hidden, (APART, NORM_APART, FUSED, WHOLE_ROWS)),
}
"""The depth of the first product of BERT-Base's, and the forms that there are of each."""
_SCORES, _CONTEXT, *_ = PAIRS


@dataclass(frozen=True, kw_only=True)
class PairJob:
    """A pair to run on `base` with an accumulator of its own."""

    pair: str
    """One of `PAIRS`."""
    tokens: int
    heads: int
    """Heads of attention, of which a linear layer has none."""
    accumulator_kib: int
    form: str
    """One of the pair's `FORMS`."""
    mode: str
    """`BY_TURNS`: the array and the unit of vectors take turns, and loads and stores go on beside
    both; `AS_CHOSEN`: all overlap as the compiler's own choices have it."""

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
    def _of_attention(self) -> bool:
        return self.pair in (_SCORES, _CONTEXT)

    @property
    def _depth(self) -> int:
        return PAIRS[self.pair][0]

    @property
    def array_cycles(self) -> int:
        """Cycles that the array needs at least: how long the run will take, roughly."""
        products = 2 if self.pair == _CONTEXT else 1
        columns = self.heads * self.tokens if self._of_attention else BERT_BASE.width
        return products * self.tokens * columns * self._depth // self.config.macs_per_cycle

    def settings(self) -> dict[str, Any]:
        """What a reader needs to run it again."""
        return {
            "workload": self.pair,
            "seq": self.tokens,
            **({"heads": self.heads} if self._of_attention else {}),
            "form": self.form,
            "mode": self.mode,
            "preset": "base",
            **({"set": " ".join(self._overrides)} if self._overrides else {}),
        }

    def run(self) -> Run:
        """Run it on Verilator, with every result compared.  Raises `WrongRunError`."""
        case = self._case()
        opened = partial(open_device, "verilator", self.config)
        return Run.of(measure_compiled(self.pair, self.compiled(case), case, opened).whole)

    def kept(self, document: Mapping[str, Any]) -> Run:
        """The inverse of a run's document.  Raises `TypeError` for other keys."""
        return Run(**document)

    def compiled(self, case: Case) -> CompiledGraph:
        """The program of the pair, in its form and mode."""
        if self.form == WHOLE_ROWS:
            return compile_graph(
                case.graph, self.config, Decide(whole_rows(case.graph, self.config))
            )
        choices = choose(case.graph, self.config)
        if self.form in (APART, NORM_APART):
            choices = replace(choices, fused_norms=False)
        if self.mode == AS_CHOSEN:
            return compile_graph(case.graph, self.config, Decide(choices))
        turns = replace(choices, overlap=False)
        compiled = compile_graph(case.graph, self.config, Decide(turns))
        return by_turns(compiled, beside=("load", "store"))

    def _case(self) -> Case:
        depth, spilled = self._depth, self.form == APART
        if self.form == ATTENTION:
            return attention_case(self.heads, self.tokens, depth, 0)
        if self._of_attention:
            make = scores_case if self.pair == _SCORES else context_case
            return make(self.heads, self.tokens, depth, 0, spilled=spilled)
        return linear_norm_case(self.tokens, BERT_BASE.width, depth, 0, spilled=spilled)
