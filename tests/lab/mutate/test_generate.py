"""Samples of single changes: the same for a seed, each of one kind and in one place."""

import ast

import pytest

from celosia.lab.mutate.generate import candidates, draw, sources_of
from celosia.lab.mutate.operators import OPERATORS, VALUES
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.problems import InputError

ROOT = checkout_root()


def made(operator, source):
    """The bodies that `operator` makes of a function with the body `source`, one by one."""
    text = f"def f(a, b, c):\n    {source}\n"
    return {
        ("" if each.new is None else ast.unparse(each.new))
        for each in candidates("sw/a.py", text)
        if each.operator.name == operator
    }


CASES = [
    ("boundary", "return a < b", {"a <= b"}),
    ("comparison", "return a < b", {"a >= b"}),
    ("arithmetic", "return a // b", {"a * b"}),
    ("arithmetic", "a += b", {"a -= b"}),
    ("arithmetic", "a += 'text'", set()),
    ("side", "return a * b", {"a"}),
    ("constant", "return 7", {"8", "6"}),
    ("constant", "return True", set()),
    ("truth", "return True", {"False"}),
    ("junction", "return a and b", {"a or b"}),
    ("condition", "return a and b and c", {"a and b", "a and c", "b and c"}),
    ("negation", "return not a", {"a"}),
    ("branch", "return a if b else c", {"c if b else a"}),
    ("keyword", "f(a, b=c)", {""}),
    ("keyword", "zip(a, b, strict=True)", set()),
    ("truth", "zip(a, b, strict=True)", set()),
    ("arguments", "f(a, b, c)", {"f(b, a, c)", "f(a, c, b)"}),
    ("twin", "return min(a, b)", {"max(a, b)"}),
    ("twin", "return a.any()", {"a.all()"}),
    ("slice", "return a[b:c]", {"a[:c]", "a[b:]", "a[b + 1:c]", "a[b:c + 1]"}),
    ("statement", "f(a)", {""}),
    ("statement", "a = b", set()),
    ("return", "return a", {"return None"}),
    ("return", "return None", set()),
    ("loop", "for a in b: f(a)", {"for a in b:\n    f(a)\n    break"}),
]


@pytest.mark.parametrize(("operator", "source", "results"), CASES)
def test_what_an_operator_makes(operator, source, results):
    assert made(operator, source) == results


OUTSIDE = [
    ("setting", "A: Final = 7", {"8", "6"}),
    ("setting", "A = (0.5, 0.0)", {"0.625", "0.375"}),
    ("setting", "class C:\n    on: bool = True", {"False"}),
    ("setting", "class C:\n    class D:\n        A = 'text', 1 << 2", {"0", "1", "2", "3"}),
    ("setting", "def f(a, b=3, *, c: int = 1, d=None):\n    return 5", {"4", "2", "0"}),
    ("setting", "class C:\n    def f(self, a=(9,)):\n        return 5", {"10", "8"}),
    ("setting", "__all__ = ['a']\nA: TypeAlias = Literal[1, 2]", set()),
    ("setting", "A: Annotated[int, 3]\nB: Annotated[int, 4] = 7", {"8", "6"}),
    ("entry", "A = {1: 2, 3: 4}", {"{1: 2}", "{3: 4}"}),
    ("entry", "A = (1, 2), [3]", {"(1,)", "(2,)", "((1, 2),)", "([3],)"}),
    ("entry", "A = frozenset({1, 2})", {"{1}", "{2}"}),
]


@pytest.mark.parametrize(("operator", "source", "results"), OUTSIDE)
def test_constants_tables_and_defaults_are_changed(operator, source, results):
    """Integers are no longer where they were, and statements of functions are no values."""
    found = [each for each in candidates("sw/a.py", source) if each.operator.name == operator]
    assert {ast.unparse(each.new) for each in found if each.new is not None} == results


def test_a_value_is_changed_where_it_stands(tmp_path):
    """The same numbers stand in functions before and behind it."""
    text = "def f(a=[3, 5]):\n    return 3, 5\nA = [3, 5]\ndef g(a=1):\n    return [3, 5]\n"
    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "a.py").write_text(text)
    changes = draw("isa/a.py", len([*candidates("isa/a.py", text)]), 1, tmp_path)
    results = {
        (change.operator, *change.fault.changed(tmp_path).values())
        for change in changes
        if change.line == 3
    }
    values = {"setting": ("[4, 5]", "[2, 5]", "[3, 6]", "[3, 4]"), "entry": ("[3]", "[5]")}
    assert results == {
        (kind, ast.unparse(ast.parse(text.replace("A = [3, 5]", f"A = {new}"))) + "\n")
        for kind, found in values.items()
        for new in found
    }


def test_every_operator_is_tested_and_has_a_weight():
    assert {name for name, *_ in CASES} == {operator.name for operator in OPERATORS}
    assert {name for name, *_ in OUTSIDE} == {operator.name for operator in VALUES}
    assert all(operator.weight > 0 and operator.meaning for operator in (*OPERATORS, *VALUES))


def test_assertions_of_a_design_are_left_alone():
    text = "def f(m, a):\n    m.d.sync += [Assert(a == 1)]\n"
    assert all(isinstance(each.node, ast.AugAssign) for each in candidates("hw/a.py", text))
    text = "def f(m, a):\n    m.d.sync += Assert(~a, 'why')\n"
    assert not [*candidates("hw/a.py", text)]


def test_messages_and_annotations_are_left_alone():
    text = "def f(a):\n    b: int | None = a\n    raise ValueError(f'{a + 1}' + 'x')\n"
    assert {each.operator.name for each in candidates("sw/a.py", text)} == {"statement"}


def test_a_sample_is_the_same_for_a_seed_and_begins_a_larger_one():
    small, large = (draw("sw/passes/loops", count, 7, ROOT) for count in (10, 20))
    assert large[:10] == small
    assert draw("sw/passes/loops", 10, 8, ROOT) != small
    assert len({change.fault.edit for change in large}) == 20
    assert len({change.fault.name for change in large}) == 20
    for change in large:
        ((path, text),) = change.fault.changed(ROOT).items()
        assert path.startswith("sw/passes/loops/")
        assert ast.dump(ast.parse(text or "")) != ast.dump(ast.parse((ROOT / path).read_text()))


def test_a_package_is_a_layer_a_folder_or_a_file():
    assert "sw/passes/loops/nodes.py" in sources_of("sw", ROOT)
    assert sources_of("sw/passes/loops/nodes.py", ROOT) == ["sw/passes/loops/nodes.py"]
    for wrong in ("tests", "nonsense", "sw/nonsense", "sw/../tests", "", "/etc"):
        with pytest.raises(InputError, match="--package"):
            sources_of(wrong, ROOT)


def test_more_changes_than_there_are():
    with pytest.raises(InputError, match=r"--generate 1000: isa/encoding/tokens\.py has only"):
        draw("isa/encoding/tokens.py", 1000, 0, ROOT)
