"""Searches for plans: strategies, and how they go on where they were."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from threading import current_thread
from types import SimpleNamespace

import pytest

from celosia.lab.sweep.words import options_of
from celosia.lab.tune import search as search_module
from celosia.lab.tune.search import LEARNED, Part, SearchPlan, search, trials_until
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.lab.tune.trial import Found, Trial, try_plan
from celosia.lab.tune.tuning_log import DEFAULT, Entry, open_log
from celosia.lab.tune.work import product_space
from celosia.sim.devices.devices import open_device
from celosia.sim.support import cluster
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from celosia.sim.support.workers import Lane
from celosia.sw.planning.rules.verify import PlanError
from tests.support.command_line import invoke, refused

PRODUCT = ("matmul", "--shape", "9x10x11", "--preset", "tiny")
THREADS = (Lane(make=lambda: ThreadPoolExecutor(1)),)
OPTIONS, CONFIG = options_of(PRODUCT)
SPACE = product_space(OPTIONS, CONFIG)
FIRST = Trial(options=OPTIONS, config=CONFIG, oracle="model", strategy=DEFAULT, number=0)
PART = Part(space=SPACE, first=FIRST)


def fake(trial):
    """A cost that a search can follow; a plan without reuse of A is illegal."""
    if trial.strategy == DEFAULT:
        return Found(900)
    if not trial.chosen["a_keep"]:
        return Found(None, "keep")
    return Found(100 * trial.chosen["block_rows"] + trial.chosen["block_columns"])


def tried(path, strategy, trials):
    plan = SearchPlan(parts=(PART,), strategy=strategy, trials=trials)
    with open_log(path, "k", "model", {None: SPACE}) as log:
        search(plan, log, THREADS, silent, fake)
        return log.of(strategy)


@pytest.mark.parametrize("strategy", ["exhaustive", "random", "tpe"])
def test_a_search_goes_on_where_it_was(tmp_path, strategy):
    pytest.importorskip("optuna")
    path = tmp_path / "log"
    before = tried(path, strategy, 5)
    assert [entry.trial for entry in before] == [0, 1, 2, 3, 4]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"trial": 2' not in line))
    after = tried(path, strategy, 12)
    assert [entry.trial for entry in after] == list(range(12))
    assert after[:2] == before[:2]
    if strategy == "exhaustive":
        assert after[2] == before[2]
        assert [entry.chosen for entry in after] == [
            plan for plan, _ in zip(SPACE.all(), range(12), strict=False)
        ]
    assert path.read_text().count(DEFAULT) == 1


@pytest.mark.parametrize("strategy", ["random", "tpe"])
def test_a_search_that_goes_on_does_not_propose_again_what_it_began_with(tmp_path, strategy):
    pytest.importorskip("optuna")
    tried(tmp_path / "log", strategy, 8)
    chosen = [entry.chosen for entry in tried(tmp_path / "log", strategy, 16)]
    assert chosen[8:] != chosen[:8]
    again = [each for each in chosen[8:] if each in chosen[:8]]
    assert len(again) <= 2  # By chance: the space has few plans.


def test_a_search_that_goes_on_learns_from_all_that_is_known(tmp_path, monkeypatch):
    told = []

    class Remembers:
        def __init__(self, *_):
            told.clear()

        def ask(self, number):
            return dict(next(SPACE.all(number))) | {"a_keep": bool(number % 2)}

        def tell(self, chosen, found):
            told.append((dict(chosen), found.cycles, found.refused))

    monkeypatch.setattr(
        search_module, "import_extra", lambda *_: SimpleNamespace(StudySampler=Remembers)
    )
    tried(tmp_path / "log", "tpe", 5)
    after = tried(tmp_path / "log", "tpe", 8)
    assert {entry.refused for entry in after} == {None, "keep"}
    assert told == [(entry.chosen, entry.cycles, entry.refused) for entry in after]


def test_a_learned_search_knows_the_whole_log_and_goes_on(tmp_path):
    pytest.importorskip("optuna")
    tried(tmp_path / "log", "random", 3)
    before = tried(tmp_path / "log", LEARNED, 3)
    after = tried(tmp_path / "log", LEARNED, 6)
    assert after[:3] == before
    chosen = [tuple(entry.chosen.values()) for entry in after]
    assert len(set(chosen)) == 6


def test_no_seed_is_another_one_that_goes_on(tmp_path):
    pytest.importorskip("optuna")

    def proposed(name, seed, *numbers):
        for trials in numbers:
            plan = SearchPlan(parts=(PART,), strategy="random", trials=trials, seed=seed)
            with open_log(tmp_path / name, "k", "model", {None: SPACE}) as log:
                search(plan, log, THREADS, silent, fake)
        with open_log(tmp_path / name, "k", "model", {None: SPACE}) as log:
            return [entry.chosen for entry in log.of("random")][-3:]

    assert proposed("on", 0, 3, 6) != proposed("new", 3, 3)


def test_a_trial_on_the_rtl_goes_to_who_has_the_simulator(tmp_path):
    places = []

    def lane(place, standing):
        pool = partial(ThreadPoolExecutor, 1, place)
        return Lane(make=pool, place=place, ask=lambda _: standing)

    def compute(trial):
        places.append(current_thread().name[0])
        return Found(trial.config.dim)

    part = replace(PART, first=replace(FIRST, oracle="rtl"))
    plan = SearchPlan(parts=(part,), strategy="exhaustive", trials=0)
    with open_log(tmp_path / "log", "k", "rtl", {None: SPACE}) as log:
        search(plan, log, [lane("a", ()), lane("b", [(CONFIG,)])], silent, compute)
    assert places == ["b"]


def test_another_seed_is_another_search(tmp_path):
    pytest.importorskip("optuna")

    def proposed(seed):
        plan = SearchPlan(parts=(PART,), strategy="random", trials=6, seed=seed)
        with open_log(
            tmp_path / f"log-{len([*tmp_path.iterdir()])}", "k", "model", {None: SPACE}
        ) as log:
            search(plan, log, THREADS, silent, fake)
            return [entry.chosen for entry in log.of("random")]

    assert proposed(0) == proposed(0) != proposed(1)


def test_tpe_learns_what_random_does_not(tmp_path):
    pytest.importorskip("optuna")
    found = {s: tried(tmp_path / s, s, 60) for s in ("random", "tpe")}
    late = {s: [e for e in entries[30:] if (e.cycles or 999) < 200] for s, entries in found.items()}
    assert len(late["tpe"]) > len(late["random"])


@pytest.mark.parametrize("strategy", ["random", "tpe"])
def test_a_search_begins_where_the_space_says(tmp_path, monkeypatch, strategy):
    pytest.importorskip("optuna")
    start = {name: values[-1] for name, values in SPACE.choices.items()}
    monkeypatch.setattr(type(SPACE), "start", start)
    first, second, *_ = tried(tmp_path / "log", strategy, 3)
    assert first.chosen == start
    assert second.chosen != start


def test_a_space_of_which_nothing_is_legal_is_a_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def illegal(*_):
        raise PlanError("rule", "place", "no")

    monkeypatch.setattr("celosia.lab.tune.trial.find_plan", illegal)
    monkeypatch.setattr(PlanSpace, "plan", illegal)
    monkeypatch.setattr("celosia.lab.tune.command.lanes_of", lambda _: nullcontext(THREADS))
    words = ("--trials", "2", "--strategy", "exhaustive", "--storage", "log")
    result = invoke("tune", *PRODUCT, *words)
    assert result.exit_code == 2
    assert "no plan is legal; the first: rule: place: no" in result.stderr


def test_the_rtl_counts_cycles_of_a_graph(monkeypatch):
    device = "celosia.lab.tune.work.open_device"
    monkeypatch.setattr(device, lambda _, *rest, **sizes: open_device("functional", *rest, **sizes))
    options, config = options_of(("softmax", "--shape", "5x30", "--preset", "tiny"))
    trial = Trial(options=options, config=config, oracle="rtl", strategy=DEFAULT, number=0)
    assert try_plan(trial) == Found(None)  # Right, but without a clock.
    assert try_plan(replace(trial, oracle="model")).cycles


def test_a_scheduler_that_is_not_there_leaves_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "_SECONDS", 1)
    words = ("--trials", "2", "--storage", "log", "--executor", "dask:127.0.0.1:9")
    refused("no scheduler answers", "tune", *PRODUCT, *words)
    assert not list(tmp_path.iterdir())


def test_trials_until_one_is_near_the_best():
    tried = [{"cycles": 200}, {"refused": "x"}, {"cycles": 101}, {"cycles": 100}]
    entries = [Entry(strategy="tpe", trial=n, chosen={}, **each) for n, each in enumerate(tried)]
    assert trials_until(entries, 100) == 3
    assert trials_until(entries, 99) is None


def test_a_trial_is_predicted_and_plans_of_other_sources_are_not():
    assert try_plan(FIRST).cycles
    trial = Trial(
        options=OPTIONS,
        config=CONFIG,
        oracle="model",
        strategy="x",
        number=0,
        chosen=next(SPACE.all()),
    )
    assert try_plan(trial).cycles or try_plan(trial).refused
    with pytest.raises(EnvironmentProblem, match="the search is of abc"):
        try_plan(Trial(**{**vars(FIRST), "version": "abc"}))


def test_the_rtl_counts_cycles_of_a_plan(monkeypatch):
    device = "celosia.lab.tune.work.open_device"
    monkeypatch.setattr(device, lambda _, *rest: open_device("functional", *rest))
    trial = Trial(**{**vars(FIRST), "oracle": "rtl"})
    assert try_plan(trial) == Found(None)  # Right, but without a clock.


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "--trials 2: minilm-linears has 3 graphs that are not alike, and each takes one",
            ("minilm-linears", "--trials", "2"),
        ),
        ("--graph q: minilm-linears has 6 graphs", ("minilm-linears", "--graph", "q")),
        ("No such option: --sharp", (*PRODUCT, "--sharp")),
        ("--storage", PRODUCT),
        ("--executor x", (*PRODUCT, "--executor", "x")),
        ("--trials", (*PRODUCT, "--trials", "0")),
    ],
)
def test_wrong_arguments_of_tune(tmp_path, monkeypatch, message, words):
    monkeypatch.chdir(tmp_path)
    storage = () if message == "--storage" else ("--storage", "log")
    refused(message, "tune", *words, *storage)


def test_the_best_is_said_to_be_of_those_that_were_tried(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("tune", *PRODUCT, "--strategy", "exhaustive", "--storage", "log", "--trials")
    for trials in (3, 7):
        said = " ".join(invoke(*words, trials).stdout.split())
        assert f"the best of {trials} tried plans and the compiler's own takes" in said
        assert f"there are {SPACE.size:,} plans" in said
