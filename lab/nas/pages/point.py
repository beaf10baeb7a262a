"""A point of a page: its model, its machine, whose its cycles are, and how to run it."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.nas.machines.tables import machine_sizes
from celosia.lab.nas.models.candidates import sizes
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.pages.races import Dot, Race
from celosia.sim.profile.whatif import Hardware
from celosia.sim.reporting.page.html import definition_table, paragraph, preformatted, table
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["point_html", "point_words"]

_USUAL: Final = Hardware(PRESETS["base"], MemoryTiming())
"""What `celosia nas` takes if nothing else is said."""
_BESIDE: Final = "vocabulary, beginning and end"
_HEADS: Final = ("whose", "cycles", "share")


def point_words(race: Race, dot: Dot, folder: str, options: Sequence[str]) -> list[str]:
    """The command that runs a dot; `options` are those of the search's space."""
    machine = Hardware(dot.config, race.machine.timing)
    words = ["celosia", "nas", "--out", folder, *options, "--run", sizes(dot.model)]
    return [*words, *machine.options(_USUAL)]


def point_html(
    race: Race,
    dot: Dot,
    name: str,
    found_by: Sequence[str],
    measured: Mapping[LlamaShape, Measured],
    words: Sequence[str],
) -> str:
    """What is shown of a dot that was chosen; `measured` is of the fixed machine."""
    usual = dot.config == race.machine.config and race.metric == "cycles"
    more = measured.get(dot.model) if usual else None
    body = [
        f"<h3>{sizes(dot.model)}</h3>",
        definition_table(_facts(race, dot, found_by, more)),
        "<h4>Cycles by layer, summed</h4>",
        table(_HEADS, _shares(_layers(race, dot))),
    ]
    if more and (owners := more.owners.get(race.scenario)):
        counted = {owner: cycles for owner, cycles in owners.items() if cycles}
        body += ["<h4>The array's cycles on the RTL</h4>", table(_HEADS, _shares(counted))]
    body += [
        paragraph("To run it on the RTL, every tensor compared, and see whose the cycles are:"),
        preformatted(shlex.join(words)),
    ]
    return f'<article class="behind" id="{name}">{"".join(body)}</article>'


def _facts(
    race: Race, dot: Dot, found_by: Sequence[str], more: Measured | None
) -> Iterator[tuple[str, object]]:
    amount, base = dot.amount, race.base
    yield "machine", machine_sizes(dot.config)
    yield "on the front of", ", ".join(found_by) or "none: it is what others are compared with"
    yield "weights", dot.model.parameters
    lost = dot.perplexity / base.perplexity - 1
    yield "perplexity, inherited", f"{dot.perplexity:.2f} ({lost:+.2%})"
    if more and more.scratch is not None:
        yield "perplexity from scratch, held-out", f"{more.scratch:.2f}"
    yield "cycles, summed", _beside(amount.cycles, base.amount.cycles)
    if more:
        yield "cycles, predicted as one program", f"{more.whole[race.scenario]:,.0f}"
    if more and race.scenario in more.rtl:
        yield "cycles on the RTL", f"{more.rtl[race.scenario]:,}"
    yield "energy, uJ", _beside(amount.pj / 1e6, base.amount.pj / 1e6, 1)
    yield "energy times cycles", _of(base.amount.by("EDP") / amount.by("EDP"))


def _of(times: float) -> str:
    return f"1/{times:.2f} of the largest's"


def _beside(value: float, base: float, digits: int = 0) -> str:
    return f"{value:,.{digits}f} ({_of(base / value)})"


def _layers(race: Race, dot: Dot) -> dict[str, float]:
    """Cycles by layer, of layers that are alike and follow each other together."""
    beside, *layers = race.parts(dot)
    found: dict[str, float] = {}
    begin = 0
    while begin < len(layers):
        layer, end = dot.model.layers[begin], begin + 1
        while end < len(layers) and dot.model.layers[end] == layer:
            end += 1
        span = f"layer {begin}" if end == begin + 1 else f"layers {begin}-{end - 1}"
        what = f"{span}: {layer.heads} heads, {layer.hidden} channels"
        found[what] = sum(layers[begin:end])
        begin = end
    return {**found, _BESIDE: beside}


def _shares(cycles: Mapping[str, float]) -> list[tuple[str, str, str]]:
    total = sum(cycles.values())
    return [(name, f"{each:,.0f}", f"{100 * each / total:.1f} %") for name, each in cycles.items()]
