"""Tables of energies: each entry has a source, and what nobody knows says so."""

import pytest

from celosia.sim.export.silicon.energy.events import EVENTS
from celosia.sim.export.silicon.energy.table import Entry, load_table, parse_table
from celosia.sim.export.silicon.energy.unit_events import UNIT_EVENTS
from celosia.sim.support.problems import InputError


def test_the_default_has_every_event():
    table = load_table(None)
    assert table.entries.keys() == EVENTS.keys()
    assert table.entries["mac"].pj == 0.3
    assert table.entries["lane_step"].pj is None
    assert all(entry.source for entry in table.entries.values())


def test_the_default_has_what_was_published_of_45_nm():
    """Horowitz 2014, figure 1.1.9: pJ of 64 bits of memories, and of operations."""
    memories = {"bus": 1300, "scratchpad": 20, "accumulator": 20, "parameter": 10}
    published = {"mac": 0.2 + 0.1, "lane_step": None}
    for name in EVENTS.keys() - published.keys():
        (memory,) = (each for each in memories if each in name.split("_"))
        published[name] = memories[memory] / 8
    found = {name: entry.pj for name, entry in load_table(None).entries.items()}
    assert found == pytest.approx(published)
    assert all(entry.clock_pj == 0 for entry in load_table(None).entries.values())


def test_a_file(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text('name = "mine"\n[mac]\npj = 2\nsource = "measured"\n')
    table = load_table(str(path))
    assert table.name == "mine"
    assert table.entries == {"mac": Entry(2.0, "measured")}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = ", "t.toml: not TOML"),
        ("[mac]\n", "name: None is no name"),
        ('name = "x"\nmac = 3', "mac: an entry has pj and source"),
        ('name = "x"\n[mac]\npj = 1', "mac: an entry has pj and source"),
        ('name = "x"\n[macs]\npj = 1\nsource = "y"', "macs: there is no such event; there are mac"),
        ('name = "x"\n[mac]\npj = -1\nsource = "y"', "mac.pj: -1 is neither a number"),
        ('name = "x"\n[mac]\npj = nan\nsource = "y"', "mac.pj: nan is neither a number"),
        ('name = "x"\n[mac]\npj = true\nsource = "y"', "mac.pj: True is neither a number"),
        ('name = "x"\n[mac]\npj = "?"\nsource = "y"', "mac.pj: '\\?' is neither a number"),
        ('name = "x"\n[mac]\npj = 1\nsource = " "', "mac.source: ' ' does not say where"),
    ],
)
def test_bad_tables(text, problem):
    with pytest.raises(InputError, match=problem):
        parse_table(text, "t.toml")


def test_no_file():
    with pytest.raises(InputError, match=r"no\.toml: No such file"):
        load_table("no.toml")


def test_the_measured_table_knows_everything():
    table = load_table("osu018")
    assert table.name == "base, OSU018"
    assert table.entries.keys() == table.events.keys()
    assert table.events.keys() == (EVENTS.keys() - {"lane_step"}) | UNIT_EVENTS.keys()
    assert all(entry.pj is not None and entry.source for entry in table.entries.values())


def test_clock_pins_of_an_event():
    text = 'name = "x"\n[mac]\npj = 1\nclock_pj = 0.5\nsource = "y"\n'
    assert parse_table(text, "t").entries["mac"] == Entry(1.0, "y", 0.5)
    with pytest.raises(InputError, match="is no number from 0 on"):
        parse_table(text.replace("0.5", "-0.5"), "t")


def test_functions_apart_or_together():
    apart = parse_table('name = "x"\n[lane_step_gelu]\npj = 1\nsource = "y"\n', "t")
    assert "lane_step" not in apart.events
    assert "lane_step_gelu" in apart.events
    assert load_table(None).events == EVENTS
    entry = "pj = 1\nsource = 'y'\n"
    both = parse_table(f"name = 'x'\n[lane_step]\n{entry}[lane_step_gelu]\n{entry}", "t")
    assert both.events.keys() == {*EVENTS, "lane_step_gelu"}
