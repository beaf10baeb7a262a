"""The engine proves before it replaces; the search passes through what greedy does not."""

from dataclasses import dataclass

import pytest

from celosia.lab.substitute.search import Problem, greedy, search
from celosia.sw.rewriting.engine import Level, Refusal, Rule, alternatives, exhaust, sweep
from celosia.sw.rewriting.walk import Walk


@dataclass(frozen=True)
class Change:
    """A number of a list, and another one in its place."""

    root: str
    number: int
    what: str = "a number"


class Numbers(Walk[int]):
    """The numbers of a list, as a rule reads them."""

    def __init__(self, graph: tuple[int, ...]):
        super().__init__(graph, str)

    @property
    def nodes(self) -> Walk[int]:
        return self


def rebuild(graph, matches):
    return tuple(
        matches[str(place)].number if str(place) in matches else number
        for place, number in enumerate(graph)
    )


LEVEL: Level[tuple[int, ...], Numbers, Change] = Level(
    name="list",
    read=Numbers,
    likeness=lambda reader, found: ([*reader][int(found.root)], found.number),
    difference=lambda reader, found: None if found.number < 100 else "it is too large",
    rebuild=rebuild,
)


def rule(name, change):
    def find(reader):
        for place, number in enumerate(reader):
            if change(number) is not None:
                yield Change(str(place), change(number))

    return Rule(name=name, summary="", level=LEVEL, find=find)


UP = rule("up", {3: 5, 200: 300}.get)
DOWN = rule("down", {5: 1}.get)
PROBLEM: Problem[tuple[int, ...]] = Problem(
    rules=(UP, DOWN), cost=lambda graph: float(sum(graph)), key=lambda graph: graph
)


def test_all_that_is_found_and_proved_is_replaced_and_the_rest_says_why():
    done = sweep(UP, (3, 4, 200, 3))
    assert done.graph == (5, 4, 200, 5)
    assert [*done.accepted] == ["0", "3"]
    assert [str(refusal) for refusal in done.refusals] == [
        "2: looks like a number, but it is too large"
    ]
    assert isinstance(done.refusals[0], Refusal)


def test_a_rule_that_never_ends_is_a_mistake():
    with pytest.raises(AssertionError, match="endless finds something in its own result"):
        exhaust(rule("endless", {3: 4, 4: 3}.get), (3,))


def test_parts_that_are_alike_take_one_step_and_all_together_one_more():
    steps = {step.graph for step in alternatives(rule("any", {3: 5, 4: 6}.get), (3, 4, 3), {})}
    assert steps == {(5, 4, 5), (3, 6, 3), (5, 6, 5)}


def test_greedy_stops_where_the_next_step_is_dearer_and_search_does_not():
    assert greedy(PROBLEM, (3, 8)).graph == (3, 8)
    found = search(PROBLEM, (3, 8), alpha=1.3)
    assert found.graph == (1, 8)
    assert [(step.rule, step.cost) for step in found.steps] == [("up", 13), ("down", 9)]
    assert search(PROBLEM, (3, 8), alpha=1.1).graph == (3, 8)
    assert search(PROBLEM, (3, 8), alpha=1.3, budget=1).graph == (3, 8)


def test_graphs_without_a_cost_are_left():
    def cost(graph):
        if 5 in graph:
            raise ValueError("not possible")
        return float(sum(graph))

    problem = Problem(rules=(UP, DOWN), cost=cost, key=lambda graph: graph)
    assert search(problem, (3,), alpha=9).graph == (3,)


def test_a_graph_that_costs_just_alpha_times_the_best_is_on_the_way():
    """4, 6 and 2: each step is exact in floating point."""
    assert search(PROBLEM, (3, 1), alpha=1.5).graph == (1, 1)
    assert search(PROBLEM, (3, 1), alpha=1.4375).graph == (3, 1)


@pytest.mark.parametrize("start", [0, 5])
def test_greedy_takes_no_step_that_gains_nothing(start):
    """Without it, the numbers would go up for ever."""
    costs: list[tuple[int, ...]] = []

    def cost(graph: tuple[int, ...]) -> float:
        costs.append(graph)
        assert len(costs) <= 2, "one step was taken"
        return 1.0

    more = rule("more", lambda number: number + 1)
    problem = Problem(rules=(more,), cost=cost, key=lambda graph: graph)
    found = greedy(problem, (start,))
    assert (found.graph, found.steps, found.examined) == ((start,), (), 1)


@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_search_ends_where_nothing_is_left(alpha):
    assert search(PROBLEM, (1, 2), alpha=alpha).steps == ()
