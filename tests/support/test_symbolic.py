"""Programs on unknown numbers against the same programs on known ones, and against hardware."""

import operator

import pytest
from amaranth import Const, Module, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.symbolic import Failed, choose, explore, number, summarized, truth
from tests.support.terms import Emitter, Product, Term, add, constant, evaluate, multiply, variable

BITS = 6
NAMES = ("x", "y", "z")
INPUTS = {name: variable(name, BITS) for name in NAMES}

_BINARY = (operator.add, operator.sub, operator.mul, operator.eq, operator.ne, operator.lt)
_BINARY += (operator.le, operator.gt, operator.ge)
_UNARY = (
    operator.neg,
    lambda x: x >> 2,
    lambda x: x // 4,
    lambda x: -(-x // 2),
    lambda x: -(-x * 2 // 8),
    lambda x: x & 7,
    lambda x: x % 16,
    lambda x: (x & 31) | 9,
    lambda x: 5 - x,
    lambda x: max(x, 3),
    truth,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(_UNARY), st.integers(0, 9)),
        st.tuples(st.sampled_from(_BINARY), st.integers(0, 9), st.integers(0, 9)),
        st.tuples(
            st.sampled_from(("if", "choose")), st.integers(0, 9), st.integers(0, 9), st.just(1)
        ),
    ),
    max_size=7,
)
VALUES = st.fixed_dictionaries({name: st.integers(0, (1 << BITS) - 1) for name in NAMES})


def run(steps, inputs):
    """Each step adds a number, made of earlier ones, to those that there are; the last one."""
    numbers = [*inputs, 1, 4, 17]
    for what, *places in steps:
        values = [numbers[place % len(numbers)] for place in places]
        if what == "if":
            numbers.append(values[1] if values[0] else values[2])
        elif what == "choose":
            numbers.append(choose(*values))
        else:
            numbers.append(what(*values))
    return numbers[-1] + 0


def merged(steps) -> Term:
    outcomes = explore(lambda: run(steps, [number(INPUTS[name]) for name in NAMES]))
    found = outcomes.merged(lambda result: result)
    assert found is not None
    return found


@settings(max_examples=300)
@given(STEPS, VALUES)
def test_a_program_has_the_same_result_on_unknown_numbers(steps, values):
    term, wanted = merged(steps), run(steps, [values[name] for name in NAMES])
    assert evaluate(term, values) == wanted
    assert term.low <= wanted <= term.high


def emitted(term: Term, values: dict[str, int], *products: tuple[int, int]) -> int:
    """What the hardware of a term computes; others have made `products` of these factors."""
    m, found = Module(), []
    ports = {name: Signal(BITS, init=value, name=name) for name, value in values.items()}
    known = [Product(Const(one), Const(other), Const(one * other)) for one, other in products]
    value = Emitter(m, ports, known).of(term)

    async def testbench(ctx):
        found.append(ctx.get(value))

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()
    return found[0]


@settings(max_examples=40, deadline=None)
@given(STEPS, VALUES)
def test_hardware_computes_what_a_term_says(steps, values):
    term = merged(steps)
    assert emitted(term, values) == evaluate(term, values)


@pytest.mark.parametrize("y", [0, 4, 5, 63])
def test_products_of_others_change_none(y):
    product = multiply(add(INPUTS["y"], constant(-1)), INPUTS["x"])
    values = {"x": 61, "y": y, "z": 0}
    assert emitted(product, values, (3, 61)) == 61 * (y - 1)
    assert emitted(product, values, (-1, 61), (3, 60)) == 61 * (y - 1)


def test_both_sides_of_each_decision_are_followed_and_no_contradictions():
    def program():
        x = number(INPUTS["x"])
        if x < 10:
            return "impossible" if x == 10 else "low"
        return "ten" if x == 10 else "high"

    assert list(explore(program).results()) == ["low", "ten", "high"]


def test_an_exception_is_a_result_of_its_path():
    def program():
        if number(INPUTS["x"]) == 3:
            raise ValueError("three")
        return 1

    outcomes = explore(program)
    raises = outcomes.where(lambda result: isinstance(result, Failed))
    assert [evaluate(raises, {"x": x}) for x in (2, 3, 4)] == [0, 1, 0]


def test_a_key_is_each_of_its_values():
    keys = {0: 7, 2: 9}
    x = variable("narrow", 2)
    found = explore(lambda: keys.get(number(x), 1)).merged(lambda result: result)
    assert found is not None
    assert [evaluate(found, {"narrow": value}) for value in range(4)] == [7, 1, 9, 1]


def test_too_many_values_are_no_key():
    outcomes = explore(lambda: {}.get(number(variable("wide", 9))))
    (result,) = outcomes.results()
    assert isinstance(result, Failed)
    assert "512 values are too many" in str(result.error)


def test_a_summary_is_one_number_instead_of_paths():
    class Some:
        def __init__(self, x):
            self.x = x

        def sign(self):
            return 1 if self.x < 5 else -1

    with summarized((Some, "sign")):
        outcomes = explore(lambda: Some(number(INPUTS["x"])).sign())
    assert len(list(outcomes.results())) == 1
    found = outcomes.merged(lambda result: result)
    assert found is not None
    assert [evaluate(found, {"x": x}) for x in (4, 5)] == [1, -1]
    assert Some(4).sign() == 1


def test_only_powers_of_two_divide():
    with pytest.raises(AssertionError, match="powers of two"):
        _ = number(INPUTS["x"]) % 3
