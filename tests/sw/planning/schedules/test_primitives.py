"""What a primitive leaves out stays as it is, or is the usual."""

import pytest

from celosia.sw.planning.forms.text import parse_form
from celosia.sw.planning.schedules.primitives import ScheduleFile

USUAL = {
    "tensorize": {"times": 1},
    "split": {"rows": (), "tiles": (), "keys": (), "tail": None},
    "tile": {"k": 0, "columns": 0, "a": 0, "first": 0, "drain": 0},
    "reorder": {"outer": "", "before": ""},
    "keep": {"on_chip": True},
    "fuse": {"together": True},
    "double_buffer": {"pieces": 2},
    "place": {},
    "defer": {"on": True},
}
NEEDED = {
    "keep": 'what = "keys"',
    "fuse": 'what = "norm"',
    "double_buffer": 'what = "w"',
    "place": 'what = "w"\nbanks = [1]',
}
"""What a primitive cannot do without, beside its operator."""


@pytest.mark.parametrize("kind", USUAL)
def test_what_a_step_leaves_out(kind):
    operator = "" if kind == "defer" else 'op = "o"\n'
    text = f'[[steps]]\nkind = "{kind}"\n{operator}{NEEDED.get(kind, "")}\n'
    schedule = parse_form(ScheduleFile, text, "schedule")
    assert schedule.start == "compiler"
    (step,) = schedule.steps
    assert (step.kind, step.op) == (kind, "" if kind == "defer" else "o")
    assert {name: getattr(step, name) for name in USUAL[kind]} == USUAL[kind]


@pytest.mark.parametrize("kind", [kind for kind in USUAL if kind != "defer"])
def test_a_step_names_its_operator(kind):
    text = f'[[steps]]\nkind = "{kind}"\n{NEEDED.get(kind, "")}\n'
    with pytest.raises(ValueError, match=r"schedule\.steps.*op"):
        parse_form(ScheduleFile, text, "schedule")
