"""The tables of `celosia tune`: from logs that were made up."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from celosia.lab.tune.search import Part
from celosia.lab.tune.tables import graphs_table, strategies_table
from celosia.lab.tune.tuning_log import DEFAULT, Entry, TuningLog
from celosia.sim.support.problems import InputError
from tests.lab.tune.test_tune import FIRST, SPACE


def entry(strategy: str, trial: int, cycles: int | None) -> Entry:
    rule = f"rule {trial}" if cycles is None else None
    return Entry(strategy=strategy, trial=trial, chosen={}, cycles=cycles, refused=rule)


def shown(*entries: Entry) -> str:
    paper = io.StringIO()
    log = TuningLog(io.BytesIO(), [*entries])
    Console(file=paper, width=140).print(strategies_table(log, 123456))
    return paper.getvalue()


def cells(text: str, strategy: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if f"│ {strategy} " in line)
    return [cell.strip() for cell in line.split("│")[2:-1]]


FOUND = (
    entry(DEFAULT, 0, 2000),
    entry("random", 0, None),
    entry("random", 1, 1020),
    entry("random", 2, 1009),
    entry("tpe", 0, 1011),
    entry("tpe", 1, 1000),
    entry("exhaustive", 0, None),
)


def test_each_strategy_has_its_trials_its_best_and_how_soon_it_was_near_the_best_of_all():
    text = shown(*FOUND)
    assert "the best of 6 tried plans and the compiler's own takes 1,000 cycles" in text
    assert "there are 123,456 plans" in " ".join(text.split())
    # Trials, illegal ones, the best, how much more it takes, trials until within 1 %.
    assert cells(text, DEFAULT) == ["1", "0", "2,000", "+100.00%", "-"]
    assert cells(text, "random") == ["3", "1", "1,009", "+0.90%", "3"]
    assert cells(text, "tpe") == ["2", "0", "1,000", "+0.00%", "2"]
    assert cells(text, "exhaustive") == ["1", "1", "-", "-", "-"]


def test_a_log_without_a_legal_plan_says_why_the_first_is_none():
    with pytest.raises(InputError, match="no plan is legal; the first: rule 4"):
        shown(entry("random", 4, None), entry("random", 5, None))


def test_each_graph_of_a_model_has_its_cycles_and_all_as_often_as_they_run():
    parts = [
        Part(space=SPACE, first=replace(FIRST, graph=name), key=name, runs=runs)
        for name, runs in (("often", 3), ("once", 1))
    ]
    found = [
        replace(entry(DEFAULT, 0, 2000), graph="often"),
        replace(entry(DEFAULT, 0, 500), graph="once"),
        replace(entry("tpe", 0, 1900), graph="often"),
        replace(entry("random", 0, None), graph="often"),
        replace(entry("tpe", 0, 510), graph="once"),
    ]
    paper = io.StringIO()
    table = graphs_table(TuningLog(io.BytesIO(), found), parts)
    Console(file=paper, width=140).print(table)
    text = paper.getvalue()
    assert "the best of 3 tried plans and the compiler's own take 6,200 cycles" in text
    assert "the compiler's alone 6,500" in " ".join(text.split())
    # Runs, trials, illegal ones, cycles before and after, how much more.
    assert cells(text, "often") == ["3", "2", "1", "2,000", "1,900", "-5.00%"]
    assert cells(text, "once") == ["1", "1", "0", "500", "500", "+0.00%"]
    assert cells(text, "all") == ["4", "3", "1", "6,500", "6,200", "-4.62%"]
    none = replace(entry(DEFAULT, 1, None), graph="once")
    log = TuningLog(io.BytesIO(), [none, *found[:1]])
    with pytest.raises(InputError, match="no plan is legal; the first: rule 1"):
        graphs_table(log, parts)
