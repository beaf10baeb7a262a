"""The prover's answers about small random gates, against all their runs."""

from collections.abc import Iterable, Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.support.gates import Aiger, refute, refute_anywhere, unreached

INPUTS, LATCHES, ANDS, DEPTH = 2, 2, 5, 3
VARIABLES = INPUTS + LATCHES + ANDS
PLACES = ["first", "second"]
State = tuple[int, ...]


@st.composite
def graphs(draw) -> Aiger:
    """Gates of inputs and latches, with two claims, two covers and a constraint."""

    def literal(below: int = VARIABLES + 1) -> int:
        return draw(st.integers(0, 2 * below - 1))

    latches = range(INPUTS + 1, INPUTS + LATCHES + 1)
    return Aiger(
        VARIABLES,
        [2 * number for number in range(1, INPUTS + 1)],
        [(2 * n, literal(), draw(st.sampled_from((0, 1, 2 * n)))) for n in latches],
        [(2 * n, literal(n), literal(n)) for n in range(latches.stop, VARIABLES + 1)],
        [literal(), literal()],
        [literal(), literal()],
        [],
        [draw(st.sampled_from((1, literal())))],
    )


def values(gates: Aiger, state: State, inputs: State) -> list[int]:
    """Of all literals in a cycle."""
    known = [0, *inputs, *state]
    for _, one, other in gates.ands:
        known.append((known[one >> 1] ^ one & 1) & (known[other >> 1] ^ other & 1))
    return [value ^ inverted for value in known for inverted in (0, 1)]


def runs(gates: Aiger, starts: Iterable[State]) -> Iterator[list[list[int]]]:
    """The cycles of each run that keeps the constraints, also of those that end before DEPTH."""
    left: list[tuple[State, list[list[int]]]] = [(start, []) for start in starts]
    while left:
        state, cycles = left.pop()
        for inputs in product((0, 1), repeat=INPUTS):
            now = values(gates, state, inputs)
            if all(now[literal] for literal in gates.constraints):
                yield [*cycles, now]
                if len(cycles) < DEPTH:
                    following = tuple(now[literal] for _, literal, _ in gates.latches)
                    left.append((following, [*cycles, now]))


def from_reset(gates: Aiger) -> list[list[list[int]]]:
    free = [(0, 1) if start > 1 else (start,) for _, _, start in gates.latches]
    return list(runs(gates, product(*free)))


def from_anywhere(gates: Aiger) -> list[list[list[int]]]:
    return list(runs(gates, product((0, 1), repeat=LATCHES)))


@given(graphs())
def test_from_reset_the_first_cycle_in_which_a_claim_is_broken_is_found(gates):
    broken = {
        (len(cycles) - 1, name)
        for cycles in from_reset(gates)
        if len(cycles) <= DEPTH
        for name, literal in zip(PLACES, gates.wrong, strict=True)
        if cycles[-1][literal]
    }
    told = refute(gates, DEPTH, PLACES)
    first = min((cycle for cycle, _ in broken), default=None)
    wanted = {f"{name}: broken in cycle {cycle}" for cycle, name in broken if cycle == first}
    assert told in wanted if wanted else not told


@given(graphs())
def test_induction_finds_what_is_broken_behind_good_cycles(gates):
    wanted = {
        f"{name}: broken in cycle {DEPTH} of any"
        for cycles in from_anywhere(gates)
        if len(cycles) == DEPTH + 1
        if not any(now[literal] for now in cycles[:-1] for literal in gates.wrong)
        for name, literal in zip(PLACES, gates.wrong, strict=True)
        if cycles[-1][literal]
    }
    told = refute(gates, DEPTH, PLACES, anywhere=True)
    assert told in wanted if wanted else not told


@given(graphs())
def test_behind_cycles_of_any_kind_the_first_broken_claim_is_found(gates):
    last = [cycles[-1] for cycles in from_anywhere(gates) if len(cycles) == DEPTH + 1]
    broken = [
        name
        for name, literal in zip(PLACES, gates.wrong, strict=True)
        if any(now[literal] for now in last)
    ]
    told = refute_anywhere(gates, DEPTH, PLACES)
    assert told == (f"{broken[0]}: broken after {DEPTH} cycles" if broken else "")


@given(graphs())
def test_covers_that_no_run_reaches_are_told(gates):
    cycles = [cycles[-1] for cycles in from_reset(gates) if len(cycles) <= DEPTH]
    missed = [
        number
        for number, literal in enumerate(gates.reached)
        if not any(now[literal] for now in cycles)
    ]
    assert unreached(gates, DEPTH) == missed
