"""Proofs of gears: the bytes that come out are those that went in, in order, in every alignment."""

from typing import Final

from amaranth import Cat, Mux, Signal

from celosia.hw.host.ring_gear import ENTRY_WORDS, RingGear
from celosia.hw.store.gear import Gear
from celosia.isa.encoding import FUNCT_BITS, RING_ENTRY, WORD_BITS
from celosia.isa.presets import PRESETS
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof

TINY: Final = PRESETS["tiny"]


def gear_joins(h: Harness) -> None:
    """Two words make a chunk; the last word of a row ends one."""
    config = TINY.with_values({"dim": 2})
    dut = Gear(config)
    inner = h.inside(dut, "dut")
    h.source(dut.words, "words")
    h.drive(dut.finish, "finish")
    h.sink(dut.chunks, "chunks")
    word, bits = dut.words.p, 8 * config.dim
    held, kept = Signal(), Signal(bits)
    takes = dut.words.valid & dut.words.ready
    gives = dut.chunks.valid & dut.chunks.ready
    with h.m.If(takes):
        h.m.d.sync += [held.eq(~gives), kept.eq(word.data)]
    h.claim((inner["slot"] == held) & (~held | (inner["slot_0"] == kept)))
    h.claim(dut.chunks.valid == (dut.words.valid & (held | word.last)))
    h.claim(~gives | takes)
    h.claim(~takes | gives | ~(held | word.last))
    with h.m.If(dut.chunks.valid):
        h.claim(dut.chunks.p[:bits] == Mux(held, kept, word.data))
        h.claim(~held | (dut.chunks.p[bits:] == word.data))
        h.reach(held & word.last)


def gear_cuts(h: Harness) -> None:
    """A word leaves in two chunks, the lower one first; a row may end with the first of them."""
    dut = Gear(TINY.with_values({"dim": 8}))
    inner = h.inside(dut, "dut")
    h.source(dut.words, "words")
    h.drive(dut.finish, "finish")
    h.drive(dut.chunks.ready, "chunks_ready")
    part = Signal()
    takes = dut.words.valid & dut.words.ready
    gives = dut.chunks.valid & dut.chunks.ready
    h.assume(~dut.finish | gives | (part == 1))
    h.assume(~dut.finish | dut.words.valid)
    h.m.d.sync += part.eq(Mux(dut.finish, 0, part ^ gives))
    h.claim((inner["part"] == part) & (dut.chunks.valid == dut.words.valid))
    h.claim(~gives | (dut.chunks.p == dut.words.p.data.word_select(part, 32)))
    h.claim(takes == (dut.words.valid & (dut.finish | (gives & part))))
    h.reach(takes & dut.finish & ~part)


def _ring(h: Harness, bus_bits: int) -> None:
    config = TINY.with_values({"bus_bits": bus_bits})
    dut = RingGear(config)
    h.m.submodules.dut = dut
    h.source(dut.runs, "runs")
    h.source(dut.beats, "beats")
    h.sink(dut.commands, "commands")
    run = dut.runs.p
    h.assume((run.entries != 0) & (run.entries <= 2) & (run.address[:3] == 0))
    h.assume(run.address[8:] == 0)
    h.assume(~dut.beats.p.bad)
    words = max(bus_bits // WORD_BITS, 1)  # Of a beat.
    beats = max(WORD_BITS // bus_bits, 1)  # Of a word.

    # Which words of 64 bits the run holds, counted from the first beat of all.
    base, first, entry = Signal(6), Signal(6), Signal(2)
    entries, address, active = Signal(2), Signal(9), Signal()
    begins = dut.runs.valid & dut.runs.ready
    taken = dut.commands.valid & dut.commands.ready
    skipped = (run.address[3:6] % words) if words > 1 else 0
    size = skipped + ENTRY_WORDS * run.entries[:2]
    with h.m.If(begins):
        h.m.d.sync += [
            first.eq(base + skipped),
            base.eq(base + (size + words - 1) // words * words),
            entry.eq(0),
            entries.eq(run.entries),
            address.eq(run.address),
            active.eq(1),
        ]
    with h.m.Elif(taken):
        h.m.d.sync += [entry.eq(entry + 1), active.eq(entry + 1 != entries)]
    h.claim(~begins | ~active)
    h.claim(~dut.commands.valid | active)
    h.claim(~active | (dut.address[:9] == (address + RING_ENTRY.size * entry)[:9]))

    # One beat, any of them.
    number = h.constant(5, "number")
    arrived = h.count(dut.beats.valid & dut.beats.ready, 6, "arrived")
    now = dut.beats.valid & (arrived == number)
    kept = Signal(bus_bits)
    with h.m.If(now & dut.beats.ready):
        h.m.d.sync += kept.eq(dut.beats.p.data)
    seen = Mux(now, dut.beats.p.data, kept)
    got = Cat(dut.commands.p.funct, dut.commands.p.rs1, dut.commands.p.rs2)
    with h.m.If(dut.commands.valid):
        place = first + ENTRY_WORDS * entry
        for index in range(ENTRY_WORDS):
            for part in range(words * beats):
                if words > 1:
                    here = place + index == number * words + part
                    found = seen.word_select(part, WORD_BITS)
                else:
                    here = (place + index) * beats + part == number
                    found = seen
                wide = min(bus_bits, WORD_BITS)
                low = index * WORD_BITS + (part * wide if words == 1 else 0)
                if low == 0:
                    h.claim(~here | (got[:FUNCT_BITS] == found[:FUNCT_BITS]))
                elif index:
                    low -= WORD_BITS - FUNCT_BITS
                    h.claim(~here | (got[low : low + wide] == found[:wide]))
    h.reach(taken & (entry == 1) & (number == 2))
    h.reach(begins & (arrived > 2))


def ring_gear_32(h: Harness) -> None:
    """Six beats to an entry."""
    _ring(h, 32)


def ring_gear_128(h: Harness) -> None:
    """Two words to a beat: entries straddle."""
    _ring(h, 128)


_PROOFS: Final = (
    Proof(
        gear_joins,
        3,
        Planted("celosia.hw.store.gear", "word.last | (slot == slots - 1)", "(slot == slots - 1)"),
        induction=True,
    ),
    Proof(
        gear_cuts,
        3,
        Planted("celosia.hw.store.gear", "part.eq(0)", "part.eq(part + 1)"),
        induction=True,
    ),
    Proof(
        ring_gear_32,
        16,
        Planted(
            "celosia.hw.host.ring_gear",
            "with m.Elif(taken):\n            m.d.sync += index.eq(0)",
            "with m.Elif(taken):\n            m.d.sync += index.eq(1)",
        ),
    ),
    Proof(
        ring_gear_128,
        8,
        Planted(
            "celosia.hw.host.ring_gear",
            "m.d.sync += word.eq(Mux(end > words, words, 0))",
            "m.d.sync += word.eq(0)",
        ),
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed, test_its_fault_has_a_place = proof_tests(
    _PROOFS
)
