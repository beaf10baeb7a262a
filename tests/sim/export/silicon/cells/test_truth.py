"""Functions as tables: bit i is the value where the inputs make i."""

import random

import pytest

from celosia.sim.export.silicon.cells.liberty import LibertyError
from celosia.sim.export.silicon.cells.truth import truth_table


@pytest.mark.parametrize(
    ("function", "table"),
    [
        ("(!(A B))", 0b0111),
        ("(A * B)", 0b1000),
        ("A+B", 0b1110),
        ("A | B'", 0b1011),
        ("A^B", 0b0110),
        ("(!A !B)", 0b0001),
        ("!(A + (A B))", 0b0101),
        ("1", 0b1111),
        ("A & !1", 0),
    ],
)
def test_functions(function: str, table: int):
    assert truth_table(function, ["A", "B"]) == table


@pytest.mark.parametrize(
    ("function", "problem"),
    [("(A", "lacks a parenthesis"), ("C", "'C', which is no input"), ("A)", "not read from '\\)'"),
     ("A ? B", "signs that are not known"), ("", "has ''")],
)  # fmt: skip
def test_bad_functions(function: str, problem: str):
    with pytest.raises(LibertyError, match=problem):
        truth_table(function, ["A", "B"])


def written(rng: random.Random, depth: int = 4) -> tuple[str, str]:
    """A function as a Liberty file may have it, and as Python reads it."""
    if not depth or rng.random() < 0.2:
        name = rng.choice("ABC01")
        return name, "every" if name == "1" else name.replace("0", "(every & 0)")
    if rng.random() < 0.2:
        one, as_python = written(rng, 0)
        negated = rng.choice([f"!{one}", f"{one}'"])
        return negated, f"(every ^ {as_python})"
    sign, signs = rng.choice([("&", "&* "), ("|", "|+"), ("^", "^")])
    parts = [written(rng, depth - 1) for _ in range(rng.randint(2, 4))]
    liberty = [f" {one} " if one.isalnum() else f"({one})" for one, _ in parts]
    return rng.choice(signs).join(liberty), sign.join(f"({python})" for _, python in parts)


@pytest.mark.parametrize("seed", range(40))
def test_a_function_is_what_python_makes_of_it(seed):
    function, python = written(random.Random(seed))
    columns = {"A": 0b10101010, "B": 0b11001100, "C": 0b11110000, "every": 0xFF}
    assert truth_table(function, ["A", "B", "C"]) == eval(python, {}, columns), function


@pytest.mark.parametrize(
    ("function", "same"),
    [
        ("A|B|C", "A|(B|C)"),
        ("A B C", "(A B) C"),
        ("A^B^C", "A^(B^C)"),
        ("A|B&C", "A|(B&C)"),
        ("A^B C", "A^(B C)"),
        ("A|B^C", "A|(B^C)"),
        ("A & B | C", "(A & B) | C"),
        ("!A B", "(!A) B"),
        ("A''", "A"),
        ("!!A", "A"),
    ],
)
def test_signs_bind_as_in_a_liberty_file(function, same):
    names = ["A", "B", "C"]
    assert truth_table(function, names) == truth_table(same, names)
