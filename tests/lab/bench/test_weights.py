"""Steps with weights of four bits beside int8: factors and bounds, of runs that are made up."""

import json

import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import weights_table
from celosia.lab.bench.weights import run_weights
from celosia.sim.run.origin import as_json
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.support.progress import silent
from tests.support.documents import validate

BYTES = {None: 800_000, "int4": 500_000, "int4-vocabulary": 400_000}
CYCLES = {
    8: {None: 101_000, "int4": 64_000, "int4-vocabulary": 52_000},
    16: {None: 51_000, "int4": 50_500, "int4-vocabulary": 49_000},
}
PAIRS = 27_000
"""Cycles at 16 bytes per cycle where two lines of int4 enter at once."""


def measured(wrong=(), **changed):
    """Lines of runs of these cycles, but for `changed` ones: ``int4_8`` is at 8 bytes per cycle."""

    def runner(options, _tell):
        weights = options.details.weights
        rate = options.target.timing.bytes_per_cycle
        assert (options.workload, options.details.model, options.details.rows) == (
            "decoder",
            "gpt2-small",
            1,
        )
        preset = options.target.preset
        pairs = preset == "base-int4"
        cycles = PAIRS if pairs else CYCLES[rate][weights]
        name = f"{(weights or 'int8').replace('-', '_')}_{rate}{'_pairs' * pairs}"
        part = Measurement(
            name="decoder",
            cycles=changed.get(name, cycles),
            mismatches=int(name in wrong),
            elements_checked=10,
        )
        setting = Setting(
            workload="decoder",
            preset=preset,
            simulator="verilator",
            config=PRESETS[preset],
            timing=options.target.timing,
            issue=options.target.issue,
        )
        report = Report(
            setting=setting, operators=(part,), elapsed_seconds=1.0, step_bytes=BYTES[weights]
        )
        return Outcome(report)

    return run_weights(silent, "stream", runner)


def test_each_line_is_over_int8_of_the_same_memory():
    part = measured()
    assert [(each.weights, each.step.case.timing.bytes_per_cycle) for each in part.lines] == [
        *((weights, rate) for rate in (8, 16) for weights in ("int8", "int4", "int4-vocabulary")),
        ("int4-vocabulary", 16),
    ]
    assert [each.step.case.preset for each in part.lines] == ["base"] * 6 + ["base-int4"]
    factors = [1, 101 / 64, 101 / 52, 1, 51 / 50.5, 51 / 49, 51 / 27]
    assert [each.fewer for each in part.lines] == pytest.approx(factors)
    assert [each.least for each in part.lines] == [1.0, 1.45, 1.90, 1.0, 1.0, 1.0, 1.80]
    assert part.right


@pytest.mark.parametrize(
    "changed",
    [
        {"int4_8": 70_000},  # 1.443 x
        {"int4_vocabulary_8": 53_200},  # 1.898 x
        {"int8_8": 105_000},  # 95.2 % of the limit
        {"int4_16": 51_100},
        {"int4_vocabulary_16_pairs": 28_000},  # 89.3 % of the limit
        {"wrong": ("int4_16",)},
        {"int8_8": 0},
    ],
)
def test_a_line_below_a_bound_or_with_a_wrong_element_is_wrong(changed):
    assert not measured(**changed).right


def test_the_table_and_the_document_have_factors_and_shares():
    part = measured()
    table = weights_table(part.lines)
    cells = list(zip(*(column.cells for column in table.columns), strict=True))
    assert cells[2] == (
        "base",
        "int4-vocabulary",
        "8",
        "52,000",
        "[green]1.942 x[/]",
        "1.90 x",
        "[green]96.15%[/]",
        "95.50%",
        "[green]0 of 10[/]",
    )
    document = json.loads(as_json(Bench(parts={"weights": part}).document()))
    validate(document)
    assert document["weights"][1]["fewer"] == pytest.approx(101 / 64)
    assert document["weights"][1]["step"]["name"].endswith("rows=1 int4 8 B/cycle")
