"""`celosia nas --run`: the model of a point, predicted and on the RTL."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rich.table import Table

from celosia.lab.nas.models.candidates import sizes
from celosia.lab.nas.models.costs import SCENARIOS, costs_of, whole
from celosia.lab.nas.models.rtl import run_pieces
from celosia.lab.nas.models.space import Space
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import Lines
from celosia.sim.profile.resources import ARRAY, groups
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["parse_model", "run_model"]

_OPTION: Final = "--run"
_FORM: Final = re.compile(r"(\d{1,5}):((?: \d{1,5}/\d{1,5})+)")


def parse_model(text: str, space: Space) -> LlamaShape:
    """The model of sizes as pages and tables write them, ``96: 4/192 2/64``.

    It need not be of the `space`, whose heads have its width and share keys.  Raises `InputError`.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise InputError(
            f"{_OPTION} {text!r}: write WIDTH: HEADS/CHANNELS of each layer, as in '96: 4/192 2/64'"
        )
    layers = [tuple(map(int, each.split("/"))) for each in found[2].split()]
    width, heads, hidden = int(found[1]), *(sorted(set(each)) for each in zip(*layers, strict=True))
    try:
        legal = replace(
            space,
            depths=(len(layers),),
            widths=(width,),
            heads=tuple(heads),
            hidden=tuple(hidden),
        )
    except ValueError as error:
        raise InputError(f"{_OPTION} {text!r}: {error}") from None
    for count in heads:
        if count not in legal.heads:
            raise InputError(
                f"{_OPTION} {text!r}: {count} heads are no multiple of the {space.together} that "
                "share keys"
            )
    return legal.model(width, tuple(legal.layer(*each) for each in layers))


def run_model(
    model: LlamaShape, machine: Machine, lines: Lines, lanes: Sequence[Lane], tell: Progress
) -> Table:
    """What a model takes in each scenario, and whose the array's cycles are.

    Raises `InputError` for what cannot be compiled, and for a wrong result.
    """
    pieces = {scenario: whole(model, scenario, machine) for scenario in SCENARIOS}
    costs = costs_of(list(pieces.values()), lines, lanes, tell)
    ran = run_pieces(list(pieces.values()), lines, tell)
    taken = Table(title=f"{sizes(model)}; every tensor right", title_justify="left")
    taken.add_column("cycles")
    for scenario in SCENARIOS:
        taken.add_column(scenario, justify="right", no_wrap=True)
    predicted = {scenario: costs[piece].cycles for scenario, piece in pieces.items()}
    on_rtl = {scenario: ran[piece] for scenario, piece in pieces.items()}
    taken.add_row("predicted", *(f"{each:,.0f}" for each in predicted.values()))
    taken.add_row("on the RTL", *(f"{line['cycles']:,}" for line in on_rtl.values()))
    taken.add_row(
        "predicted over RTL",
        *(f"{predicted[name] / line['cycles'] - 1:+.2%}" for name, line in on_rtl.items()),
    )
    taken.add_section()
    for group in groups(ARRAY):
        cells = [
            f"{line['owners'][group]:,} {line['owners'][group] / line['cycles']:6.2%}"
            for line in on_rtl.values()
        ]
        if any(line["owners"][group] for line in on_rtl.values()):
            taken.add_row(f"the array's: {group}", *cells)
    return taken
