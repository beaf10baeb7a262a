"""Whether the compiler chooses the form of scores that the RTL prefers.

``python benchmarks/attention_forms.py [FILE [CYCLES]]`` appends a line of JSON to
``benchmarks/attention_forms.jsonl``, or to FILE, for each of `CASES` that is not in it: attention
of heads of 64 on preset `base` with another accumulator.  A line has the cycles of each form of
`celosia.sw.compiler.scores`, and of the compiler's choices, by the timeline and on the RTL, every
result compared.  Forms that decide the same are one.  Cases of which a run is expected to take over
CYCLES, 10 million by default, are left for another time; those that are expected to take least come
first.  At the end stands a table of all lines.

Heads are alike, and follow one another: each further one adds what the third one adds to two.  So
twelve heads are two heads and ten times that, and only two and three run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from statistics import mean
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.bench.kept import KeptCase, Line, show_kept
from celosia.lab.tune.work import Work
from celosia.sw.compiler.choose import choices_by_rows, choose
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.scores import forms
from celosia.sw.ir.graph import Mask
from celosia.sw.models.cases import Case, attention_case
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph

WIDTH: Final = 64
TIMING: Final = MemoryTiming()
CHOSEN: Final = "as chosen"
"""The compiler's choices: a form of scores, and whatever else it decides."""
NEAR: Final = 1.01
"""How many times the cycles of the best form the chosen one may take."""
MANY: Final = 3
"""Heads of the longest program that runs for a case of more heads."""


@dataclass(frozen=True, kw_only=True)
class FormsCase(KeptCase):
    """An attention, and the accumulator that it is computed with."""

    accumulator_kib: int
    seq: int
    heads: int
    causal: bool

    @property
    def config(self) -> AcceleratorConfig:
        """The accelerator."""
        return resolve_config("base", (f"accumulator_kib={self.accumulator_kib}",))

    def case(self, heads: int) -> Case:
        """The attention with so many heads."""
        return attention_case(heads, self.seq, WIDTH, 0, mask=Mask(causal=self.causal))

    @cached_property
    def ways(self) -> Mapping[str, Choices]:
        """The choices of each form that is possible and decides something else, by its name."""
        graph, found = self.case(self.heads).graph, dict[str, Choices]()
        stages = list[object]()
        chosen = {CHOSEN: choose(graph, self.config, TIMING)}
        others = forms(choices_by_rows(graph, self.config))
        for name, choices in (*chosen.items(), *others.items()):
            with suppress(ValueError):
                plan = decide_graph(graph, self.config, choices)
                if (each := (plan.stages, plan.rings, plan.defer, plan.scheduler)) not in stages:
                    stages.append(each)
                    found[name] = choices
        return found

    @property
    def effort(self) -> int:
        """Cycles of the array for the longest program that runs, if nothing is computed twice."""
        tiles = (self.seq // self.config.dim) ** 2 * (WIDTH // self.config.dim) * 2
        return tiles * self.config.dim * min(self.heads, MANY) // (1 + self.causal)

    def measured(self) -> dict[str, Any]:
        """What each form takes, predicted and on the RTL."""
        return {"forms": {name: self._form(choices) for name, choices in self.ways.items()}}

    def _form(self, choices: Choices) -> dict[str, Any]:
        runs = [self.heads] if self.heads <= MANY else [MANY - 1, MANY]
        both = [self._run(heads, choices) for heads in runs]
        predicted, cycles = (
            values[-1] + (self.heads - runs[-1]) * (values[-1] - values[0])
            for values in zip(*both, strict=True)
        )
        return {"choices": str(choices), "predicted": predicted, "cycles": cycles}

    def _run(self, heads: int, choices: Choices) -> tuple[int, int]:
        """Cycles by the timeline and on the RTL.  Raises `ValueError` if a result is wrong."""
        case, config = self.case(heads), self.config
        plan = decide_graph(case.graph, config, choices)
        found = Work(case.graph, case).measured(plan, config, TIMING)
        if not found.right or found.cycles is None:
            raise ValueError(f"{self}: {found.failure or found.mismatches}")
        return predict(case.graph, config, plan, TIMING).cycles, found.cycles


CASES: Final = tuple(
    FormsCase(accumulator_kib=kib, seq=seq, heads=heads, causal=causal)
    for kib, seq, heads, causal in product(
        (32, 64, 128, 256), (512, 1024, 2048, 4096), (1, 2, 12), (False, True)
    )
)


def _place(line: Line) -> list[Any]:
    """What lines are sorted by."""
    return [line[name] for name in asdict(CASES[0])]


def best(line: Line) -> int:
    """Cycles of the form that the RTL prefers."""
    return min(each["cycles"] for each in line["forms"].values())


def ratio(line: Line) -> float:
    """The chosen form over the best one."""
    return line["forms"][CHOSEN]["cycles"] / best(line)


def errors(line: Line) -> dict[str, float]:
    """How far predictions are off, by form."""
    return {name: each["predicted"] / each["cycles"] - 1 for name, each in line["forms"].items()}


def row(line: Line) -> str:
    """The chosen form of a case over the best one, and errors of predictions."""
    return (
        f"{line['accumulator_kib']:4} {line['seq']:5} {line['heads']:5} "
        f"{'yes' if line['causal'] else 'no':6} {line['forms'][CHOSEN]['cycles']:12,} "
        f"{best(line):12,} {ratio(line):5.3f}  "
        f"{', '.join(f'{name} {error:+.1%}' for name, error in errors(line).items())}"
    )


def table(lines: Sequence[Line]) -> Iterator[str]:
    """A row for each case, and how often the choice is a bad one."""
    yield f"{'KiB':>4} {'l':>5} {'heads':>5} {'causal':6} {'chosen':>12} {'best':>12} ratio  errors"
    yield from map(row, sorted(lines, key=_place))
    if lines:
        off = [abs(error) for line in lines for error in errors(line).values()]
        yield (
            f"{len(lines)} of {len(CASES)} cases; the chosen form takes over {NEAR} times the best "
            f"in {sum(ratio(line) > NEAR for line in lines)}; predictions are off by "
            f"{mean(off):.2%} on average, by {max(off):.2%} at most"
        )


if __name__ == "__main__":
    show_kept(__file__, CASES, row, table, 10_000_000, "cycles of a run")
