"""Proofs of queues: nothing is lost, nothing is made up, the order is kept."""

from typing import Final

from amaranth import Value

from celosia.hw.bus.window import ENTRIES, BeatWindow
from celosia.hw.lib.queue import Queue
from celosia.isa.presets import PRESETS
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof, submodule

DEPTH: Final = 4
TINY: Final = PRESETS["tiny"]


def queue(h: Harness) -> None:
    dut = Queue(4, DEPTH)
    module = dut.elaborate(None)
    entry = submodule(module, "memory").read_port(domain="comb")
    inner = h.inside(module, "dut")
    h.source(dut.i, "i")
    h.sink(dut.o, "o")
    leaves = dut.o.valid & dut.o.ready
    one = h.follow(dut.i.valid & dut.i.ready, dut.i.p, leaves, DEPTH)
    h.claim(dut.o.valid == (one.level != 0))
    h.claim(dut.i.ready == (one.level != DEPTH))
    h.claim(~(one.tracked & leaves & (one.ahead == 0)) | (dut.o.p == one.kept))
    # Invariants: the pointers are as far apart as there are elements, and those are in place.
    h.m.d.comb += entry.addr.eq(inner["taken"] + one.ahead)
    h.claim((inner["written"] - inner["taken"])[:3] == one.level)
    h.claim(~one.tracked | (entry.data == one.kept))


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
