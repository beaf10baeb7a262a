"""Bounded proofs and induction on And-Inverter graphs in the AIGER format."""

from dataclasses import dataclass
from pathlib import Path

from pysat.solvers import Cadical153

__all__ = ["Aiger", "read_aiger", "refute", "unreached"]


@dataclass(frozen=True)
class Aiger:
    """Gates and registers; a literal is twice a variable, plus 1 where it is inverted."""

    variables: int
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
        [(row[0], row[1], row[2] if len(row) > 2 else 0) for row in parts[1]],
        [(row[0], row[1], row[2]) for row in parts[5]],
        [literal for _, literal in sorted(named["wrong"].items())],
        [literal for _, literal in sorted(named["reached"].items())],
        [row[0] for row in parts[3]],
        [row[0] for row in parts[4]],
    )


_MOST_CYCLES = 64


class _Unrolled:
    """Cycle after cycle, as clauses."""

    def __init__(self, gates: Aiger, anywhere: bool):
        self.gates, self.anywhere = gates, anywhere
        self.solver = Cadical153()
        self.solver.add_clause([-1])  # Variable 1 is false.
        self.cycles = 0
        self.others, self.first_other = 0, 2 + _MOST_CYCLES * gates.variables

    def literal(self, literal: int, cycle: int) -> int:
        """A literal of `gates` in `cycle`, as the solver knows it."""
        variable = literal >> 1
        number = 2 + cycle * self.gates.variables + variable - 1 if variable else 1
        return -number if literal & 1 else number

    def extend(self) -> int:
        """Add a cycle; returns its number."""
        cycle, add = self.cycles, self.solver.add_clause
        for latch, following, start in self.gates.latches:
            now = self.literal(latch, cycle)
            if cycle:
                before = self.literal(following, cycle - 1)
                add([-now, before])
                add([now, -before])
            elif not self.anywhere and start in {0, 1}:
                add([now if start else -now])
        for gate, one, other in self.gates.ands:
            out = self.literal(gate, cycle)
            left, right = self.literal(one, cycle), self.literal(other, cycle)
            add([-out, left])
            add([-out, right])
            add([out, -left, -right])
        for constraint in self.gates.constraints:
            add([self.literal(constraint, cycle)])
        self.cycles += 1
        return cycle

    def possible(self, literals: list[int], cycle: int) -> list[int]:
        """Which of `literals` are true in `cycle` in some case; empty if none ever is."""
        self.others += 1
        one = self.first_other + self.others
        numbers = [self.literal(literal, cycle) for literal in literals]
        self.solver.add_clause([-one, *numbers])
        if not self.solver.solve(assumptions=[one]):
            return []
        model = self.solver.get_model()
        assert model is not None
        return [place for place, number in enumerate(numbers) if model[abs(number) - 1] == number]


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
            unrolled.solver.add_clause([-unrolled.literal(claim, cycle)])
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
