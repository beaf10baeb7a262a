"""What is done with the points of a search: trainings from scratch, whole programs, RTL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

from celosia.lab.nas.models.candidates import Candidate
from celosia.lab.nas.models.costs import SCENARIOS, costs_of, whole
from celosia.lab.nas.models.measured import Measured
from celosia.lab.nas.models.rtl import run_pieces
from celosia.lab.nas.models.search import Asked, Found, Point, ranked
from celosia.lab.nas.models.texts import Texts
from celosia.lab.nas.models.validate import SEEDS, Scratch, ratio_of, recipes_of, trained
from celosia.lab.nas.tables import ranking_line
from celosia.lab.prune.costs import Machine
from celosia.lab.sweep.lines import Lines
from celosia.lab.training.recipe import Recipe
from celosia.sim.support.progress import Progress
from celosia.sim.support.workers import Lane
from celosia.sw.reference.language.shape import LlamaShape

__all__ = ["Work"]


@dataclass(frozen=True, eq=False)
class Work:
    """What is done with points, kept in `lines`."""

    asked: Asked
    texts: Texts
    machine: Machine
    folder: Path
    lines: Lines
    lanes: Sequence[Lane]
    tell: Progress

    def from_scratch(
        self, points: Sequence[Point], others: Sequence[Candidate]
    ) -> dict[Recipe, Scratch]:
        """Trainings of points, three seeds each, and of models for ranks."""
        usual = self.asked.scratch
        recipes = [
            recipe for point in points for recipe in recipes_of(point.candidate.model, usual, SEEDS)
        ]
        recipes += [next(recipes_of(each.model, usual, 1)) for each in others]
        wanted = dict.fromkeys(recipes)
        return trained(wanted, self.texts, self.lines, self.lanes, self.folder, self.tell)

    def of(self, model: LlamaShape, scratch: Mapping[Recipe, Scratch]) -> list[Scratch]:
        """The trainings of a point."""
        return [scratch[recipe] for recipe in recipes_of(model, self.asked.scratch, SEEDS)]

    def measured(
        self, points: Sequence[Point], scratch: Mapping[Recipe, Scratch], *, rtl: bool
    ) -> dict[LlamaShape, Measured]:
        """Cycles of whole models, on RTL as well if that is asked, and what trainings say."""
        pieces = {
            (point.candidate.model, scenario): whole(point.candidate.model, scenario, self.machine)
            for point in points
            for scenario in SCENARIOS
        }
        costs = costs_of(list(pieces.values()), self.lines, self.lanes, self.tell)
        cycles = {place: costs[piece].cycles for place, piece in pieces.items()}
        ran = run_pieces(list(pieces.values()), self.lines, self.tell) if rtl else {}
        on_rtl = {place: ran[piece] for place, piece in pieces.items() if piece in ran}
        first = points[0].candidate.model
        found = {}
        for point in points:
            model = point.candidate.model
            learned = self.of(model, scratch) if scratch else []
            lines = {name: on_rtl[model, name] for name in SCENARIOS if (model, name) in on_rtl}
            found[model] = Measured(
                whole={scenario: cycles[model, scenario] for scenario in SCENARIOS},
                rtl={name: line["cycles"] for name, line in lines.items()},
                owners={name: line["owners"] for name, line in lines.items()},
                scratch=self.perplexity(learned) if learned else None,
                ratio=ratio_of(learned, self.of(first, scratch), self.texts) if learned else None,
            )
        return found

    def perplexity(self, learned: Sequence[Scratch]) -> float:
        """The held-out perplexity, the geometric mean of seeds."""
        total = sum(float(each.sums.sum()) for each in learned) / len(learned)
        return exp(-total / int(self.texts.counts.sum()))

    def ranks(self, found: Found, scratch: Mapping[Recipe, Scratch]) -> str:
        """What is said of ranks."""
        others = ranked(self.asked, found)
        reached = [
            scratch[next(recipes_of(each.model, self.asked.scratch, 1))].validation
            for each in others
        ]
        return ranking_line(others, reached)
