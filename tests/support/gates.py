"""Bounded proofs and induction on And-Inverter graphs in the AIGER format."""

from dataclasses import dataclass
from pathlib import Path

from pysat.solvers import Cadical153

__all__ = ["Aiger", "read_aiger", "refute", "refute_anywhere", "unreached"]


@dataclass(frozen=True)
class Aiger:
    """Gates and registers; a literal is twice a variable, plus 1 where it is inverted."""

    variables: int
    inputs: list[int]
    latches: list[tuple[int, int, int]]
    """Literal, literal of the next value, initial value (or the literal: any)."""
    ands: list[tuple[int, int, int]]
    wrong: list[int]
    """Literals that must never be true, by number."""
    reached: list[int]
    """Literals that must be able to be true, by number."""
    bad: list[int]
    """Assertions of the units themselves that are broken."""
    constraints: list[int]


def read_aiger(path: Path) -> Aiger:
    """What Yosys wrote."""
    lines = path.read_text().splitlines()
    header = [int(word) for word in lines[0].split()[1:]]
    variables, inputs, latches, outputs, ands, bads, constraints = [*header, 0, 0][:7]
    rows = [[int(word) for word in line.split()] for line in lines[1 : 1 + sum(header[1:])]]
    counts, parts = (inputs, latches, outputs, bads, constraints, ands), []
    for count in counts:
        parts.append(rows[:count])
        rows = rows[count:]
    named: dict[str, dict[int, int]] = {"wrong": {}, "reached": {}}
    for line in lines:
        if line.startswith("o") and " " in line:
            place, name = line.split(" ", 1)
            base, _, index = name.partition("[")
            named[base][int(index.rstrip("]") or 0)] = parts[2][int(place[1:])][0]
    return Aiger(
        variables,
        [row[0] for row in parts[0]],
        [(row[0], row[1], row[2] if len(row) > 2 else 0) for row in parts[1]],
        [(row[0], row[1], row[2]) for row in parts[5]],
        [literal for _, literal in sorted(named["wrong"].items())],
        [literal for _, literal in sorted(named["reached"].items())],
        [row[0] for row in parts[3]],
        [row[0] for row in parts[4]],
    )


class _Unrolled:
    """Cycle after cycle, as gates of which equal ones are one; what is asked about is clauses.

    A literal is twice a gate, plus 1 where it is inverted; gate 0 is false.
    """

    def __init__(self, gates: Aiger, anywhere: bool):
        self.gates, self.anywhere = gates, anywhere
        self.solver = Cadical153()
        self.solver.add_clause([-1])  # Gate 0: the solver knows gate n as variable n + 1.
        self._inputs: list[tuple[int, int] | None] = [None]
        """Of each gate; None: it has none."""
        self._known: dict[tuple[int, int], int] = {}
        self._encoded = {0}
        self._cycles: list[list[int]] = []
        """For each cycle, the literal of each variable of `gates`."""

    def _new(self, inputs: tuple[int, int] | None = None) -> int:
        self._inputs.append(inputs)
        return 2 * len(self._inputs) - 2

    def _and(self, one: int, other: int) -> int:
        one, other = min(one, other), max(one, other)
        if one == 0 or one ^ 1 == other:
            return 0
        if one in {1, other}:
            return other
        if (one, other) not in self._known:
            self._known[one, other] = self._new((one, other))
        return self._known[one, other]

    def literal(self, literal: int, cycle: int) -> int:
        """A literal of `gates` in `cycle`."""
        return self._cycles[cycle][literal >> 1] ^ literal & 1

    def extend(self) -> int:
        """Add a cycle; returns its number."""
        cycle = len(self._cycles)
        now = [-1] * (self.gates.variables + 1)
        now[0] = 0
        for latch, following, start in self.gates.latches:
            if cycle:
                now[latch >> 1] = self.literal(following, cycle - 1)
            else:
                known = not self.anywhere and start in {0, 1}
                now[latch >> 1] = start if known else self._new()
        for gate in self.gates.inputs:
            now[gate >> 1] = self._new()
        for gate, one, other in self.gates.ands:
            left, right = now[one >> 1], now[other >> 1]
            assert min(left, right) >= 0, "gates stand behind those that they need"
            now[gate >> 1] = self._and(left ^ one & 1, right ^ other & 1)
        self._cycles.append(now)
        for constraint in self.gates.constraints:
            self.add([self.literal(constraint, cycle)])
        return cycle

    def _encode(self, literal: int) -> int:
        """`literal` as the solver knows it, with clauses for all that it depends on."""
        left = [literal >> 1]
        while left:
            gate = left.pop()
            if gate not in self._encoded:
                self._encoded.add(gate)
                if inputs := self._inputs[gate]:
                    one, other = (_number(literal) for literal in inputs)
                    self.solver.add_clause([-gate - 1, one])
                    self.solver.add_clause([-gate - 1, other])
                    self.solver.add_clause([gate + 1, -one, -other])
                    left += [literal >> 1 for literal in inputs]
        return _number(literal)

    def add(self, literals: list[int]) -> None:
        """From now on, one of these literals (not of `gates`) is true."""
        self.solver.add_clause([self._encode(literal) for literal in literals])

    def possible(self, literals: list[int], cycle: int) -> list[int]:
        """Which of `literals` are true in `cycle` in some case; empty if none ever is."""
        numbers = [self._encode(self.literal(literal, cycle)) for literal in literals]
        one = _number(self._new())
        self.solver.add_clause([-one, *numbers])
        if not self.solver.solve(assumptions=[one]):
            return []
        model = self.solver.get_model()
        assert model is not None
        return [place for place, number in enumerate(numbers) if model[abs(number) - 1] == number]


def _number(literal: int) -> int:
    """As the solver knows it."""
    return -(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1


def refute(gates: Aiger, depth: int, places: list[str], anywhere: bool = False) -> str:
    """The first claim that is broken within `depth` cycles from reset; empty if none is.

    With `anywhere`, the one that may be broken after `depth` cycles in which none is.
    """
    unrolled = _Unrolled(gates, anywhere)
    claims = [*gates.wrong, *gates.bad]
    names = [*places, *["the unit's own assertion"] * len(gates.bad)]
    for _ in range(depth + anywhere):
        cycle = unrolled.extend()
        if not anywhere or cycle == depth:
            for number in unrolled.possible(claims, cycle):
                return f"{names[number]}: broken in cycle {cycle}{' of any' if anywhere else ''}"
        for claim in claims:
            unrolled.add([unrolled.literal(claim, cycle) ^ 1])
    return ""


def refute_anywhere(gates: Aiger, depth: int, places: list[str]) -> str:
    """The first claim that may be broken after `depth` cycles of any kind; empty if none is."""
    unrolled = _Unrolled(gates, anywhere=True)
    for _ in range(depth + 1):
        unrolled.extend()
    for claim, place in zip(gates.wrong, places, strict=True):
        if unrolled.possible([claim], depth):
            return f"{place}: broken after {depth} cycles"
        unrolled.add([unrolled.literal(claim, depth) ^ 1])  # What is proved may help later on.
    return ""


def unreached(gates: Aiger, depth: int) -> list[int]:
    """The numbers of the covers that cannot be reached within `depth` cycles."""
    unrolled, left = _Unrolled(gates, anywhere=False), dict(enumerate(gates.reached))
    for _ in range(depth):
        cycle = unrolled.extend()
        while left and (found := unrolled.possible(list(left.values()), cycle)):
            for number in [list(left)[place] for place in found]:
                del left[number]
    return list(left)
