"""A sample is as large as it was asked for, whatever the parts in which it is drawn."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.mappings import sample
from celosia.lab.mappings.sample import COLUMNS, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.sim.run.options.options import RunOptions
from celosia.sim.workloads.details import Matmul

OPTIONS = RunOptions(workload="matmul", details=Matmul(shape="24x20x36"))


def request(count):
    return Request(options=OPTIONS, config=PRESETS["tiny"], sampler=Sampler.UNIFORM, count=count)


@pytest.mark.parametrize("count", [1, 1999, 2000, 2001, 4000, 5000])
def test_parts_follow_each_other_and_the_last_may_be_short(count):
    parts = [*request(count).batches()]
    ends = [part.first + part.count for part in parts]
    assert [part.first for part in parts] == [0, *ends[:-1]]
    assert ends[-1] == count
    assert all(0 < part.count <= 2000 for part in parts)


@pytest.mark.parametrize("count", [3, 4, 7])
def test_as_many_plans_are_drawn_as_are_asked_for(count, monkeypatch):
    monkeypatch.setattr(sample, "BATCH", 4)
    batches = {part.first: draw_batch(part) for part in request(count).batches()}
    found = joined(dict(reversed(batches.items())))
    assert len(found.chosen) == count
    assert found.values.shape == (count, len(COLUMNS))
    assert found.chosen[:3] == draw_batch(next(request(3).batches())).chosen
