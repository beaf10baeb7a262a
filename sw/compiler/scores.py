"""Where the scores of attention wait for their softmax, by predicted cycles.

Scores of all keys stand in the accumulator at once, or those of parts of the keys wait in memory,
or are computed twice.  Which is best follows from how many rows of a block are left, how long
weights take to move in, and what memory has to carry: no rule of shapes says so for all sizes.  So
each kind of attention of a graph is computed alone, a few rows of a few heads, in all forms.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sw.compiler.passes import predict
from celosia.sw.ir.graph import Graph, Op
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.decisions.head_cuts import HeadShape, head_shape
from celosia.sw.planning.extents import tiles
from celosia.sw.planning.forms.groups import Head, Heads, groups
from celosia.sw.planning.forms.plan import Stage, head_groups

__all__ = ["FORMS", "ScoresCycles", "choose_scores", "forms", "scores_cycles"]

_TILES: Final = 8_192
"""Tiles of scores that are enough to compare forms: those of a part of long rows, or of many heads
of short ones."""
_ROWS: Final = 16
"""Tiles of rows, at least: a few blocks, of which one follows the other."""
_FEW_KEYS: Final = 256
"""Keys of which scores never wait in memory to advantage, if there is room for all."""
FORMS: Final[Mapping[str, Mapping[str, bool]]] = {
    "as by rule": {},
    "at once": {"whole_scores": True, "short_blocks": True},
    "twice": {"whole_scores": False, "scores_in_memory": False},
    "through memory": {"whole_scores": False, "scores_in_memory": True},
}
"""The forms that are compared, as choices; the first is what a rule of shapes says.  None is at
once in blocks of less than half of the array's rows: scores that are computed twice take no longer
then."""


def forms(choices: Choices) -> Mapping[str, Choices]:
    """`choices` with each of the forms, by its name."""
    return {name: replace(choices, **way) for name, way in FORMS.items()}


@dataclass(frozen=True)
class ScoresCycles:
    """What the heads of a graph are expected to take if their scores have one form."""

    choices: Choices
    cycles: int
    stages: tuple[tuple[Stage, ...], ...]
    """What is decided for each kind; forms with the same stages are the same."""


def choose_scores(
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming | None,
    choices: Choices,
    gain: float,
) -> Choices:
    """`choices` with the form in which all heads of `graph` take least, if it saves that share.

    Scores of few keys at once, in blocks as tall as others would be, are not compared: all else
    computes or moves as much, or more.
    """
    if all(_are_tall(part, config, choices) for part, _ in _probes(graph, config, choices)):
        return choices
    found = scores_cycles(graph, config, timing, choices)
    if not found:
        return choices
    (rule, *_), best = found.values(), min(found.values(), key=lambda form: form.cycles)
    return best.choices if best.cycles < rule.cycles * (1 - gain) else choices


def _are_tall(part: Graph, config: AcceleratorConfig, choices: Choices) -> bool:
    """Whether scores of few keys are made at once in `part`, in no more blocks than rows need."""
    with suppress(ValueError):
        tall = choices.block_tiles * config.dim
        return all(
            len(group.keys) == 1
            and sum(group.keys) <= _FEW_KEYS
            and len(group.rows) == tiles(sum(group.rows), tall)
            for group in head_groups(decide_graph(part, config, choices))
        )
    return False


def scores_cycles(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming | None, choices: Choices
) -> Mapping[str, ScoresCycles]:
    """The predicted cycles of all heads of `graph`, alone, by the form of their scores.

    Empty: there are none, or what is computed has so few rows that all stays on the chip.  A form
    that comes to the same as one before it is left out, and so is one that is not possible.
    """
    probes = tuple(_probes(graph, config, choices))
    found: dict[str, ScoresCycles] = {}
    for name, others in forms(choices).items():
        try:
            stages = tuple(decide_graph(part, config, others).stages for part, _ in probes)
            if probes and all(stages != each.stages for each in found.values()):
                cycles = sum(
                    share * predict(part, config, others, timing).cycles for part, share in probes
                )
                found[name] = ScoresCycles(others, round(cycles), stages)
        except ValueError:
            if not found:
                return {}  # What the rule says is not possible.
    return found


def _probes(
    graph: Graph, config: AcceleratorConfig, choices: Choices
) -> Iterator[tuple[Graph, float]]:
    """Few rows of few heads of each kind, and how often the graph has as much of them."""
    kinds: dict[HeadShape, list[Head]] = {}
    for group in groups(graph, fused_norms=choices.fused_norms):
        for head in group.heads if isinstance(group, Heads) else ():
            kinds.setdefault(head_shape(head, graph, config.dim), []).append(head)
    for shape, heads in kinds.items():
        if shape.rows <= 2 * config.dim:
            continue
        keys = tiles(shape.keys, config.dim)
        rows = min(shape.rows, max(_ROWS, _TILES // keys) * config.dim)
        scores = tiles(rows, config.dim) * keys
        few = heads[: max(1, _TILES // scores)]
        ops = tuple(chain.from_iterable(_rows(head, rows, config.dim) for head in few))
        yield replace(graph, ops=ops), len(heads) * shape.rows / (len(few) * rows)


def _rows(head: Head, rows: int, dim: int) -> tuple[Op, ...]:
    """So many rows in the middle of a head: causal ones see half of the keys, as on average."""
    first = (head.scores.out.rows - rows) // 2 // dim * dim
    return head.scores.some_rows(first, rows), head.context.some_rows(first, rows)
