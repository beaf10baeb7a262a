"""Rules that raise are left out, and the graph goes on.

The graphs here are texts, whose letters are nodes; a match makes its letter a capital.
"""

from dataclasses import dataclass, replace

import pytest

from celosia.sw.rewriting.engine import (
    Fault,
    Level,
    Refusal,
    Rule,
    alternatives,
    apply_rule,
    exhaust,
    sweep,
)
from celosia.sw.rewriting.walk import Walk

MISTAKE = "; the mistake is Celosia's, please report it"


class Reader:
    """A text, letter by letter."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes = Walk(graph, str)


@dataclass(frozen=True)
class Letter:
    """A letter that is to be a capital."""

    root: str
    what: str = "a letter"


def rebuild(graph, matches):
    if "x" in matches:
        raise AssertionError("x cannot be made")
    return "".join(each.upper() if each in matches else each for each in graph)


def judged(_reader, found):
    if found.root == "y":
        raise IndexError("y cannot be proved")
    return "it is a z" if found.root == "z" else None


def level(make=rebuild):
    return Level(
        name="text",
        read=Reader,
        likeness=lambda _, found: found.root,
        difference=judged,
        rebuild=make,
    )


def rule(find, make=rebuild):
    return Rule(name="letters", summary="", level=level(make), find=find, repeats=False)


def letters(reader):
    for each in reader.nodes:
        if each == "w":
            raise ZeroDivisionError("w is looked at")
        yield Letter(each)


@pytest.mark.parametrize(
    ("graph", "found", "refused"),
    [
        ("abc", "ABC", []),
        ("abz", "ABz", ["z: looks like a letter, but it is a z"]),
        ("awb", "AwB", ["at w: ZeroDivisionError: w is looked at"]),
        ("wabw", "wABw", ["at w: ZeroDivisionError"] * 2),
        ("ayb", "AyB", ["at y: IndexError: y cannot be proved"]),
        ("axb", "AxB", ["at x: AssertionError: x cannot be made"]),
        ("x", "x", ["at x: AssertionError"]),
        ("wyx", "wyx", ["at w:", "at y:", "at x:"]),
    ],
)
def test_a_rule_goes_on_behind_what_it_raises_at(mistakes, graph, found, refused):
    done = sweep(rule(letters), graph)
    assert done.graph == found
    assert len(done.accepted) == sum(each.isupper() for each in found)
    assert len(done.refusals) == len(refused)
    for text, refusal in zip(refused, done.refusals, strict=True):
        assert text in str(refusal)
        if isinstance(refusal, Fault):
            assert str(refusal).startswith("pass letters is left out at ")
            assert str(refusal).endswith(MISTAKE)
    assert bool(mistakes) == any(isinstance(each, Fault) for each in done.refusals)
    assert all("Traceback" in each for each in mistakes)
    mistakes.clear()


def test_a_rule_that_raises_before_it_looks_at_a_node_is_left_out(mistakes):
    def find(_reader):
        raise KeyError("x")

    done = sweep(rule(find), "abc")
    assert done.graph == "abc"
    assert [str(each) for each in done.refusals] == [
        f"pass letters is left out: KeyError: 'x'{MISTAKE}"
    ]
    mistakes.clear()


def test_replacements_that_only_raise_together_are_left_out_together(mistakes):
    def make(graph, matches):
        if len(matches) > 1:
            raise ValueError("too many")
        return rebuild(graph, matches)

    done = sweep(rule(letters, make), "ab")
    assert (done.graph, done.accepted) == ("ab", {})
    assert "ValueError: too many" in str(done.refusals[0])
    mistakes.clear()


def test_where_the_memory_is_full_nobody_is_at_fault():
    def find(_reader):
        raise MemoryError

    with pytest.raises(MemoryError):
        sweep(rule(find), "abc")


def test_ways_to_go_on_leave_out_what_raises(mistakes):
    found = [step.graph for step in alternatives(rule(letters), "awb", {})]
    assert found == ["Awb", "awB", "AwB"]
    mistakes.clear()


def test_a_refusal_is_no_fault():
    refusal = Refusal("a letter", "a", "it is none")
    assert str(refusal) == "a: looks like a letter, but it is none"
    assert not isinstance(refusal, Fault)


def first_lower(reader):
    """The first letter that is no capital yet."""
    yield from [Letter(each) for each in reader.nodes if each.islower()][:1]


def test_only_a_rule_that_repeats_goes_on_with_its_own_result():
    once = rule(first_lower)
    assert (apply_rule(once, "abc"), [*exhaust(once, "abc").accepted]) == ("Abc", ["a"])
    again = replace(once, repeats=True)
    assert (apply_rule(again, "abc"), [*exhaust(again, "abc").accepted]) == ("ABC", ["a", "b", "c"])
    assert apply_rule(again, "ABC") == "ABC"


@pytest.mark.parametrize("count", [63, 64])
def test_a_rule_that_finds_something_for_ever_is_a_mistake(count):
    """A sweep that finds something is the 64th at most."""
    graph = "".join(chr(0x430 + n) for n in range(32)) + "".join(chr(0x561 + n) for n in range(32))
    graph = graph[:count]
    again = replace(rule(first_lower), repeats=True)
    if count == 63:
        assert apply_rule(again, graph) == graph.upper()
    else:
        with pytest.raises(AssertionError, match="in its own result for ever"):
            apply_rule(again, graph)
