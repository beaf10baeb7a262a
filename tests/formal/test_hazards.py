"""Proofs of the issue unit: operations in conflict keep their order, and something always moves."""

from typing import Any, Final

from amaranth import Cat, Mux, Signal, Value

from celosia.hw.frontend.decoder import Kind
from celosia.hw.issue.issue import Issue
from celosia.hw.issue.ranges import RowRange
from celosia.isa.config import AcceleratorConfig
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof

CONFIG: Final = AcceleratorConfig(
    dim=2,
    bus_bits=32,
    scratchpad_kib=1,
    scratchpad_banks=2,
    accumulator_kib=1,
    parameter_rows=8,
    load_queue=2,
    execute_queue=2,
    store_queue=2,
)
KINDS: Final = {"load": Kind.LOAD, "execute": Kind.EXECUTE, "store": Kind.STORE}
HULLS: Final = {"load": 1, "execute": 4, "store": 2}
LOW: Final = 3
"""Bits of a row number that are free: which rows meet is all that counts."""


class _Issue:
    """The unit, with controllers that end what they have started, in order, at any time."""

    def __init__(self, h: Harness):
        self.h = h
        self.dut = dut = Issue(CONFIG)
        h.m.submodules.dut = dut
        h.source(dut.i, "i")
        p = dut.i.p
        h.assume(Cat(p.kind == kind for kind in KINDS.values()).any())
        for number, rows in enumerate(p.ranges):
            h.assume((rows.first <= rows.last) & (rows.first[LOW:] == 0) & (rows.last[LOW:] == 0))
            for name, kind in KINDS.items():
                if number >= HULLS[name]:
                    h.assume((p.kind != kind) | ~rows.valid)
        h.m.d.comb += dut.paths_idle.eq(1)
        self.taken = dut.i.valid & dut.i.ready
        tag = h.count(self.taken, 6, "tags")
        h.assume(p.tag == tag)
        for name in KINDS:
            h.assume(p[name].tag == tag)
        self.starts, self.events, self.accepted = {}, {}, {}
        self.started: dict[str, Signal] = {}
        for name, kind in KINDS.items():
            port = getattr(dut, name)
            h.drive(port.ready, f"{name}_ready")
            self.starts[name] = port.valid & port.ready
            self.accepted[name] = h.count(self.taken & (p.kind == kind), 5, f"{name}_accepted")
            self.started[name] = h.count(self.starts[name], 5, f"{name}_started")
            h.claim(self.started[name] <= self.accepted[name])
        # What has happened, counted up to this cycle: the unit sees it in the next one.
        for event in ("load_done", "execute_reads", "execute_done", "store_reads"):
            happens = h.drive(dut.finished[event], event)
            self.events[event] = h.count(happens, 5, f"{event}_count")
            name = event.partition("_")[0]
            h.assume(~happens | (self.events[event] < self.started[name]))
        h.assume(
            ~dut.finished["execute_done"]
            | (self.events["execute_done"] < self.events["execute_reads"])
        )

    def remembered(self, name: str) -> "tuple[Signal, Any, list[Any], Signal]":
        """Any one operation: whether it came, its kind, its rows, its number in its queue."""
        h, p = self.h, self.dut.i.p
        mark, came = h.free(1, f"mark_{name}"), Signal(name=f"came_{name}")
        kind = Signal(3, name=f"kind_{name}")
        ranges = [Signal(RowRange(CONFIG), name=f"{name}_{n}") for n in range(4)]
        number = Signal(5, name=f"number_{name}")
        with h.m.If(self.taken & mark & ~came):
            h.m.d.sync += [came.eq(1), kind.eq(p.kind)]
            h.m.d.sync += [kept.eq(new) for kept, new in zip(ranges, p.ranges, strict=False)]
            for queue, value in KINDS.items():
                with h.m.If(p.kind == value):
                    h.m.d.sync += number.eq(self.accepted[queue])
        return came, kind, ranges, number


def _meet(one: Any, other: Any) -> Value:
    """Whether two ranges share a row, told row by row."""
    rows = range(1 << LOW)
    return (
        one.valid
        & other.valid
        & Cat(
            (one.first <= row) & (row <= one.last) & (other.first <= row) & (row <= other.last)
            for row in rows
        ).any()
    )


def _any(pairs: list[Value]) -> Value:
    return Cat(pairs).any()


def order(h: Harness) -> None:
    """Of two operations in conflict, the younger starts after what it must wait for."""
    unit = _Issue(h)
    a_came, a_kind, a, a_number = unit.remembered("a")
    b_came, b_kind, b, b_number = unit.remembered("b")
    h.m.d.comb += unit.dut.halt.eq(0)
    older = Signal()
    with h.m.If(a_came & ~b_came & ~h.past(b_came)):
        h.m.d.sync += older.eq(1)  # a came in an earlier cycle than b.
    both = a_came & b_came & older

    for queue, kind in KINDS.items():
        starts = unit.starts[queue] & (unit.started[queue] == b_number) & (b_kind == kind)
        b_writes = [] if queue == "store" else b[:1]
        b_reads = {"load": [], "execute": b[1:], "store": b[:2]}[queue]
        written = [(Kind.LOAD, "load_done"), (Kind.EXECUTE, "execute_done")]
        for a_is, event in written:
            conflict = [_meet(a[0], other) for other in b_reads]
            if a_is != kind:
                conflict += [_meet(a[0], other) for other in b_writes]
            if a_is == kind == Kind.LOAD:
                continue  # One after the other, by their controller.
            needed = both & starts & (a_kind == a_is) & _any(conflict)
            h.claim(~needed | (unit.events[event] > a_number))
            if conflict:
                h.reach(needed)
        for a_is, event, reads in (
            (Kind.EXECUTE, "execute_reads", a[1:]),
            (Kind.STORE, "store_reads", a[:2]),
        ):
            if a_is == kind or not b_writes:
                continue
            conflict = [_meet(one, b_writes[0]) for one in reads]
            needed = both & starts & (a_kind == a_is) & _any(conflict)
            h.claim(~needed | (unit.events[event] > a_number))
            h.reach(needed)


def progress(h: Harness) -> None:
    """When all that started has ended and the paths take what they get, something starts soon."""
    unit = _Issue(h)
    dut = unit.dut
    h.m.d.comb += dut.halt.eq(0)
    ended = Cat(
        unit.events[event] == unit.started[event.partition("_")[0]] for event in unit.events
    ).all()
    ready = Cat(getattr(dut, name).ready for name in KINDS).all()
    waiting = Cat(unit.accepted[name] != unit.started[name] for name in KINDS).any()
    moves = Cat(unit.starts.values()).any()
    quiet = Signal(4)
    h.m.d.sync += quiet.eq(Mux(ended & ready & (waiting | dut.i.valid) & ~moves, quiet + 1, 0))
    h.claim(quiet < 6)
    h.reach(quiet == 3)
    h.reach(Cat(unit.started[name] > 1 for name in KINDS).all())


_PROOFS: Final = (
    Proof(
        order,
        10,
        Planted(
            "celosia.hw.issue.hazards",
            "age = Mux(turned[places], places, age)",
            "age = Mux(turned[places] & (places != 1), places, age)",
        ),
    ),
    Proof(
        progress,
        14,
        Planted(
            "celosia.hw.issue.hazards",
            "return (tail - age)[:POSITION_BITS]",
            "return (tail - age + 1)[:POSITION_BITS]",
        ),
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed = proof_tests(_PROOFS)
