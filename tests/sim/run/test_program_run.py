"""Programs of files: compared with a model whose local memories began with other garbage."""

from dataclasses import replace
from pathlib import Path

import pytest

from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError

HEAD = """
.preset tiny
.memory 65536
.random 0x80001000 64 7
"""
MOVES = """
config_ex
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=2
mvout dram=0x80002000 local=sp[0] local_cols=4 local_rows={rows}
"""


def options(rows: int = 2, check: str = ".check 0x80002000 16", **more) -> RunOptions:
    """A program that stores `rows` rows, of which two were loaded."""
    Path("p.cel").write_text(HEAD + check + MOVES.format(rows=rows))
    target = Target(simulator="functional", **more)
    return RunOptions(workload="p.cel", target=target)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("rows", "right"), [(2, True), (4, False)])
def test_a_result_of_rows_that_nobody_wrote_differs_even_on_the_model_itself(rows, right):
    report = run_workload(options(rows)).report
    (measured,) = report.operators
    assert measured.right is right


def test_what_has_nothing_to_compare_is_refused_unless_nothing_is_asked_for():
    asked = options(check="")
    with pytest.raises(InputError, match=r"p\.cel: nothing to compare: name the results"):
        run_workload(asked)
    report = run_workload(replace(asked, watching=Watching(check="none"))).report
    assert [each.elements_checked for each in report.operators] == [0]


def test_a_preset_replaces_that_of_the_program_and_settings_come_behind():
    setting = run_workload(options(overrides=("scratchpad_kib=32",))).report.setting
    assert (setting.config.dim, setting.config.scratchpad_kib) == (4, 32)
    setting = run_workload(options(preset="base")).report.setting
    assert setting.config.dim == 16
