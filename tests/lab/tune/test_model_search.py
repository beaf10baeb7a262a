"""The graphs of a model share trials: by what each promises, with costs that were made up."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from celosia.lab.tune import search as search_module
from celosia.lab.tune.features import FEATURES
from celosia.lab.tune.search import EXHAUSTIVE, LEARNED, Part, SearchPlan, search
from celosia.lab.tune.spaces.choice_space import Choice, ChoiceSpace
from celosia.lab.tune.trial import Found
from celosia.lab.tune.tuning_log import DEFAULT, Entry, open_log
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane
from tests.lab.tune.test_tune import FIRST

THREADS = (Lane(make=lambda: ThreadPoolExecutor(1)),)


@dataclass(frozen=True)
class Numbers(ChoiceSpace):
    """Plans with a number, which nobody compiles."""

    count: int = 1000

    @property
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        return {"number": tuple(range(self.count))}

    def nearest(self, timing):
        raise AssertionError(timing)

    def plan(self, chosen):
        raise AssertionError(chosen)


def falling(trial):
    """Each plan is 20 cycles better than the one before."""
    return 1000 - 20 * (1 + trial.chosen["number"])


def flat(trial):
    """No plan is better than the compiler's."""
    return 1000 + trial.chosen["number"]


def illegal(_):
    """No plan is legal."""


def part(name, runs=1, count=1000):
    return Part(
        space=Numbers(count), first=replace(FIRST, graph=name), key=f"key of {name}", runs=runs
    )


def tried(path, trials, costs, *parts):
    """The graphs of the trials of a search, in order, the compiler's own plans first."""

    def cost(trial):
        own = trial.strategy == DEFAULT
        return Found(1000 if own else costs[trial.graph](trial))

    plan = SearchPlan(parts=parts, strategy=EXHAUSTIVE, trials=trials)
    with open_log(path, "k", "model", {each.key: each.space for each in parts}) as log:
        search(plan, log, THREADS, silent, cost)
        names = {each.key: each.first.graph for each in parts}
        return [names[entry.graph] for entry in log.entries]


def test_each_graph_is_tried_first_and_then_who_gains(tmp_path):
    costs = {"rest": flat, "gains": falling, "none": illegal}
    order = tried(tmp_path / "log", 12, costs, part("rest"), part("gains"), part("none"))
    assert order[:6] == ["rest", "gains", "none"] * 2
    # Ten cycles of 1,000 are hoped for in the first trial of each, and 20 are gained by each other.
    assert order[6:] == ["gains"] * 9


def test_graphs_that_gain_nothing_have_trials_for_the_cycles_that_a_model_spends_there(tmp_path):
    costs = {"often": flat, "once": flat}
    order = tried(tmp_path / "log", 12, costs, part("once"), part("often", runs=3))
    assert (order.count("often") - 1, order.count("once") - 1) == (9, 3)


def test_a_graph_whose_plans_were_all_tried_leaves_its_trials_to_others(tmp_path):
    costs = {"gains": falling, "rest": flat}
    order = tried(tmp_path / "log", 12, costs, part("gains", count=4), part("rest"))
    assert (order.count("gains") - 1, order.count("rest") - 1) == (4, 8)
    few = tried(tmp_path / "few", 12, costs, part("gains", count=4), part("rest", count=3))
    assert (few.count("gains") - 1, few.count("rest") - 1) == (4, 3)


def test_a_search_of_several_graphs_goes_on_where_it_was(tmp_path):
    costs = {"gains": falling, "rest": flat}
    parts = part("rest", runs=30), part("gains")
    at_once = tried(tmp_path / "at once", 14, costs, *parts)
    path = tmp_path / "log"
    tried(path, 6, costs, *parts)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"number": 2' not in line))
    after = tried(path, 14, costs, *parts)
    assert sorted(after) == sorted(at_once)
    assert path.read_text().count('"number": 2}') == 1


def test_trials_that_are_under_way_count(tmp_path):
    """So workers that begin at once are not all given to one graph."""
    order = []

    def cost(trial):
        order.append((trial.graph, trial.strategy))
        return Found(1000)

    parts = part("a"), part("b"), part("c")
    plan = SearchPlan(parts=parts, strategy=EXHAUSTIVE, trials=3)
    wide = (Lane(make=lambda: ThreadPoolExecutor(1), width=6),)
    with open_log(tmp_path / "log", "k", "model", {each.key: each.space for each in parts}) as log:
        search(plan, log, wide, silent, cost)
    assert order == [(name, s) for s in (DEFAULT, EXHAUSTIVE) for name in "abc"]


def test_a_learned_search_of_a_graph_knows_the_runs_of_the_others(tmp_path, monkeypatch):
    known, told = {}, []

    class Remembers:
        def tell(self, chosen, found):
            told.append((chosen, found.cycles))

    def learned(part, samples, _seed):
        known[part.key] = [each.cycles for each in samples]
        return Remembers()

    monkeypatch.setattr(search_module, "_learned", learned)
    parts = part("a"), part("b")
    seen = {"predicted": 4, "features": [1.0] * len(FEATURES)}
    with open_log(tmp_path / "log", "k", "rtl", {each.key: each.space for each in parts}) as log:
        for number, key, strategy in ((5, "a", "random"), (6, "b", DEFAULT), (7, "b", "random")):
            chosen = {} if strategy == DEFAULT else {"number": number}
            line = {"strategy": strategy, "trial": 0, "chosen": chosen, "cycles": number}
            log.add(Entry(**line, **seen, graph=f"key of {key}"))
        search(
            SearchPlan(parts=parts, strategy=LEARNED, trials=0),
            log,
            THREADS,
            silent,
            lambda _: Found(9),
        )
    assert known == {"key of a": [6, 7], "key of b": [5, 6]}
    assert told == [({"number": 5}, 5), ({"number": 7}, 7)]
