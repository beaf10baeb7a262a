"""Tables of edits: what an entry may say, and where a wrong one stands."""

import pytest

from celosia.lab.mutate.edit import Edit
from celosia.lab.mutate.tables import edit_of, entries_of
from celosia.sim.support.problems import InputError

ENTRY = {"file": "hw/a.py", "change": "2", "to": "3"}


def test_entries_have_places():
    text = '[[x]]\nname = "one"\n[[x]]\nfile = "hw/a.py"\n[[x]]\n'
    found = entries_of(text, "t.toml", "x")
    assert [place for _, place in found] == [
        "t.toml: x 1 (one)",
        "t.toml: x 2 (hw/a.py)",
        "t.toml: x 3 (?)",
    ]
    assert [entry for entry, _ in found] == [{"name": "one"}, {"file": "hw/a.py"}, {}]
    assert entries_of("", "t.toml", "x") == []


@pytest.mark.parametrize("text", ["[[y]]\n", "x = 3\n", "x = [1]\n", "[[x]]\n[y]\n"])
def test_other_things_than_tables_of_the_kind(text):
    with pytest.raises(InputError, match=r"t.toml: there are other things than tables \[\[x\]\]"):
        entries_of(text, "t.toml", "x")


def test_what_is_no_toml_is_named():
    with pytest.raises(InputError, match=r"t\.toml: "):
        entries_of("[[x", "t.toml", "x")


def test_an_edit_has_what_it_needs_and_what_it_may():
    assert edit_of(ENTRY, "p", ()) == Edit("hw/a.py", "", "2", "3", 0)
    more = {**ENTRY, "inside": "f", "which": 2, "change": "\n  2\n", "reason": "r", "tests": []}
    assert edit_of(more, "p", ("reason",), ("tests",)) == Edit("hw/a.py", "f", "  2", "3", 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"file": None}, "p: file is missing; keys are file, change, to, reason, inside, which"),
        ({"reason": None}, "p: reason is missing"),
        ({"more": 1}, "p: more is not a key"),
        ({"to": 3}, "p: to: 3 is not text"),
        ({"reason": 3}, "p: reason: 3 is not text"),
        ({"inside": 3}, "p: inside: 3 is not text"),
        ({"which": "1"}, "p: which: '1' is not a number from 1"),
        ({"which": True}, "p: which: True is not a number from 1"),
        ({"which": -1}, "p: which: -1 is not a number from 1"),
        ({"file": "/hw/a.py"}, "is not a file below the root"),
        ({"file": "hw/../../a.py"}, "is not a file below the root"),
    ],
)
def test_what_is_no_edit(changes, message):
    entry = {**ENTRY, "reason": "r", **changes}
    entry = {key: value for key, value in entry.items() if value is not None}
    with pytest.raises(InputError, match=message):
        edit_of(entry, "p", ("reason",))
