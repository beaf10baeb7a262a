"""Chunks of a row in memory, to the beats of its bursts."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.dma.bus import WriteBeat
from celosia.hw.dma.drain import StoreWord
from celosia.hw.dma.gear import Gear
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

    A segment is one row in memory: its words come in one piece, its bursts one after the other.
    Beats leave one per cycle while words are there, across bursts and segments, whatever their
    alignment: nothing is lost to it but the beat that an unaligned segment has more.  A beat is on
    offer in the cycle after its burst and its bytes were.  No path leads from ``beats.ready`` to
    the other ports within a cycle.

    Members
    -------
    bursts : ``In(stream.Signature(PackBurst(config)))``
        What to make; accepted along with the last beat's bytes.
    words : ``In(stream.Signature(StoreWord(config)))``
        Bytes of the segments.
    beats : ``Out(stream.Signature(WriteBeat(config)))``
        Beats with strobes.  Bytes that are not written have no meaning.
    """

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
        connect(m, flipped(self.words), gear.words)
        layout = WriteBeat(self.config)
        m.submodules.queue = queue = SyncFIFO(width=layout.size, depth=2)

        burst = self.bursts.p
        beat = Signal.like(burst.beats_minus_1)  # Beats of the burst that are gone.
        last_beat, finish = Signal(), Signal()
        able, made = Signal(), Signal()
        # A segment's last beat may hold only bytes that the last chunk but one left over.
        needed = ~finish | (burst.last >= burst.origin)
        # A burst that ends within a beat, and its segment does not: the next one starts in it.
        again = last_beat & ~burst.last_in_segment & (burst.last != lanes - 1)
        m.d.comb += [
            last_beat.eq(beat == burst.beats_minus_1),
            finish.eq(last_beat & burst.last_in_segment),
            able.eq(self.bursts.valid & queue.w_rdy),
            made.eq(able & (gear.chunks.valid | ~needed)),
            gear.chunks.ready.eq(able & needed & ~again),
            gear.finish.eq(made & finish),
            self.bursts.ready.eq(made & last_beat),
        ]
        with m.If(made):
            m.d.sync += beat.eq(Mux(last_beat, 0, beat + 1))

        entry = layout(queue.w_data)
        starts, ends = beat == 0, last_beat
        m.d.comb += [
            queue.w_en.eq(made),
            entry.data.eq(self._align(m, gear.chunks.p, made & ~again)),
            entry.strobe.eq(
                Cat(
                    (~starts | (burst.first <= lane)) & (~ends | (burst.last >= lane))
                    for lane in range(lanes)
                )
            ),
            entry.last.eq(last_beat),
            self.beats.valid.eq(queue.r_rdy),
            self.beats.payload.eq(queue.r_data),
            queue.r_en.eq(self.beats.ready),
        ]
        return m

    def _align(self, m: Module, chunk: Value, step: Value) -> Value:
        """The beat that `chunk` starts in; below it stands what the chunk before left over."""
        origin = self.bursts.p.origin
        for bit, rotate in enumerate(origin):
            turned = Signal.like(chunk, name=f"turned_{bit}")
            m.d.comb += turned.eq(Mux(rotate, chunk.rotate_left(8 << bit), chunk))
            chunk = turned
        left_over = Signal.like(chunk, reset_less=True)
        with m.If(step):
            m.d.sync += left_over.eq(chunk)
        return Cat(
            Mux(origin > lane, left_over.word_select(lane, 8), chunk.word_select(lane, 8))
            for lane in range(self.config.bus_bytes)
        )
