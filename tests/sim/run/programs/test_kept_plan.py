"""Plans that were decided before: what has the same one, what has not, and what is wrong."""

import os
from dataclasses import replace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.run.programs import kept_plan as kept
from celosia.sim.run.programs.kept_plan import DecideOnce, Kind, kept_plan
from celosia.sim.support import cache
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.problems import graph_of

TINY, MEMORY = PRESETS["tiny"], MemoryTiming()


def product(m=8, scale=0.01, name="product"):
    return graph_of(name, MatMul(m=m, n=8, k=8, scale=scale))


GRAPH = product()
PLAN = find_plan(GRAPH, TINY, MEMORY)


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "plans"


@pytest.fixture
def asked():
    """Decides once for each call of what it makes; what it was asked for."""
    graphs = []

    def keep(graph=GRAPH, config=TINY, timing=MEMORY, kind: Kind = "found"):
        def decide():
            graphs.append(graph)
            return find_plan(graph, config, timing)

        return kept_plan(kind, graph, config, timing, decide)

    return keep, graphs


def plans(store):
    return sorted(store.glob("*.toml"))


def test_a_plan_is_decided_once_and_is_what_would_be_decided(asked):
    keep, graphs = asked
    assert [keep(), keep()] == [PLAN, PLAN]
    assert len(graphs) == 1


def test_other_numbers_have_the_same_plan(asked):
    keep, graphs = asked
    assert keep() == keep(product(scale=0.02)) == PLAN
    assert len(graphs) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"graph": product(m=12)},
        {"graph": product(name="another")},
        {"graph": replace(GRAPH, outputs=())},
        {"config": TINY.with_values({"vector_lanes": 2})},
        {"timing": replace(MEMORY, latency=MEMORY.latency + 1)},
        {"kind": "compared"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_decides_a_plan_is_in_its_name(asked, other):
    keep, graphs = asked
    keep()
    keep(**other)
    assert len(graphs) == 2


def test_another_compiler_decides_anew(asked, monkeypatch):
    keep, graphs = asked
    keep()
    monkeypatch.setattr(kept, "source_version", lambda _: "another")
    keep()
    assert len(graphs) == 2


@pytest.mark.parametrize("text", ["", "graph = 3", print_plan(replace(PLAN, stages=()))])
def test_what_is_no_legal_plan_is_decided_anew(asked, store, text):
    keep, graphs = asked
    keep()
    (path,) = plans(store)

    def write(work):
        (work / "plan").write_text(text)
        return work / "plan"

    path.unlink()
    cache.cached(f"plans/{path.name}", write)
    assert keep() == keep() == PLAN
    assert len(graphs) == 2
    assert parse_plan(path.read_text()) == PLAN


def test_what_is_damaged_is_decided_anew_with_a_line(asked, store, caplog):
    keep, graphs = asked
    keep()
    (path,) = plans(store)
    path.write_text("damage")
    assert keep() == PLAN
    assert len(graphs) == 2
    assert "it is made again" in caplog.text


def test_a_cache_that_cannot_be_written_keeps_nothing(asked, tmp_path, monkeypatch):
    keep, graphs = asked
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file"))
    assert keep() == keep() == PLAN
    assert len(graphs) == 2


def test_what_was_not_used_for_longest_is_forgotten(asked, store, monkeypatch):
    keep, graphs = asked
    monkeypatch.setattr(kept, "MOST_PLANS", 2)
    first, second, third = (product(name=name) for name in ("a", "b", "c"))
    keep(first)
    keep(second)
    for age, path in enumerate(plans(store)):
        os.utime(path, (age, age))
    keep(first)
    keep(third)
    assert len(plans(store)) == 2
    assert len([path for path in store.iterdir() if path.name.endswith(".record")]) == 2
    keep(first)
    assert graphs == [first, second, third]
    keep(second)
    assert len(graphs) == 4


def test_what_cannot_be_decided_keeps_nothing(store):
    def decide():
        raise ValueError("impossible")

    with pytest.raises(ValueError, match="impossible"):
        kept_plan("found", GRAPH, TINY, MEMORY, decide)
    assert not plans(store)


def test_a_compilation_takes_its_plan_from_there(monkeypatch):
    def found(*how):
        return compile_graph(GRAPH, TINY, *how, timing=MEMORY)

    wanted = found()
    assert found(DecideOnce()).commands == wanted.commands

    def never(*_):
        raise AssertionError("it was decided")

    monkeypatch.setattr(kept, "find_plan", never)
    again = found(DecideOnce())
    assert (again.plan, again.commands) == (wanted.plan, wanted.commands)
    other = compile_graph(GRAPH, TINY, DecideOnce())
    assert other.commands == compile_graph(GRAPH, TINY).commands
