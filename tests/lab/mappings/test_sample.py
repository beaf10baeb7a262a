"""A sample is as large as it was asked for, whatever the parts in which it is drawn."""

from types import SimpleNamespace

import pytest

from celosia.isa.presets import PRESETS
from celosia.lab.mappings import sample
from celosia.lab.mappings.sample import COLUMNS, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.sim.run.options.options import RunOptions
from celosia.sim.workloads.details import Matmul
from celosia.sw.planning.forms.plan import only_stage

OPTIONS = RunOptions(workload="matmul", details=Matmul(shape="24x20x36"))
EVENTS = (
    "mac",
    "bus_read_byte",
    "bus_write_byte",
    "scratchpad_read_byte",
    "scratchpad_write_byte",
    "accumulator_read_byte",
    "accumulator_write_byte",
)


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


@pytest.mark.parametrize("event", EVENTS)
def test_energy_is_that_of_the_events_of_a_plan(event, monkeypatch):
    """Of 24 x 20 x 36 in tiles of 4: 24 rows meet 5 tiles of columns and 9 of depth."""
    entries = {name: SimpleNamespace(pj=2.0 if name == event else 0.0) for name in EVENTS}
    monkeypatch.setattr(sample, "load_table", lambda _: SimpleNamespace(entries=entries))
    asked = request(3)
    drawn = draw_batch(next(asked.batches()))
    for chosen, values in zip(drawn.chosen, drawn.values, strict=True):
        cycles, moved, product, delay = values
        assert product == cycles * moved
        m, columns, depth = 24, 5, 9
        blocks = len(only_stage(asked.space.plan(chosen)).rows)
        written, rows = m * 20, m * columns * depth
        wanted = {
            "mac": rows * 16,
            "bus_read_byte": moved - written,
            "bus_write_byte": written,
            "scratchpad_read_byte": (rows + blocks * columns * depth * 4) * 4,
            "scratchpad_write_byte": moved - written,
            "accumulator_read_byte": rows * 16,
            "accumulator_write_byte": rows * 16,
        }
        assert delay / cycles == pytest.approx(2 * wanted[event])


def test_what_no_table_knows_takes_nothing(monkeypatch):
    entries = {name: SimpleNamespace(pj=None) for name in EVENTS}
    monkeypatch.setattr(sample, "load_table", lambda _: SimpleNamespace(entries=entries))
    assert not draw_batch(next(request(2).batches())).values[:, 3].any()
