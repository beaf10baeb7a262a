"""Changes are found by what they change, wherever that has moved, and in no other place."""

import ast
import textwrap

import pytest

from celosia.lab.mutate.edit import Edit, edited_text
from celosia.lab.mutate.scopes import functions
from celosia.sim.support.problems import InputError

SOURCE = '''
"""A file."""

class Queue:
    def pop(self, count, *, last=False):
        """Take some."""
        self.left -= count  # a comment
        if count > 1 and self.left == 0:
            self.empty = True
            self.tell("empty", last=last)
        return [self.left + 1, self.left + 1, count]

def pop(count):
    return count > 1
'''


def changed(change, to, inside="Queue.pop", which=0, file="hw/queue.py"):
    return edited_text(Edit(file, inside, change, to, which), SOURCE)


def expected(old, new):
    assert SOURCE.count(old) == 1
    return ast.dump(ast.parse(SOURCE.replace(old, new)))


@pytest.mark.parametrize(
    ("change", "to", "old", "new"),
    [
        ("self.left==0", "self.left == 1", "self.left == 0", "self.left == 1"),
        ("(count>1) and (self.left == 0)", "count", "count > 1 and self.left == 0", "count"),
        ("self.left -= count", "", "self.left -= count  # a comment", ""),
        ("self.left -= count", "x = 1\ny = 2", "self.left -= count", "x = 1; y = 2"),
        ("self.tell('empty', last=last)", "", '            self.tell("empty", last=last)', ""),
        ("self.tell('empty', last=last)", "return", 'self.tell("empty", last=last)', "return"),
        ("last=last", "", ", last=last", ""),
        ("last=last", "last=1", "last=last", "last=1"),
        ("count", "", ", count]", "]"),
        ("self.empty = True", "", "            self.empty = True\n", ""),
    ],
)
def test_a_place_is_found_by_its_syntax(change, to, old, new):
    which = 3 if change == "count" else 0  # The last of its uses.
    assert ast.dump(ast.parse(changed(change, to, which=which))) == expected(old, new)


def test_several_statements_are_one_place_and_an_empty_block_passes():
    change = 'self.empty = True\nself.tell("empty", last=last)'
    assert "if count > 1 and self.left == 0:\n            pass\n" in changed(change, "")


def test_one_of_several_places_is_named_by_its_number():
    text = changed("self.left + 1", "self.left", which=2)
    assert "[self.left + 1, self.left, count]" in text
    with pytest.raises(InputError, match=r"Queue.pop has `self.left \+ 1` 2 times"):
        changed("self.left + 1", "self.left")
    with pytest.raises(InputError, match=r"`which` is 3, not in 1..2"):
        changed("self.left + 1", "self.left", which=3)


def test_only_the_named_function_is_searched():
    assert "return count >= 1" in changed("count > 1", "count >= 1", inside="pop")
    assert "if count >= 1 and" in changed("count > 1", "count >= 1")
    with pytest.raises(InputError, match="2 times"):
        changed("count > 1", "count >= 1", inside="")


@pytest.mark.parametrize(
    ("change", "to", "inside", "message"),
    [
        ("count > 2", "count", "Queue.pop", "hw/queue.py: Queue.pop has no `count > 2`"),
        ("count > 1", "count", "Queue.push", "has no function or class Queue.push"),
        ("count > 1", "", "pop", "cannot be left out"),
        ("count > 1", "count > 1", "pop", "changes nothing"),
        ("count >", "count", "pop", "`count >` is not Python"),
        ("count > 1", "count >", "pop", "`count >` is not Python"),
    ],
)
def test_what_does_not_fit_is_named(change, to, inside, message):
    with pytest.raises(InputError, match=message):
        changed(change, to, inside)


CODE = """int one(int a) {
  return a + 1;
}

struct S {
  int two(int a) {
    return a + 1;
  }
};
"""


def test_text_in_other_languages_is_found_in_a_function():
    for inside, kept in (("one", "  return a + 1;"), ("two", "    return a + 1;")):
        text = edited_text(Edit("sim/a.h", inside, "a + 1", "a"), CODE)
        assert text.count("a + 1") == 1
        assert kept not in text.splitlines()
    with pytest.raises(InputError, match="2 times"):
        edited_text(Edit("sim/a.h", "", "a + 1", "a"), CODE)
    with pytest.raises(InputError, match="has no function three"):
        edited_text(Edit("sim/a.h", "three", "a + 1", "a"), CODE)


def test_functions_of_a_file_are_all_but_those_within_another():
    text = """
        def first():
            def within(): ...
        if True:
            def second(): ...
        class Kind:
            def method(self):
                class Local:
                    def far(self): ...
            class Inner:
                async def deep(self): ...
        async def last(): ...
    """
    found = [name for name, _ in functions(ast.parse(textwrap.dedent(text)))]
    assert found == [
        "first",
        "second",
        "Kind.method",
        "Kind.method.Local.far",
        "Kind.Inner.deep",
        "last",
    ]
