"""How much a person is shown of what is long or many: each number stands here, and once there."""

from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import ValidationError

from celosia.isa.presets import resolve_config
from celosia.sim.command.models.check_table import _COLUMNS, _Line, _place
from celosia.sim.command.outputs.owner_tables import _bar
from celosia.sim.profile.resources import ARRAY
from celosia.sim.reporting.annotate import annotate
from celosia.sim.reporting.page.compare_page import _figure, groups
from celosia.sim.reporting.page.html import Name, table
from celosia.sim.reporting.remedies import bounded_by_memory
from celosia.sim.reporting.run_schema import _message
from celosia.sim.run.estimate import compiling_time
from celosia.sim.support.display import table_console
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import parse_executor
from celosia.sim.wave.request import check_scope
from celosia.sim.workloads.models.prepare import parse_profiles
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.problems import graph_of

TINY = resolve_config("tiny")


def like(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def test_a_reason_names_28_characters_of_a_node():
    for length in (28, 29):
        line = _Line("", "", (), 0, 0, "host", "part of " + "x" * length, False)
        name = _place(line).removeprefix("host: part of ")
        assert (len(name), name == "x" * length) == (28, length == 28)


def test_a_bar_has_twelve_cells():
    assert [len(_bar(share)) for share in (1, 0.5, 1 / 12, 1 / 96)] == [12, 6, 1, 1]


def test_a_figure_of_a_comparison_has_the_first_forty_operators():
    names = [f"operator {number}" for number in range(41)]
    group = next(iter(groups(ARRAY)))
    changed = [like(operator=name, group=group, change=1) for name in names]
    found = _figure(like(operators=names, differences=changed))
    assert [each["y"] for each in found["data"]] == [names[:40]]


def test_a_narrow_page_has_28_characters_of_a_name():
    for length in (28, 29):
        text = table(("name",), [[Name("x" * length)]])
        narrow = text.split('<span class="narrow">')[1].split("</span>")[0]
        assert (len(narrow), narrow == "x" * length) == (28, length == 28)


def test_a_run_is_bounded_by_memory_up_to_a_tenth_above_its_limit():
    def run(cycles: int, bound: str = "memory") -> dict[str, Any]:
        return {"limit": {"bound": bound, "cycles": 1000}, "cycles": cycles}

    assert [bounded_by_memory(run(cycles)) for cycles in (1000, 1100, 1101)] == [True, True, False]
    assert not bounded_by_memory(run(1000, "compute"))


def test_a_message_of_a_report_shows_sixty_characters_of_a_value():
    for length in (58, 59):  # Quotes are two of them.
        value = "x" * length
        found = _message(ValidationError(f"{value!r} is wrong", instance=value))
        whole = length == 58
        assert found == (f"{value!r} is wrong" if whole else "'" + "x" * 59 + "... is wrong")


def test_a_table_for_a_file_has_124_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert table_console().width == 124


@pytest.mark.parametrize(("count", "end"), [(40, "s39"), (41, "s39, ...")])
def test_forty_scopes_are_named(count, end):
    with pytest.raises(InputError, match=rf"there are s0, .*{end}$"):
        check_scope("other", [f"s{number}" for number in range(count)])


def test_compiling_is_announced_from_ten_seconds_on():
    """A tile of tiny is of 4 x 4 x 4; 12,000 of them take a second, about."""
    tiles = 12_000 * 10
    assert compiling_time([graph_of("a", MatMul(m=4, n=4, k=4))], TINY, times=tiles) == "10 s"
    assert compiling_time([graph_of("a", MatMul(m=4, n=4, k=4))], TINY, times=tiles - 1) is None


def test_a_model_has_up_to_64_sizes():
    sizes = [f"rows={number}" for number in range(1, 66)]
    assert len(parse_profiles(sizes[:64])) == 64
    with pytest.raises(InputError, match="--dim: 65 sizes are more than 64"):
        parse_profiles(sizes)


def test_a_machine_has_up_to_1024_workers():
    assert parse_executor("local:1024") == ("local", "1024")
    with pytest.raises(InputError, match="1 to 1024 processes"):
        parse_executor("local:1025")


def test_comments_of_a_listing_begin_behind_72_columns():
    (head,) = annotate(like(queues={}, commands=(), cycles=1)).splitlines()
    assert head.startswith(" " * 72 + "  # ")


def test_columns_of_a_check_are_left_out_in_the_order_that_one_can_do_without_them():
    needless = {each.needless: each.head for each in _COLUMNS if each.needless}
    assert [needless[rank] for rank in sorted(needless, reverse=True)] == [
        "float graph",
        "operator",
        "share",
    ]
