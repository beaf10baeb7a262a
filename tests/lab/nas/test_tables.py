"""What `celosia nas` prints of points, by numbers that are made up."""

from typing import Any

from rich.console import Console

from celosia.lab.nas.models.candidates import Amount, Candidate
from celosia.lab.nas.models.costs import SCENARIOS
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.models.search import Found, Point
from celosia.lab.nas.models.searches import EVOLUTION, RANDOM, SEARCHES
from celosia.lab.nas.models.statistics import Interval
from celosia.lab.nas.tables import (
    costs_table,
    gains_table,
    points_table,
    ranking_line,
    sizes,
    verdict,
)
from tests.support.language import TINY, UNLIKE

LARGEST = Candidate(UNLIKE, 20.0, {name: Amount(8_000, 4e6) for name in SCENARIOS})
SMALLER = Candidate(TINY, 20.5, {name: Amount(2_000, 2e6) for name in SCENARIOS})
POINTS = [Point("the largest", LARGEST), Point("smaller", SMALLER)]
MEASURED = {
    UNLIKE: Measured(whole=dict.fromkeys(SCENARIOS, 10_000), rtl={}),
    TINY: Measured(
        whole=dict.fromkeys(SCENARIOS, 1_600),
        rtl=dict.fromkeys(SCENARIOS, 2_500),
        scratch=21.25,
        ratio=Interval(1.0625, 1.05, 1.075),
    ),
}


def rows(table):
    """The cells of each row of a table, as it is printed."""
    console = Console(width=200)
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    with console.capture() as printed:
        console.print(table)
    assert printed.get()
    return list(zip(*columns, strict=True))


def searched(searches):
    """What searches have found, which nothing is judged by any more."""
    unused: Any = None
    return Found(judge=unused, largest=LARGEST, searches=searches)


def test_a_model_is_its_width_and_its_layers():
    assert sizes(UNLIKE) == "16: 4/24 3/40 1/8"


def test_costs_stand_beside_how_far_the_sum_is_from_them():
    """A sum of 8,000 is a fifth below a whole of 10,000, one of 2,000 a quarter above 1,600."""
    largest, smaller, *others = rows(costs_table(POINTS, MEASURED))
    assert len(others) == 2 * (len(SCENARIOS) - 1)
    assert largest[1:] == ("8,000", "10,000\n-20.0%", "-", "4.0", "1.00 x", "1.00 x", "1.00 x")
    beside = ("2,000", "1,600\n+25.0%", "2,500\n-20.0%", "2.0")
    assert smaller[1:] == (*beside, "4.00 x", "2.00 x", "8.00 x")


def test_perplexities_stand_beside_how_much_more_they_are():
    largest, smaller = rows(points_table(POINTS, MEASURED))
    assert largest[3:] == ("20.00\n+0.00%", "-", "-")
    assert smaller[0] == "smaller"
    assert smaller[2] == f"{TINY.parameters:,}"
    assert smaller[3:] == ("20.50\n+2.50%", "21.25", "1.0625\n1.0500-1.0750")


def test_gains_are_those_within_a_loss():
    """The smaller model loses 2.5 %: more than the first loss that is asked about permits."""
    looked_at = {scenario: {name: [SMALLER] for name in SEARCHES} for scenario in SCENARIOS}
    found = rows(gains_table(searched(looked_at)))
    first = next(iter(SCENARIOS))
    gains = {name.removeprefix(f"{first}, "): each for name, *each in found if first in name}
    assert gains["cycles, +0.45%"] == ["1.00 x"] * len(SEARCHES)
    assert gains["cycles, +4.50%"] == ["4.00 x"] * len(SEARCHES)
    assert gains["EDP, +4.50%"] == ["8.00 x"] * len(SEARCHES)


def test_the_verdict_says_which_search_is_better():
    searches = {EVOLUTION: [SMALLER], RANDOM: [LARGEST]}
    better = searched({"step": searches})
    # Within one of both losses: half of the exponents of 4, 2 and 8 times.
    gained = "step: evolution gains 2.000 x of what random search does, 1 models each"
    assert next(verdict(better)).startswith(gained)
    searches = {EVOLUTION: [LARGEST], RANDOM: [LARGEST]}
    even = searched({"step": searches})
    said = "step: evolution does not beat random search: 1.000 x of its gains"
    assert next(verdict(even)).startswith(said)


def test_ranks_are_those_of_scores_and_of_sizes():
    """The smaller one is the worse one by its score and by its size, and so it is from scratch."""
    line = ranking_line([LARGEST, SMALLER], [20.0, 21.0])
    assert line.startswith("Kendall's tau over 2 models of like cycles")
    assert "inherited 1.00 (" in line
    assert "parameter count 1.00 (" in line
