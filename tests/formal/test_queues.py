"""Proofs of queues: nothing is lost, nothing is made up, the order is kept."""

from typing import Final

from amaranth import Value
from amaranth.lib import data

from celosia.hw.bus.window import ENTRIES, BeatWindow
from celosia.hw.lib.early_queue import EarlyQueue
from celosia.hw.lib.queue import Queue
from celosia.isa.presets import PRESETS
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof, submodule

DEPTH: Final = 4
TINY: Final = PRESETS["tiny"]


def queue(h: Harness) -> None:
    _queue(h, clocked=False)


def clocked_queue(h: Harness) -> None:
    _queue(h, clocked=True)


def _queue(h: Harness, clocked: bool) -> None:
    dut = Queue(4, DEPTH, clocked)
    module = dut.elaborate(None)
    entry = submodule(module, "memory").read_port(domain="comb")
    inner = h.inside(module, "dut")
    h.source(dut.i, "i")
    h.sink(dut.o, "o")
    leaves = dut.o.valid & dut.o.ready
    one = h.follow(dut.i.valid & dut.i.ready, dut.i.p, leaves, DEPTH)
    h.claim(dut.o.valid == (one.level != 0))
    h.claim(dut.i.ready == (one.level != DEPTH))
    h.claim(~(one.tracked & dut.o.valid & (one.ahead == 0)) | (dut.o.p == one.kept))
    # Invariants: the pointers are as far apart as there are elements, and those are in place.
    h.m.d.comb += entry.addr.eq(inner["taken"] + one.ahead)
    h.claim((inner["written"] - inner["taken"])[:3] == one.level)
    h.claim(~one.tracked | (entry.data == one.kept))


def early_queue(h: Harness) -> None:
    dut = EarlyQueue(data.StructLayout({"bank": 2, "rest": 2}), ("bank",), DEPTH + 1)
    module = dut.elaborate(None)
    kept_in = [submodule(module, name) for name in ("early", "storage")]
    entries = [memory.read_port(domain="comb") for memory in kept_in]
    inner = h.inside(module, "dut")
    h.source(dut.i, "i")
    h.sink(dut.o, "o")
    leaves = dut.o.valid & dut.o.ready
    one = h.follow(dut.i.valid & dut.i.ready, dut.i.p, leaves, DEPTH + 1)
    on_offer = one.tracked & dut.o.valid & (one.ahead == 0)
    h.claim(~on_offer | (dut.o.p.as_value() == one.kept))
    # Invariants: one entry may be on offer, the others are in place, in both memories.
    h.claim(inner["level"] + dut.o.valid == one.level)
    h.claim(dut.i.ready == (inner["level"] != DEPTH))
    h.claim(dut.held == (one.level != 0))
    h.claim((inner["written"] - inner["read"])[:2] == inner["level"][:2])
    for entry, part in zip(entries, (one.kept[:2], one.kept[2:]), strict=True):
        h.m.d.comb += entry.addr.eq(inner["read"] + one.ahead - dut.o.valid)
        h.claim(~one.tracked | on_offer | (entry.data == part))


def window(h: Harness) -> None:
    dut = BeatWindow(TINY)
    inner = h.inside(dut, "dut")
    h.source(dut.beats, "beats")
    h.drive(dut.take, "take")
    h.assume(~dut.take | dut.head_valid)
    one = h.follow(dut.beats.valid & dut.beats.ready, dut.beats.p, dut.take, ENTRIES)
    h.claim(dut.head_valid == (one.level > 0))
    h.claim(dut.second_valid == (one.level > 1))
    h.claim(dut.beats.ready == (one.level < ENTRIES))
    for place, seen in enumerate((dut.head, dut.second)):
        h.claim(~(one.tracked & (one.ahead == place)) | (Value.cast(seen) == one.kept))
    for place in range(ENTRIES):
        h.claim(inner[f"valid_{place}"] == (one.level > place))
        there = one.tracked & (one.ahead == place)
        h.claim(~there | (inner[f"entry_{place}_0"] == one.kept))


_PROOFS: Final = (
    Proof(
        queue,
        6,
        Planted(
            "celosia.hw.lib.queue",
            "self.i.ready.eq((written ^ taken) != self.depth)",
            "self.i.ready.eq(1)",
        ),
        induction=True,
    ),
    Proof(
        clocked_queue,
        6,
        Planted(
            "celosia.hw.lib.queue",
            "comes.eq(accepts & (written == oldest))",
            "comes.eq(accepts & (written == taken))",
        ),
        induction=True,
    ),
    Proof(
        early_queue,
        6,
        Planted(
            "celosia.hw.lib.early_queue",
            "loads.eq((level != 0) & (~self.o.valid | self.o.ready))",
            "loads.eq((level != 0) & self.i.ready)",
        ),
        induction=True,
    ),
    Proof(
        window,
        5,
        Planted(
            "celosia.hw.bus.window",
            "Mux(self.take, valid[index] & ~behind, before & ~valid[index])",
            "(before & ~valid[index])",
        ),
        induction=True,
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed, test_its_fault_has_a_place = proof_tests(
    _PROOFS
)
