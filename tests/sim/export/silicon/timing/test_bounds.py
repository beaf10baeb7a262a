"""Bounds of paths, and what breaks one."""

import pytest

from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.bounds import Bound, load_bounds
from celosia.sim.export.silicon.timing.measure import Measured, ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.problems import InputError

TEXT = """\
[tiny.default]
within = 5.5
between = 6
[tiny.prefix]
within = 4.0
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "bounds.toml"
    file.write_text(TEXT)
    return str(file)


def paths(script: str, *ns: float) -> Measured:
    units = [ModulePath(f"unit {each}", "", RegisterPath("a", "b", 9, each, 0.2)) for each in ns]
    return Measured(script, units, [Between("c", "d", RegisterPath("a", "b", 9, 6.01, 0.2))])


def test_the_longest_is_held_to_the_bound(path):
    bounds = load_bounds(path, "tiny")
    within, between = bounds.of(paths("default", 4.0, 5.5, 1.0))
    # Set-up is not in a bound: 5.5 and 0.2 hold one of 5.5.
    assert within == Bound("default", "within", 5.5, 5.5)
    assert within.holds
    assert between == Bound("default", "between", 6, 6.01)
    assert not between.holds


def test_what_has_no_bound_or_no_path_is_not_held_to_one(path):
    bounds = load_bounds(path, "tiny")
    assert [each.kind for each in bounds.of(paths("prefix", 4.1))] == ["within"]
    alone = Measured("default", paths("default", 1.0).paths)
    assert [each.kind for each in bounds.of(alone)] == ["within"]
    assert not bounds.of(paths("levels", 1.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[base.default]\nwithin = 5\n", "has no bounds of tiny, but of base"),
        ("tiny = 5\n", "tiny: bounds stand in tables of default, prefix"),
        ("[tiny.defualt]\nwithin = 5\n", "tiny: bounds stand in tables of default, prefix"),
        ("[tiny.prefix]\nwihtin = 5\n", "tiny.prefix: has within and between, in ns"),
        ("[tiny.prefix]\nwithin = 0\n", "tiny.prefix.within: 0 is no number of ns above 0"),
        ("[tiny.prefix]\nwithin = true\n", "tiny.prefix.within: True is no number of ns"),
        ("[tiny.prefix]\nbetween = inf\n", "tiny.prefix.between: inf is no number of ns"),
        ("[tiny.prefix]\nbetween = nan\n", "tiny.prefix.between: nan is no number of ns"),
        ("[tiny.prefix]\nbetween = '5'\n", "tiny.prefix.between: '5' is no number of ns"),
        ("[tiny.prefix]\nwithin = [5]\n", "tiny.prefix.within: [5] is no number of ns"),
        ("[tiny", "bounds.toml: "),
    ],
)
def test_bad_files(tmp_path, text, message):
    file = tmp_path / "bounds.toml"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        load_bounds(str(file), "tiny")
    assert message in str(raised.value)
    assert str(file) in str(raised.value)


def test_no_file():
    with pytest.raises(InputError, match=r"no\.toml: No such file"):
        load_bounds("no.toml", "tiny")
