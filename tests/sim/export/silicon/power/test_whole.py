"""A measurement goes through all of its steps, and tells how far it is."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.export.silicon.power import whole

STEPS = (0.0, 0.5, 1.0)


def told(monkeypatch, texts: int, kept: frozenset[int]) -> list[float]:
    """How far a measurement of so many texts says it is, some of which were measured before."""
    found: list[float] = []

    def tell(_text: str, done: float | None) -> None:
        found.extend([] if done is None else [done])

    def mapped(*given: Any) -> str:
        for done in STEPS:
            given[-1]("mapping", done)
        return "netlists"

    def samples(_key: int, measure: Any) -> str:
        if _key not in kept:
            measure()
        return f"samples of {_key}"

    def measured(_design, netlists, _run, _key, own) -> None:
        assert netlists == "netlists"
        for done in STEPS:
            own("measuring", done)

    design = SimpleNamespace(verilog="", models="")
    keys = iter(range(texts))
    for name, does in {
        "read_energies": lambda _: SimpleNamespace(volts=1.8),
        "write_design": lambda _: design,
        "split_modules": lambda _: [],
        "key_of": lambda _: next(keys),
        "is_kept": kept.__contains__,
        "map_gates": mapped,
        "kept_samples": samples,
        "_samples": measured,
        "summed_up": lambda *given: given[3],
    }.items():
        monkeypatch.setattr(whole, name, does)
    tools: Any = SimpleNamespace(identity=""), SimpleNamespace(liberty="", identity="")
    config: Any = None
    runs: Any = range(texts)
    sets = whole.measure_power("it", config, tools, runs, 1, tell)
    assert sets == [f"samples of {each}" for each in range(texts)]
    return found


@pytest.mark.parametrize("kept", [set(), {0}, {1, 2}, {0, 1, 2}], ids=str)
def test_it_never_goes_back_and_ends_at_its_end(monkeypatch, kept):
    found = told(monkeypatch, 3, frozenset(kept))
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 1)


def test_each_text_that_is_left_takes_as_much(monkeypatch):
    """Half of it is mapping, about."""
    assert told(monkeypatch, 2, frozenset()) == [0, 0.25, 0.5, 0.5, 0.625, 0.75, 0.75, 0.875, 1]
