"""Proofs of the memory port and the register port: AXI's rules, limits, strobes, fairness."""

from typing import Any, Final

from amaranth import Cat, Mux, Signal, Value

from celosia.hw.bus.bursts import BurstSplitter
from celosia.hw.bus.read_arbiter import ReadArbiter
from celosia.hw.host.axi_lite import AxiLiteSlave
from celosia.hw.load.reader import Reader
from celosia.hw.store.writer import Writer
from celosia.isa.config import MAX_REQUEST_BYTES
from celosia.isa.presets import PRESETS
from celosia.isa.registers.map import BusId
from tests.formal.running import proof_tests
from tests.support.prover import Harness, Planted, Proof

CONFIG: Final = PRESETS["tiny"].with_values({"read_requests": 2, "write_requests": 2})
BUS: Final = CONFIG.bus_bytes
_LOW: Final = 13
PAGE_BYTES: Final = 4096
"""AXI4's (A3.4.1); not the unit's own constant."""
PAGE_BITS: Final = (PAGE_BYTES - 1).bit_length()


def _taken(port: Any) -> Value:
    return port.valid & port.ready


def read_arbiter(h: Harness) -> None:
    """Nobody is lost, misdirected or starved; an address on offer stands."""
    dut = ReadArbiter(CONFIG)
    inner = h.inside(dut, "dut")
    h.source(dut.load.ar, "load")
    h.source(dut.ring.ar, "ring")
    h.drive(dut.urgent, "urgent")
    h.sink(dut.memory.ar, "memory")
    h.source(dut.memory.r, "beats")
    h.assume((dut.memory.r.p.id == BusId.DATA) | (dut.memory.r.p.id == BusId.RING))
    h.drive(dut.load.r.ready, "load_r_ready")
    h.m.d.comb += dut.ring.r.ready.eq(1)

    ar, load, ring = dut.memory.ar, dut.load.ar, dut.ring.ar
    h.claim(ar.valid == (load.valid | ring.valid))
    h.claim(_taken(ar) == (_taken(load) ^ _taken(ring)))
    h.claim(~(_taken(load) & _taken(ring)))
    for port, identity in ((load, BusId.DATA), (ring, BusId.RING)):
        same = (ar.p.id == identity) & (Value.cast(ar.p.request) == Value.cast(port.p))
        h.claim(~_taken(port) | same)
    r = dut.memory.r
    for port, identity in ((dut.load.r, BusId.DATA), (dut.ring.r, BusId.RING)):
        h.claim(_taken(port) == (_taken(r) & (r.p.id == identity)))
        h.claim(~port.valid | (Value.cast(port.p) == Value.cast(r.p.beat)))

    # Fairness: whoever has the right of way waits for at most one address of the other's.
    for waits, other, name in (
        (ring.valid & dut.urgent & ~_taken(ring), _taken(load), "load"),
        (load.valid & ~dut.urgent & ~_taken(load), _taken(ring), "ring"),
    ):
        passed = Signal(2, name=f"{name}_passed")
        h.m.d.sync += passed.eq(Mux(waits, passed + other, 0))
        h.claim(passed <= 1)
        h.claim(~(waits & other & (passed != 0)))
        h.reach(passed == 1)
        h.claim((passed == 0) | ~inner[f"{name}_held"])
    for name, identity in (("load", BusId.DATA), ("ring", BusId.RING)):  # Invariants.
        held = inner[f"{name}_held"]
        h.claim(held == h.past(ar.valid & ~ar.ready & _is(ar, identity)))


def _is(ar: Any, identity: BusId) -> Value:
    return ar.p.id == identity


def _permitted(address: Value, count: Value, limits: Any) -> Value:
    """The rule itself, with a carry that is not lost."""
    return (address >= limits.base) & ((address + count - 1) <= limits.limit)


def splitter(h: Harness) -> None:
    """Bursts are a segment's bytes in order, none crosses a page, and `permitted` is right."""
    dut = BurstSplitter(CONFIG)
    inner = h.inside(dut, "dut")
    h.source(dut.segments, "segments")
    limits = h.constant(dut.limits.shape(), "limits")
    h.m.d.comb += dut.limits.eq(limits)
    h.drive(dut.bursts.ready, "bursts_ready")
    h.offers_stand(dut.bursts, claim=True)
    segment, burst, most = dut.segments.p, dut.bursts.p, CONFIG.accumulator_row_bytes
    h.assume((segment.bytes != 0) & (segment.bytes <= max(MAX_REQUEST_BYTES, most)))

    address, left = Signal(65), Signal.like(segment.bytes)  # What is still to come.
    active = Signal()
    with h.m.If(_taken(dut.bursts)):
        h.m.d.sync += [address.eq(address + burst.bytes), left.eq(left - burst.bytes)]
        h.m.d.sync += active.eq(~burst.last)
    with h.m.If(_taken(dut.segments)):
        h.m.d.sync += [address.eq(segment.address), left.eq(segment.bytes), active.eq(1)]
    h.claim(dut.bursts.valid == active)
    last = address + burst.bytes - 1
    with h.m.If(active):
        h.claim(burst.address == address[:64])
        h.claim((burst.bytes != 0) & (burst.bytes <= left) & (burst.bytes <= MAX_REQUEST_BYTES))
        h.claim(burst.last == (burst.bytes == left))
        h.claim(address[PAGE_BITS:] == last[PAGE_BITS:])
        beats = ((address[:PAGE_BITS] % BUS) + burst.bytes + BUS - 1) // BUS
        h.claim(burst.beats_minus_1 == beats - 1)
        h.claim(burst.permitted == _permitted(address, burst.bytes, limits))
        h.reach(burst.permitted & burst.last & ~burst.first)
        # Invariants.
        h.claim((left != 0) & (inner["left"] == left) & (inner["address"] == address[:64]))
        h.claim(inner["wrapped"] == address[64])
        h.claim((inner["chunk"] != 0) & (inner["chunk"] <= left))
        h.claim(inner["final"] == (inner["chunk"] == left))
        h.claim((inner["chunk"] == left) | (inner["chunk"] == MAX_REQUEST_BYTES) | ~burst.first)
        h.claim((inner["chunk"] <= MAX_REQUEST_BYTES) & (left <= max(MAX_REQUEST_BYTES, most)))
        h.claim(address + left < (1 << 64) + MAX_REQUEST_BYTES)
    h.claim(~_taken(dut.segments) | ~active | (_taken(dut.bursts) & burst.last))


def _master_address(h: Harness, port: Any, limits: Any, bytes_sent: Value | None) -> None:
    """What every address of a master keeps: the limits, a page, the length."""
    beats = port.p.beats_minus_1
    first = port.p.address
    end = (first[:PAGE_BITS] // BUS) + beats
    with h.m.If(port.valid):
        h.claim((first >= limits.base) & (first <= limits.limit))
        h.claim(end < PAGE_BYTES // BUS)
        h.claim(beats <= MAX_REQUEST_BYTES // BUS)
        last_beat = (first[PAGE_BITS:] << PAGE_BITS) + end * BUS  # Some of its bytes are meant.
        h.claim(last_beat <= limits.limit)
        if bytes_sent is not None:
            h.claim(~port.ready | (first + bytes_sent - 1 <= limits.limit))


def writer(h: Harness) -> None:
    """AXI's rules of AW and W; every strobe is a byte of its burst, within the limits."""
    dut = Writer(CONFIG)
    h.m.submodules.dut = dut
    h.source(dut.segments, "segments")
    h.source(dut.words, "words")
    limits = h.constant(dut.limits.shape(), "limits")
    h.m.d.comb += [dut.limits.eq(limits)]
    h.drive(dut.halt, "halt")
    aw, w, b = dut.port.aw, dut.port.w, dut.port.b
    h.sink(aw, "aw")
    h.sink(w, "w")
    h.drive(b.valid, "b_valid")
    h.drive(b.p, "b_response")
    segment = dut.segments.p
    h.assume((segment.bytes != 0) & (segment.bytes <= 10))
    # High bits are the splitter's, which is proved with all of them.
    h.assume((segment.address[_LOW:] == 0) & (limits.base[_LOW:] == 0) & (limits.limit[_LOW:] == 0))

    addresses = h.count(_taken(aw), 5, "addresses")
    ends = h.count(_taken(w) & w.p.last, 5, "ends")
    answers = h.count(b.valid, 5, "answers")
    h.assume(~b.valid | ((answers < ends) & (answers < addresses)))
    _master_address(h, aw, limits, dut.write_bytes)
    h.claim(b.ready)
    h.claim(~w.valid | (ends < addresses + aw.valid))  # No data before its address is on offer.
    h.claim((addresses - answers)[:5] <= CONFIG.write_requests)

    # One burst, any of them: its beats and their strobes.
    number = h.constant(3, "number")
    offered = aw.valid & (addresses == number)
    seen, kept = Signal(), Signal.like(Value.cast(aw.p), name="kept_request")
    request: Any = Signal(aw.p.shape(), name="request")
    with h.m.If(offered):
        h.m.d.sync += [seen.eq(1), kept.eq(Value.cast(aw.p))]
    h.m.d.comb += Value.cast(request).eq(Mux(offered, Value.cast(aw.p), kept))
    beat = Signal(8)
    with h.m.If(w.valid & (ends == number)):
        h.claim(seen | offered)
        h.claim(w.p.last == (beat == request.beats_minus_1))
        with h.m.If(w.ready):
            h.m.d.sync += beat.eq(beat + 1)
        word = (request.address // BUS + beat) * BUS
        for lane in range(BUS):
            with h.m.If(w.p.strobe[lane]):
                h.claim((word + lane >= request.address) & (word + lane <= limits.limit))
        h.claim(w.p.strobe != 0)
        h.reach(w.ready & w.p.last & (beat == 2) & ~w.p.strobe[3])


def strobes(h: Harness) -> None:
    """A store is done when each byte of its segment was strobed once."""
    dut = Writer(CONFIG)
    h.m.submodules.dut = dut
    h.source(dut.segments, "segments")
    h.source(dut.words, "words")
    h.m.d.comb += dut.limits.limit.eq((1 << 64) - 1)
    aw, w, b = dut.port.aw, dut.port.w, dut.port.b
    h.drive(aw.ready, "aw_ready")
    h.drive(w.ready, "w_ready")
    h.drive(b.valid, "b_valid")
    segment = dut.segments.p
    one = h.count(_taken(dut.segments), 2, "segments_taken")
    h.assume((segment.bytes != 0) & (segment.bytes <= 6) & segment.last)
    h.assume(segment.address[_LOW:] == 0)
    h.assume(~dut.segments.valid | (one == 0))
    size = Signal.like(segment.bytes)
    with h.m.If(_taken(dut.segments)):
        h.m.d.sync += size.eq(segment.bytes)
    words = h.count(_taken(dut.words), 3, "words_taken")
    needed = (size + CONFIG.dim - 1) // CONFIG.dim
    h.assume(~dut.words.valid | ((one != 0) & (words < needed)))
    h.assume(dut.words.p.last == (words == needed - 1))
    addresses = h.count(_taken(aw), 4, "addresses")
    ends = h.count(_taken(w) & w.p.last, 4, "ends")
    answers = h.count(b.valid, 4, "answers")
    h.assume(~b.valid | ((answers < ends) & (answers < addresses)))

    strobed = Signal(8)
    with h.m.If(_taken(w)):
        h.m.d.sync += strobed.eq(strobed + sum(w.p.strobe))
    h.claim(strobed <= size)
    h.claim(~dut.done | (strobed == size))
    h.reach(dut.done & (size == 6))
    # The bytes: byte n of the segment is byte n of its words.
    place = h.constant(4, "place")
    h.assume(place < 6)
    byte = Signal(8)
    with h.m.If(_taken(dut.words) & (words == place // CONFIG.dim)):
        h.m.d.sync += byte.eq(dut.words.p.data.word_select(place % CONFIG.dim, 8))
    start = Signal(64)
    beats = h.count(_taken(w), 4, "beats")
    with h.m.If(_taken(dut.segments)):
        h.m.d.sync += start.eq(segment.address)
    # The n-th beat that leaves; where a page ends inside, the burst goes on with the next beat.
    for lane in range(BUS):
        index = (beats * BUS + lane - start % BUS)[:5]
        with h.m.If(w.valid & w.p.strobe[lane] & (index == place)):
            h.claim(w.p.data.word_select(lane, 8) == byte)


def reader(h: Harness) -> None:
    """AXI's rules of AR; nothing is read beyond the limits, nor after an error."""
    dut = Reader(CONFIG)
    h.m.submodules.dut = dut
    h.source(dut.segments, "segments")
    limits = h.constant(dut.limits.shape(), "limits")
    h.m.d.comb += dut.limits.eq(limits)
    h.drive(dut.stop, "stop")
    ar, r = dut.port.ar, dut.port.r
    h.sink(ar, "ar")
    h.source(r, "r")
    h.sink(dut.runs, "runs")
    h.drive(dut.beats.ready, "beats_ready")
    segment = dut.segments.p
    h.assume((segment.bytes != 0) & (segment.bytes <= 10))
    # High bits are the splitter's, which is proved with all of them.
    h.assume((segment.address[_LOW:] == 0) & (limits.base[_LOW:] == 0) & (limits.limit[_LOW:] == 0))

    # A memory that answers what it was asked, with the right number of beats.
    addresses = h.count(_taken(ar), 5, "addresses")
    ends = h.count(_taken(r) & r.p.last, 5, "ends")
    lengths = [Signal(8, name=f"length_{n}") for n in range(2)]
    for n, length in enumerate(lengths):
        with h.m.If(_taken(ar) & (addresses[0] == n)):
            h.m.d.sync += length.eq(ar.p.beats_minus_1)
    beat = Signal(8)
    with h.m.If(_taken(r)):
        h.m.d.sync += beat.eq(Mux(r.p.last, 0, beat + 1))
    h.assume(~r.valid | (addresses != ends))
    h.assume(~r.valid | (r.p.last == (beat == Mux(ends[0], lengths[1], lengths[0]))))

    _master_address(h, ar, limits, dut.read_bytes)
    refused = h.past(ar.valid & ~ar.ready)
    h.claim(~(ar.valid & (dut.failed | dut.stop)) | refused)
    h.claim((addresses - ends)[:5] <= CONFIG.read_requests)
    h.claim(~(addresses != ends) | dut.in_flight)
    # Beats pass in their order and number, and one that is bad says so.
    passes = _taken(dut.beats)
    h.claim(~_taken(r) | passes)
    h.claim(~(r.valid & dut.beats.valid) | (dut.beats.p.data == r.p.data))
    h.claim(~(r.valid & (r.p.response != 0)) | dut.beats.p.bad)
    h.claim(~(r.valid & ~dut.beats.p.bad) | (r.p.response == 0))
    h.claim(~(passes & ~r.valid) | (dut.beats.p.bad & (addresses == ends)))
    h.reach(passes & ~r.valid & (ends == 1))
    h.reach((ends == 2) & (addresses == 3))


def axi_lite(h: Harness) -> None:
    """One response per request, after it, and it stands; one access per write and per read."""
    dut = AxiLiteSlave()
    inner = h.inside(dut, "dut")
    port, access = dut.port, dut.access
    for name in ("aw", "w", "ar"):
        h.source(getattr(port, name), name)
    # What the registers promise: errors and data stand until the next access of their kind.
    for name, strobe in (("write_error", "write"), ("read_error", "read"), ("read_data", "read")):
        free = h.drive(getattr(access, name), name)
        h.stable(h.started & ~h.past(getattr(access, strobe)), free)
    h.sink(port.b, "b")
    h.sink(port.r, "r")

    waiting = {}  # Taken on the channel, and not used by an access.
    for name, use in (("aw", access.write), ("w", access.write), ("ar", access.read)):
        waiting[name] = level = Signal(2, name=f"{name}_level")
        h.m.d.sync += level.eq(level + _taken(getattr(port, name)) - use)
        h.claim(level <= 1)
        h.claim(level == inner[f"{name}_held"])
        h.claim(~(level[0] & getattr(port, name).ready))
        kept = Signal(len(Value.cast(getattr(port, name).p)), name=f"{name}_kept")
        with h.m.If(_taken(getattr(port, name))):
            h.m.d.sync += kept.eq(Value.cast(getattr(port, name).p))
        h.claim((level == 0) | (Value.cast(inner[name]) == kept))
    h.claim(~access.write | ((waiting["aw"] == 1) & (waiting["w"] == 1)))
    h.claim(~access.read | (waiting["ar"] == 1))
    for channel, use, name in ((port.b, access.write, "b"), (port.r, access.read, "r")):
        level = Signal(2, name=f"{name}_level")
        h.m.d.sync += level.eq(level + use - _taken(channel))
        h.claim(level == channel.valid)
        h.reach(_taken(channel) & (channel.p.response == 2))
    # Progress: who has all that he needs goes on at once.
    both = (waiting["aw"] == 1) & (waiting["w"] == 1) & ~port.b.valid
    h.claim(access.write == both)
    h.claim(access.read == ((waiting["ar"] == 1) & ~port.r.valid))
    h.claim(~h.started | Cat(getattr(port, n).ready | (waiting[n] != 0) for n in waiting).all())


_PROOFS: Final = (
    Proof(
        read_arbiter,
        4,
        Planted("celosia.hw.bus.read_arbiter", "(self.urgent | ring_held |", "(self.urgent |"),
        induction=True,
    ),
    Proof(
        splitter,
        3,
        Planted("celosia.hw.bus.bursts", "(chunk > room)", "(chunk > room + 1)"),
        induction=True,
    ),
    Proof(
        writer,
        9,
        Planted("celosia.hw.store.pack", "(burst.first <= n)", "(burst.first <= n + 1)"),
    ),
    Proof(
        strobes,
        9,
        Planted("celosia.hw.store.pack", "(burst.last >= n)", "(burst.last > n)"),
    ),
    Proof(
        reader,
        10,
        Planted("celosia.hw.load.reader", "may_start = ~self.stop & ~self.failed", "may_start = 1"),
    ),
    Proof(
        axi_lite,
        4,
        Planted(
            "celosia.hw.host.axi_lite",
            "address_held & data_held & ~port.b.valid",
            "address_held & data_held",
        ),
        induction=True,
    ),
)

test_it_is_proved, test_a_planted_fault_is_noticed, test_its_fault_has_a_place = proof_tests(
    _PROOFS
)
