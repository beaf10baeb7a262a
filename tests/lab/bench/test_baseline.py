"""The committed cycle counts: read, written, and told from regressions."""

import pytest

from celosia.lab.bench.baseline import load_baseline, regressed, save_baseline
from celosia.lab.bench.cases import ENCODERS, PRODUCTS
from celosia.lab.bench.line import run_cases
from celosia.lab.bench.suite import Bench, baseline_path
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent


@pytest.mark.parametrize(
    ("cycles", "baseline", "verdict"),
    [(1000, None, False), (1005, 1000, False), (1006, 1000, True), (900, 1000, False)],
)
def test_half_a_percent_is_allowed(cycles, baseline, verdict):
    assert regressed(cycles, baseline) is verdict


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "baseline.jsonl"
    save_baseline(path, [(("b", "stream"), 5)], {("a", "ring"): 7, ("b", "stream"): 9})
    assert path.read_text().count("\n") == 2
    assert load_baseline(path) == {("a", "ring"): 7, ("b", "stream"): 5}


@pytest.mark.parametrize("line", ["{", '{"name": "a", "issue": "stream"}', "[]"])
def test_a_broken_line_is_named(tmp_path, line):
    path = tmp_path / "baseline.jsonl"
    path.write_text('{"name": "a", "issue": "stream", "cycles": 1}\n' + line + "\n")
    with pytest.raises(InputError, match="line 2"):
        load_baseline(path)


def test_nothing_has_become_slower():
    """Short runs in Verilator, of each kind one; `celosia bench` looks at all of them."""
    short = {"matmul 64x64x64", "encoder-layer minilm l=128"}
    cases = [case for case in (*PRODUCTS, *ENCODERS) if case.name in short]
    bench = Bench(
        parts={"products": run_cases(cases, silent)}, baseline=load_baseline(baseline_path())
    )
    measured = {key for key, _ in bench.cycles}
    assert measured == {(name, "stream") for name in short}
    assert measured <= bench.baseline.keys()
    assert bench.right, list(bench.regressions)
