"""Gains of searches: the survey's beside those that docs/nas.md has."""

from itertools import product
from pathlib import Path

from celosia.lab.survey.items.searching import STUDIES
from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.values import Evidence, Scope

ROOT = Path(__file__).parents[4]


def test_ours_are_those_of_the_page_of_searches():
    """A row of the table has the gains of a scenario at a loss: wanted, then those of evolution."""
    [study] = STUDIES
    assert not study.jobs(Scope())
    item = study.make(Evidence(paper(), {}, Scope()))
    text = (ROOT / "docs" / "nas.md").read_text()
    rows = {
        line.split("|")[1].strip(): line.split("|")[3].strip()
        for line in text.splitlines()
        if line.startswith(("| prefill: cycles", "| step: cycles"))
    }
    values = iter(item.values)
    for scenario, loss in product(("prefill", "step"), ("+0.45 %", "+4.5 %")):
        told = rows[f"{scenario}: cycles, energy, EDP at {loss}"]
        ours = [next(values) for _ in range(3)]
        assert told == ", ".join(f"{value.ours:.2f}" for value in ours)
        assert all(value.name.startswith(f"{scenario}: ") and loss in value.note for value in ours)
    assert [value.paper for value in item.values[:6]] == [1.4, 1.6, 2.2, 2.4, 4.4, 10.6]
    assert len(item.values) == 12
