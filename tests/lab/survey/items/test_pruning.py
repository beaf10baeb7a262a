"""What pruning gains: the numbers are those of docs/pruning.md, limits follow from shares."""

from pathlib import Path

import pytest

from celosia.lab.survey.items.pruning import STUDIES
from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.values import Evidence, Scope

ROOT = Path(__file__).parents[4]


@pytest.fixture
def values():
    [study] = STUDIES
    assert not study.jobs(Scope())
    return study.make(Evidence(paper(), {}, Scope())).values


def test_cycles_are_those_of_the_page_of_pruning(values):
    """Each of the two numbers of a note stands in the page's table, and so does each quality."""
    rows = [line for line in (ROOT / "docs/pruning.md").read_text().splitlines() if "|" in line]
    table = "\n".join(rows)
    cycles = [each for each in values if each.name.endswith("times fewer cycles")]
    assert len(cycles) == 13
    for each in cycles:
        before, after = each.note.removesuffix(" cycles").split(" and ")
        assert f"| {before} |" in table
        assert f"| {after} |" in table
        assert each.ours == pytest.approx(
            int(before.replace(",", "")) / int(after.replace(",", "")), abs=5e-4
        )
    qualities = [f"{each.ours:.4f}" for each in values if "of the model as it was" in each.note]
    assert qualities == ["1.0000", "1.0067", "0.9713", "1.0010", "1.0792", "0.9615", "0.9753"]
    assert all(quality.lstrip("0") in table for quality in qualities)


def test_nothing_gains_more_than_its_limit(values):
    limits = {
        each.name.rpartition(":")[0]: each.ours for each in values if "the limit" in each.name
    }
    assert list(limits.values()) == [1.163, 1.391, 1.2, 2.0, 1.23, 1.23, 1.091, 1.143]
    for each in values:
        if each.name.endswith("times fewer cycles"):
            assert 1 < each.ours <= limits[each.name.rpartition(":")[0]]
