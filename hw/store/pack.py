"""Chunks of a row in memory, to the beats of its bursts."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bus import WriteBeat
from celosia.hw.lib.queue import Queue
from celosia.hw.store.drain import StoreWord
from celosia.hw.store.gear import Gear
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig

__all__ = ["PackBurst", "Packer"]


class PackBurst(data.StructLayout):
    """Where the bytes of a burst stand in its beats; a *lane* is a byte of the bus."""

    def __init__(self, config: AcceleratorConfig):
        lane = range(config.bus_bytes)
        super().__init__({
            "origin": lane,  # Of the first byte of its segment.
            "first": lane,  # Of its first byte.
            "last": lane,  # Of its last byte.
            "beats_minus_1": range(MAX_REQUEST_BYTES // config.bus_bytes + 1),
            "last_in_segment": 1,
        })


class Packer(wiring.Component):
    """Moves the bytes of each segment to their place on the bus.

    A segment is one row in memory: its words come in one piece, its bursts one after the other.  A
    burst, unless it is the last one, ends with a beat or is as long as a number of whole beats.

    Beats leave one per cycle while words are there, across bursts and segments, whatever their
    alignment: nothing is lost to it but the beat that an unaligned segment has more.  A beat is on
    offer `LATENCY` cycles after its burst and its bytes were.  No path leads from ``beats.ready``
    to the other ports within a cycle.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and ``bus_bits``.

    Members
    -------
    bursts : ``In(stream.Signature(PackBurst(config)))``
        What to make; accepted along with the last beat's bytes.
    words : ``In(stream.Signature(StoreWord(config)))``
        Bytes of the segments.
    beats : ``Out(stream.Signature(WriteBeat(config)))``
        Beats with strobes.  Bytes that are not written have no meaning.
    """

    LATENCY = 1 + Queue.LATENCY

    bursts: stream.Interface
    words: stream.Interface
    beats: stream.Interface

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "bursts": In(stream.Signature(PackBurst(config))),
            "words": In(stream.Signature(StoreWord(config))),
            "beats": Out(stream.Signature(WriteBeat(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        lanes = self.config.bus_bytes
        m.submodules.gear = gear = Gear(self.config)
        m.submodules.queue = queue = Queue(WriteBeat(self.config), depth=2)
        connect(m, flipped(self.words), gear.words)
        connect(m, queue.o, flipped(self.beats))

        burst = self.bursts.p
        beat = Signal.like(burst.beats_minus_1)  # Beats of the burst that are gone.
        last_beat, finish = Signal(), Signal()
        able, made = Signal(), Signal()
        # A segment's last beat may hold only bytes that the last chunk but one left over.
        needed = ~finish | (burst.last >= burst.origin)
        # A burst that ends within a beat, and its segment does not: the next one starts in it.
        again = Signal()
        s1_valid = Signal()
        m.d.comb += [
            last_beat.eq(beat == burst.beats_minus_1),
            finish.eq(last_beat & burst.last_in_segment),
            again.eq(last_beat & ~burst.last_in_segment & (burst.last != lanes - 1)),
            able.eq(self.bursts.valid & (~s1_valid | queue.i.ready)),
            made.eq(able & (gear.chunks.valid | ~needed)),
            gear.chunks.ready.eq(able & needed & ~again),
            gear.finish.eq(made & finish),
            self.bursts.ready.eq(made & last_beat),
        ]
        with m.If(made):
            m.d.sync += beat.eq(Mux(last_beat, 0, beat + 1))

        # Stage 1: turn the chunk so that its first byte is in the segment's first lane.
        s1_chunk = Signal(8 * lanes, reset_less=True)
        s1_below = Signal(lanes, reset_less=True)
        s1_strobe, s1_last = Signal(lanes, reset_less=True), Signal(reset_less=True)
        with m.If(~s1_valid | queue.i.ready):
            m.d.sync += s1_valid.eq(made)
        with m.If(made):
            m.d.sync += [
                s1_chunk.eq(_turned(gear.chunks.p, burst.origin)),
                s1_below.eq(Cat(burst.origin > lane for lane in range(lanes))),
                s1_strobe.eq(_strobe(burst, beat == 0, last_beat)),
                s1_last.eq(last_beat),
            ]

        # Stage 2: below that lane stands what the chunk before it left over.  When a beat is made
        # again that is gone, but those lanes were written the first time.
        left_over = Signal(8 * lanes, reset_less=True)
        with m.If(s1_valid & queue.i.ready):
            m.d.sync += left_over.eq(s1_chunk)
        m.d.comb += queue.i.valid.eq(s1_valid)
        with m.If(s1_valid):
            m.d.comb += [
                queue.i.p.data.eq(_merged(s1_chunk, left_over, s1_below)),
                queue.i.p.strobe.eq(s1_strobe),
                queue.i.p.last.eq(s1_last),
            ]
        return m


def _turned(chunk: Value, lanes: Value) -> Value:
    """`chunk`, rotated by `lanes` bytes towards its upper end."""
    return (Cat(chunk, chunk) << (lanes << 3))[len(chunk) : 2 * len(chunk)]


def _merged(chunk: Value, left_over: Value, below: Value) -> Value:
    """The lanes of `chunk`, or of `left_over` where a bit of `below` is set."""
    return Cat(
        Mux(bit, left_over.word_select(lane, 8), chunk.word_select(lane, 8))
        for lane, bit in enumerate(below)
    )


def _strobe(burst: data.View, starts: Value, ends: Value) -> Value:
    """The lanes that a beat of `burst` writes."""
    lanes = range(1 << len(burst.first))
    return Cat((~starts | (burst.first <= n)) & (~ends | (burst.last >= n)) for n in lanes)
