"""The program of a step runs again on what is in memory, and is compared with the integer graph."""

from contextlib import closing

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.models.again import again, write_again
from celosia.sim.devices.devices import open_device
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.support.output import STANDARD_OUTPUT
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.steps import SegmentRun, session_bytes
from tests.support.decoder_sessions import shared_session
from tests.support.integer_models import quantized

TARGET = Target(simulator="functional", preset="tiny")
OPTIONS = RunOptions(workload="generate", target=TARGET)


class Kept(Comparison):
    """Compares nothing, and has what ran."""

    def __init__(self):
        super().__init__()
        self.runs: list[SegmentRun] = []

    def __call__(self, run):
        self.runs.append(run)


@pytest.fixture(scope="module")
def ran():
    """A step behind two tokens."""
    kept = Kept()
    size = session_bytes(quantized(), 8)
    device = open_device("functional", resolve_config("tiny", ()), MemoryTiming(), size)
    with closing(device):
        session = shared_session(device, quantized(), 8, kept)
        session.append([1, 2])
        session.append([3])
        yield kept.runs[-1]


def test_a_program_that_runs_again_reads_the_caches_and_leaves_the_same(ran):
    before = {name: ran.run.read(name).tolist() for name in ran.run.written}
    report = again(ran, OPTIONS)
    assert report.status == "right"
    assert report.whole is not None
    assert report.whole.elements_checked == sum(ran.run.read(name).size for name in before)
    assert {name: ran.run.read(name).tolist() for name in before} == before


def test_nothing_is_compared_unless_it_is_asked_for(ran):
    report = again(ran, RunOptions(workload="x", target=TARGET, watching=Watching(check="none")))
    assert report.status == "unchecked"
    assert report.whole is not None
    assert not report.whole.elements_checked


def test_a_report_is_written_where_it_is_asked_for(ran, capsys):
    write_again(None, ran, OPTIONS)
    write_again(STANDARD_OUTPUT, None, OPTIONS)
    assert not capsys.readouterr().out
    write_again(STANDARD_OUTPUT, ran, OPTIONS)
    assert '"celosia.run/1"' in capsys.readouterr().out
