"""Proofs of the issue unit: operations in conflict keep their order, and something always moves."""

from dataclasses import replace
from typing import Any, Final

from amaranth import Cat, Mux, Signal, Value

from celosia.hw.decode.decoder import Kind, hull_count
from celosia.hw.decode.ranges import RowRange
from celosia.hw.issue.issue import Finished, Issue
from celosia.hw.issue.queues import Memories, queues
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
NORMALIZING: Final = replace(CONFIG, normalization=True, statistics_rows=16, transform_queue=2)
KINDS: Final = {kind.name.lower(): kind for kind in (Kind.LOAD, Kind.EXECUTE, Kind.STORE)}
WRITTEN: Final = {"load": (0,), "execute": (0,), "transform": (0, 1)}
"""Ranges of an operation, until its `done`."""
READ: Final = {"execute": (1, 2, 3), "store": (0, 1), "transform": (2, 3)}
"""Until its `reads`."""
READ_LATE: Final = {"transform": (4, 5)}
"""Until its `done`."""
LOW: Final = 3
"""Bits of a row number that are free: which rows meet is all that counts.  The next bit is 1 for
rows of the scratchpad and the accumulator, whose numbers are behind those of parameters."""


class _Issue:
    """The unit, with controllers that end what they have started, in order, at any time."""

    def __init__(self, h: Harness, config: AcceleratorConfig = CONFIG):
        self.h, self.config = h, config
        self.dut = dut = Issue(config)
        self.kinds = KINDS | ({"transform": Kind.TRANSFORM} if config.normalization else {})
        h.m.submodules.dut = dut
        h.source(dut.i, "i")
        p = dut.i.p
        h.assume(Cat(p.kind == kind for kind in self.kinds.values()).any())
        for number, rows in enumerate(p.ranges):
            h.assume((rows.first <= rows.last) & (rows.first[LOW:] == rows.last[LOW:]))
            h.assume(rows.first[LOW + 1 :] == 0)
            for queue in queues(config):
                for memory in (Memories.PARAMETERS, Memories.ROWS):
                    if number < queue.hulls and queue.memories[number] == memory:
                        is_there = rows.first[LOW] == (memory == Memories.ROWS)
                        h.assume((p.kind != queue.kind) | is_there)
            for name, kind in self.kinds.items():
                if number not in _named(name):
                    h.assume((p.kind != kind) | ~rows.valid)
        h.m.d.comb += dut.paths_idle.eq(1)
        self.taken = dut.i.valid & dut.i.ready
        tag = h.count(self.taken, 6, "tags")
        h.assume(p.tag == tag)
        for name in self.kinds:
            h.assume(p[name].tag == tag)
        self.starts, self.events, self.accepted = {}, {}, {}
        self.started: dict[str, Signal] = {}
        for name, kind in self.kinds.items():
            port = getattr(dut, name)
            h.drive(port.ready, f"{name}_ready")
            self.starts[name] = port.valid & port.ready
            self.accepted[name] = h.count(self.taken & (p.kind == kind), 5, f"{name}_accepted")
            self.started[name] = h.count(self.starts[name], 5, f"{name}_started")
            h.claim(self.started[name] <= self.accepted[name])
        # What has happened, counted up to this cycle: the unit sees it in the next one.
        for event in Finished(config).members:
            happens = h.drive(dut.finished[event], event)
            self.events[event] = h.count(happens, 5, f"{event}_count")
            h.assume(~happens | (self.events[event] < self.started[event.partition("_")[0]]))
        # All that an operation reads was read before its end.
        for name in sorted(self.kinds.keys() & READ.keys() & WRITTEN.keys()):
            reads, done = (f"{name}_{what}" for what in ("reads", "done"))
            h.assume(~dut.finished[done] | (self.events[done] < self.events[reads]))

    def remembered(self, name: str) -> "tuple[Signal, Any, list[Any], Signal]":
        """Any one operation: whether it came, its kind, its rows, its number in its queue."""
        h, p = self.h, self.dut.i.p
        mark, came = h.free(1, f"mark_{name}"), Signal(name=f"came_{name}")
        kind = Signal(3, name=f"kind_{name}")
        hulls = range(hull_count(self.config))
        ranges = [Signal(RowRange(self.config), name=f"{name}_{n}") for n in hulls]
        number = Signal(5, name=f"number_{name}")
        with h.m.If(self.taken & mark & ~came):
            h.m.d.sync += [came.eq(1), kind.eq(p.kind)]
            h.m.d.sync += [kept.eq(new) for kept, new in zip(ranges, p.ranges, strict=True)]
            for queue, value in self.kinds.items():
                with h.m.If(p.kind == value):
                    h.m.d.sync += number.eq(self.accepted[queue])
        return came, kind, ranges, number


def _named(queue: str) -> tuple[int, ...]:
    """The ranges that an operation of `queue` may name."""
    return tuple(number for uses in (WRITTEN, READ, READ_LATE) for number in uses.get(queue, ()))


def _meet(one: Any, other: Any) -> Value:
    """Whether two ranges share a row, told row by row."""
    rows = range(2 << LOW)
    return (
        one.valid
        & other.valid
        & Cat(
            (one.first <= row) & (row <= one.last) & (other.first <= row) & (row <= other.last)
            for row in rows
        ).any()
    )


def order(h: Harness) -> None:
    """Of two operations in conflict, the younger starts after what it must wait for."""
    unit = _Issue(h)
    _order(unit, [(older, younger) for older in unit.kinds for younger in unit.kinds])


def order_transform(h: Harness) -> None:
    """The same, where one of the two is a TRANSFORM."""
    unit = _Issue(h, NORMALIZING)
    behind = [("transform", younger) for younger in unit.kinds]
    _order(unit, [*behind, *((older, "transform") for older in KINDS)])


def _order(unit: _Issue, pairs: list[tuple[str, str]]) -> None:
    h, kinds = unit.h, unit.kinds
    a_came, a_kind, a, a_number = unit.remembered("a")
    b_came, b_kind, b, b_number = unit.remembered("b")
    h.m.d.comb += unit.dut.halt.eq(0)
    older = Signal()
    with h.m.If(a_came & ~b_came & ~h.past(b_came)):
        h.m.d.sync += older.eq(1)  # a came in an earlier cycle than b.
    both = a_came & b_came & older
    for first, second in pairs:
        starts = unit.starts[second] & (unit.started[second] == b_number)
        here = both & starts & (a_kind == kinds[first]) & (b_kind == kinds[second])
        for event, conflicts in _conflicts(first, second).items():
            needed = here & Cat(_meet(a[one], b[other]) for one, other in conflicts).any()
            h.claim(~needed | (unit.events[event] > a_number))
            h.reach(needed)


def _conflicts(first: str, second: str) -> dict[str, list[tuple[int, int]]]:
    """Which ranges of two operations must not meet before an event of the first one."""
    reads = READ.get(second, ()) + READ_LATE.get(second, ())
    writes, written = WRITTEN.get(second, ()), WRITTEN.get(first, ())
    done = [(one, other) for one in written for other in reads]
    before: list[tuple[int, int]] = []
    if first != second:
        done += [(one, other) for one in written for other in writes]
        done += [(one, other) for one in READ_LATE.get(first, ()) for other in writes]
        before = [(one, other) for one in READ.get(first, ()) for other in writes]
    else:  # In order, but a first result and a second one.
        done += [(one, other) for one in written for other in writes if one != other]
    pairs = {f"{first}_done": done, f"{first}_reads": before}
    return {event: conflicts for event, conflicts in pairs.items() if conflicts}


def progress(h: Harness) -> None:
    """When all that started has ended and the paths take what they get, something starts soon."""
    unit = _Issue(h, NORMALIZING)
    dut = unit.dut
    h.m.d.comb += dut.halt.eq(0)
    ended = Cat(
        unit.events[event] == unit.started[event.partition("_")[0]] for event in unit.events
    ).all()
    ready = Cat(getattr(dut, name).ready for name in unit.kinds).all()
    waiting = Cat(unit.accepted[name] != unit.started[name] for name in unit.kinds).any()
    moves = Cat(unit.starts.values()).any()
    quiet = Signal(4)
    h.m.d.sync += quiet.eq(Mux(ended & ready & (waiting | dut.i.valid) & ~moves, quiet + 1, 0))
    h.claim(quiet < 6)
    h.reach(quiet == 3)
    h.reach(Cat(unit.started[name] > 1 for name in unit.kinds).all())


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
        order_transform,
        10,
        Planted(
            "celosia.hw.issue.hazards",
            "range(queue.hulls - queue.late, queue.hulls)",
            "range(queue.hulls, queue.hulls)",
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

test_it_is_proved, test_a_planted_fault_is_noticed, test_its_fault_has_a_place = proof_tests(
    _PROOFS
)
