"""Queues operations, and starts each one as soon as nothing stands against it."""

from amaranth import Cat, Module, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from celosia.hw.control.ops import ExecuteOp, LoadOp, StoreOp
from celosia.hw.dma.bus import Fault
from celosia.hw.frontend.decoder import Decoded, Kind
from celosia.hw.issue.hazards import POSITION_BITS, WINDOW, HazardTables, Needs, reached
from celosia.isa.config import AcceleratorConfig

__all__ = ["Finished", "Issue", "Waits"]


class Finished(data.StructLayout):
    """Events of the three controllers, each for one operation, in order."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(Needs().members, 1))


class Waits(data.StructLayout):
    """Why the head of a queue does not start."""

    def __init__(self) -> None:
        super().__init__({"load": 1, "execute": 1, "store": 1, "controller": 1})


class Issue(wiring.Component):
    """Three queues, in order each; operations of different queues overtake one another.

    An operation is taken every two cycles and is at the head of an empty queue three cycles later.
    It waits outside while its queue is full (operations that run count), and starts when all events
    that it needs have happened.  A fence, or a broken rule, waits until everything before it is
    over; a broken rule then becomes a fault.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies the depths of the queues.

    Members
    -------
    i : ``In(stream.Signature(Decoded(config)))``
        Operations in program order.
    load : ``Out(stream.Signature(LoadOp(config)))``
        To the load path.
    execute : ``Out(stream.Signature(ExecuteOp(config)))``
        To the execute path.
    store : ``Out(stream.Signature(StoreOp(config)))``
        To the store path.
    finished : ``In(Finished())``
        What has come to an end in this cycle.
    paths_idle : ``In(1)``
        The three paths hold nothing, and memory has answered everything.
    halt : ``In(1)``
        Take and start nothing.
    fault : ``Out(Fault())``
        A broken rule.
    idle : ``Out(1)``
        Nothing is held or queued.
    queued : ``Out(ArrayLayout(unsigned(8), 3))``
        Operations waiting or running (load, execute, store).
    waits : ``Out(ArrayLayout(Waits(), 3))``
        Per queue; all zero when it is empty, or its head starts.
    """

    i: stream.Interface
    load: stream.Interface
    execute: stream.Interface
    store: stream.Interface
    finished: data.View
    paths_idle: Signal
    halt: Signal
    fault: data.View
    idle: Signal
    queued: data.View
    waits: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "i": In(stream.Signature(Decoded(config))),
            "load": Out(stream.Signature(LoadOp(config))),
            "execute": Out(stream.Signature(ExecuteOp(config))),
            "store": Out(stream.Signature(StoreOp(config))),
            "finished": In(Finished()),
            "paths_idle": In(1),
            "halt": In(1),
            "fault": Out(Fault()),
            "idle": Out(1),
            "queued": Out(data.ArrayLayout(unsigned(8), 3)),
            "waits": Out(data.ArrayLayout(Waits(), 3)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.tables = tables = HazardTables(self.config)
        tails = [
            Signal(POSITION_BITS, name=f"{name}_tail") for name in ("load", "execute", "store")
        ]
        over = {name: Signal(POSITION_BITS, name=f"over_{name}") for name, _ in Needs()}
        for name, position in over.items():
            with m.If(self.finished[name]):
                m.d.sync += position.eq(position + 1)

        # Compare, then insert; push one cycle later, when the needs are known.
        inserting, room = Signal(), Signal()
        compare = self.i.valid & ~inserting & room & ~self.halt
        m.d.comb += [
            tables.kind.eq(self.i.p.kind),
            tables.ranges.eq(self.i.p.ranges),
            tables.tails.as_value().eq(Cat(tails)),
            tables.compare.eq(compare),
            tables.insert.eq(inserting),
        ]
        m.d.sync += inserting.eq(compare)
        ends = (over["load_done"], over["execute_done"], over["store_reads"])
        depths = (self.config.load_queue, self.config.execute_queue, self.config.store_queue)
        kinds = (Kind.LOAD, Kind.EXECUTE, Kind.STORE)
        near, nothing_queued = Signal(), Signal()
        with m.Switch(self.i.p.kind):
            for index, kind in enumerate(kinds):
                with m.Case(kind):
                    used = (tails[index] - ends[index])[:POSITION_BITS]
                    m.d.comb += room.eq((used < depths[index]) & near)
                    with m.If(inserting):
                        m.d.sync += tails[index].eq(tails[index] + 1)

        pushed = Signal()
        heads = [
            self._queue(m, tables.needs, over, index, depth) for index, depth in enumerate(depths)
        ]
        m.d.comb += [
            near.eq(Cat(~valid | self._close(tag) for valid, tag in heads).all()),
            nothing_queued.eq(
                Cat(tail == end for tail, end in zip(tails, ends, strict=True)).all()
                & ~Cat(valid for valid, _ in heads).any()
                & ~inserting
                & ~pushed
            ),
            self.i.ready.eq(inserting),
            self.idle.eq(nothing_queued),
        ]
        m.d.sync += pushed.eq(inserting)
        for index, end in enumerate(ends):
            m.d.comb += self.queued[index].eq((tails[index] - end)[:8])
        self._drain(m, nothing_queued & self.paths_idle & ~self.halt)
        return m

    def _close(self, tag: Value) -> Value:
        """Whether the operation `tag`, which still waits, is near enough to the new one."""
        return (self.i.p.tag - tag)[: len(tag)] < WINDOW

    def _drain(self, m: Module, drained: Value) -> None:
        """Fences and broken rules."""
        with m.If(self.i.valid & drained):
            with m.If(self.i.p.kind == Kind.FENCE):
                m.d.comb += self.i.ready.eq(1)
            with m.If(self.i.p.kind == Kind.ERROR):
                m.d.comb += [
                    self.i.ready.eq(1),
                    self.fault.valid.eq(1),
                    self.fault.cause.eq(self.i.p.cause),
                    self.fault.tag.eq(self.i.p.tag),
                ]

    def _queue(self, m: Module, needs, over, index: int, depth: int) -> tuple[Value, Value]:
        """One queue; returns whether its head waits, and the head's tag."""
        port = (self.load, self.execute, self.store)[index]
        kind = (Kind.LOAD, Kind.EXECUTE, Kind.STORE)[index]
        name = kind.name.lower()
        entry = data.StructLayout({"op": port.p.shape(), "needs": Needs()})
        fifo = SyncFIFOBuffered(width=entry.size, depth=depth)
        m.submodules[f"{name}_queue"] = fifo

        # The operation of the last cycle's insertion, now that its needs are known.
        pushing, pushed = Signal(name=f"{name}_pushing"), Signal(entry, name=f"{name}_pushed")
        op = Signal(port.p.shape(), name=f"{name}_op", reset_less=True)
        inserted = self.i.valid & self.i.ready & (self.i.p.kind == kind)
        m.d.sync += pushing.eq(inserted)
        with m.If(inserted):
            m.d.sync += op.eq(self.i.p[name])
        m.d.comb += [
            pushed.op.eq(op),
            pushed.needs.eq(needs),
            fifo.w_data.eq(pushed),
            fifo.w_en.eq(pushing),
        ]

        head = Signal(entry, name=f"{name}_head")
        met = {need: reached(over[need], head.needs[need]) for need, _ in Needs()}
        starts, waits = Signal(name=f"{name}_starts"), self.waits[index]
        m.d.comb += [
            head.eq(fifo.r_data),
            starts.eq(Cat(met.values()).all()),
            port.valid.eq(fifo.r_rdy & starts & ~self.halt),
            port.payload.eq(head.op),
            fifo.r_en.eq(port.valid & port.ready),
        ]
        with m.If(fifo.r_rdy):
            m.d.comb += [
                waits.load.eq(~met["load_done"]),
                waits.execute.eq(~met["execute_reads"] | ~met["execute_done"]),
                waits.store.eq(~met["store_reads"]),
                waits.controller.eq(starts & ~port.ready),
            ]
        return fifo.r_rdy, head.op.tag
