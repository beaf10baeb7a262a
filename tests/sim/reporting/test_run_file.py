"""Reports that were changed: refused with their place, or read by every command; no traceback."""

import copy
import json
import random
from pathlib import Path

import pytest

from celosia.sim.profile import whatif
from celosia.sim.profile.packing import pack, pack_bytes
from celosia.sim.reporting.run_file import read_run
from celosia.sim.support.problems import InputError
from tests.support.command_line import invoke

WRONG = [None, True, -1, 0, 7, 10**17, 10**30, 1.5, float("nan"), "", "x", "eJw=", [], [None], {}]
COMMANDS = [
    ("explain", "R.json"),
    ("top", "R.json"),
    ("compare", "R.json", "good.json"),
    ("compare", "good.json", "R.json"),
    ("asm", "--annotate", "R.json"),
]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def places(value, path=()):
    """The paths of all values in a document, of the elements of a list only the first and last."""
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = [*enumerate(value)][:: max(1, len(value) - 1)]
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(document, path, *values):
    """A copy of `document` with another value at `path`, or without one there."""
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if values:
        inner[path[-1]] = values[0]
    else:
        del inner[path[-1]]
    return document


def kind(path):
    """What a path has in common with others: names in a table are all the same."""
    tables = ("counters", "until_stopped", "config", "activity", "owners", "queues", "versions")
    named = (before in tables for before in (None, *path))
    return tuple(
        "*" if name or isinstance(key, int) else key for name, key in zip(named, path, strict=False)
    )


def check(document, commands=COMMANDS):
    """A report is refused with its name, or `commands` take it; whether it is refused."""
    Path("R.json").write_text(json.dumps(document))
    refusal = ""
    try:
        read_run("R.json")
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert refusal.startswith("R.json: ")
        assert len(refusal) < 1000
        return True
    for words in commands:
        result = invoke(*words)
        assert isinstance(result.exception, SystemExit | None), words
        assert result.exit_code in {0, 1, 2}, words
        assert "Traceback" not in result.output
    return False


def check_changes(document):
    """For each kind of place: nothing there, and a wrong value; a command drawn for each."""
    draw = random.Random(5)
    kinds = {}
    for path in places(document):
        kinds.setdefault(kind(path), []).append(path)
    for alike in kinds.values():
        for change in ((), *((value,) for value in draw.sample(WRONG, 1))):
            check_change(document, draw.choice(alike), change, draw.sample(COMMANDS, 1))


def check_all_changes(document):
    for path in places(document):
        for change in ((), *((value,) for value in WRONG)):
            check_change(document, path, change, COMMANDS)


def check_change(document, path, change, commands):
    try:
        check(changed(document, path, *change), commands)
    except BaseException as error:
        raise AssertionError(f"{path}: {change}") from error


@pytest.fixture
def good(document):
    Path("good.json").write_text(json.dumps(document))
    return document


@pytest.fixture
def one_candidate(monkeypatch):
    """One other memory and bus is asked about: each hardware takes a search for plans."""
    wider = [each for each in whatif._CANDIDATES if each[1] is whatif._wider]
    assert wider
    monkeypatch.setattr(whatif, "_CANDIDATES", wider)


@pytest.mark.usefixtures("one_candidate")
def test_no_single_change_is_a_traceback(good):
    assert not check(good)
    check_changes(good)


@pytest.mark.usefixtures("one_candidate")
def test_no_single_change_of_a_stopped_run_is_a_traceback(good, stuck):
    assert not check(stuck)
    check_changes(stuck)


@pytest.mark.nightly
def test_no_single_change_at_all_is_a_traceback(good, stuck):
    check_all_changes(good)
    check_all_changes(stuck)


def refuse(document, message):
    Path("R.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_run("R.json")
    assert str(caught.value) == f"R.json: {message}"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("cycles",), "x", "$.cycles: 'x' is not of type 'integer', 'null'"),
        (("cycles",), 8.0, "$.cycles: 8.0 is not of type 'integer', 'null'"),
        (("cycles",), 0, "$.cycles: 0 is less than the minimum of 1"),
        (("seed",), 10**18, "not JSON: number 1000000000000000000: has over 18 digits"),
        (("operators", 0, "limit", "bound"), "x", None),
        (("mac_utilization",), float("nan"), "not JSON: number NaN: is not finite"),
        (("config", "dim"), 5, "$.config: dim: 5 is not a power of two in 2..64"),
        (("config", "dims"), 5, None),
        (("operators", 0, "problem", "m"), 14, None),
        (("failure",), {}, None),
    ],
)
def test_a_message_has_place_value_and_rule(document, path, value, message):
    if message is not None:
        refuse(changed(document, path, value), message)
    else:
        assert check(changed(document, path, value))


def test_a_long_value_is_cut_short(document):
    refuse(
        changed(document, ("operators",), {"x": "y" * 10**5}),
        f"$.operators: {{'x': '{'y' * 53}... is not of type 'array'",
    )


def test_what_must_agree_is_compared(document):
    first = document["operators"][0]
    refuse(
        changed(document, ("cycles",), None),
        f"$.cycles: None, but there are {len(document['counters'])} counters",
    )
    refuse(
        changed(document, ("operators", 0, "counters"), {"cycles": 5}),
        "$.operators[0].counters: there is no 'read_bytes'",
    )
    refuse(
        changed(document, ("operators", 0, "macs"), 1),
        "$.operators[0].problem: 13x9x10 are 1170 multiply-accumulates, but macs is 1",
    )
    refuse(
        changed(document, ("status",), "stopped"), "$.status: 'stopped', but there is no failure"
    )
    assert first["macs"] == 1170


def test_lists_of_a_profile_must_agree(document, profile):
    many = len(profile.commands)
    operations = len(profile.queues["load"].command)

    def refuse_profile(path, value, message):
        refuse(changed(document, ("profile", *path), value), f"$.profile{message}")

    refuse_profile(
        ("operator",), pack(profile.operator[:-1]), f".operator: has {many - 1} numbers, "
        f"but the program {many} commands",
    )  # fmt: skip
    refuse_profile(("operator",), pack(profile.operator + 1), ".operator: 1 is not in 0..0")
    queue = profile.queues["load"]
    refuse_profile(
        ("queues", "load", "command"),
        pack(queue.command + many),
        f".queues.load.command: {queue.command[0] + many} is not in 0..{many - 1}",
    )
    refuse_profile(
        ("queues", "load", "done"),
        pack(queue.done[1:]),
        ".queues.load: the lists have different lengths: "
        + ", ".join(f"{name} {operations}" for name in ("command", "entered", "started"))
        + f", began {operations}, read {operations}, done {operations - 1}",
    )
    refuse_profile(("queues", "x"), {}, ".queues.x: 'x' is none of execute, load, store, transform")
    spans = profile.owners["array"]
    refuse_profile(
        ("owners", "array", "start"),
        pack(spans.start[::-1].copy()),
        ".owners.array.start: the cycles must ascend",
    )
    refuse_profile(
        ("program",), pack_bytes(b"123"), ": 3 bytes are not a whole number of 24-byte entries"
    )


def test_a_text_that_grows_without_bound_is_refused(document):
    bomb = pack_bytes(bytes(257 << 20))  # Numbers that are all zero.
    refuse(
        changed(document, ("profile", "operator"), bomb),
        "$.profile: not compressed: cut short, or more than 268,435,456 bytes",
    )
