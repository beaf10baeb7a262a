"""Tables of what was removed."""

from dataclasses import replace
from io import StringIO

from rich.console import Console

from celosia.lab.prune.costs import Cost
from celosia.lab.prune.parts.share import parse_share
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.lab.prune.report import pruned_model, tables

COST = Cost(input="a text", cycles=900, rtl_cycles=1000, read_bytes=7, write_bytes=8)
BEFORE = Narrower(weights=100, quality={"perplexity": 50.0, "ratio": 1.0}, costs=[COST])
LESS = Narrower(
    weights=75,
    quality={"perplexity": 51.234, "ratio": 1.02468},
    costs=[replace(COST, cycles=600, rtl_cycles=800)],
)
WANTED = Wanted(criterion="magnitude", ffn=parse_share("--ffn", "25%", numbers=False), repair=False)


def shown(*models, before=BEFORE):
    console = Console(width=80, record=True, file=StringIO())
    console.print(*tables([pruned_model(before, *each) for each in models]))
    return console.export_text()


def test_numbers_stand_beside_those_of_the_model_as_it_was():
    found = shown((BEFORE, None), (LESS, WANTED))
    for text in ("25.0%", "51.23", "1.0247", "ffn 25%, magnitude", "1.50 x", "1.25 x"):
        assert text in found


def test_cycles_of_the_rtl_are_there_if_it_ran():
    quiet = replace(BEFORE, costs=[replace(COST, rtl_cycles=None)])
    assert "RTL" in shown((BEFORE, None))
    assert "RTL" not in shown((quiet, None), before=quiet)


def test_a_model_as_it_was_has_lost_nothing():
    found = pruned_model(BEFORE, BEFORE, None)
    assert (found.name, found.removed, found.criterion) == ("as it was", 0, None)
