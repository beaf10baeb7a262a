"""Queues operations, and starts each one as soon as nothing stands against it."""

from typing import Annotated

from amaranth import Cat, Module, ResetSignal, Signal, unsigned
from amaranth.hdl import Value
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import Fault
from celosia.hw.decode.decoder import OPERATIONS, Decoded, Kind
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.issue.hazards import POSITION_BITS, HazardTables, Needs, close, reached
from celosia.hw.issue.queues import PerQueue, QueueTraits, event_names, queues
from celosia.hw.lib.component import Component
from celosia.hw.lib.early_queue import EarlyQueue
from celosia.hw.lib.sleep import AWAKE, Wakeful, sleeper
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import WAITS

__all__ = ["Finished", "Issue", "Waits"]


class Finished(data.StructLayout):
    """Events of the controllers, each for one operation, in order."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__(dict.fromkeys(event_names(config), 1))


class Waits(data.StructLayout):
    """Why the head of a queue does not start: an older operation of a queue, or its controller."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(WAITS, 1))


class Issue(Component):
    """Queues, in order each; operations of different queues overtake one another.

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
    transform : ``Out(stream.Signature(TransformOp(config)))``
        To the transform path, if there is one.
    finished : ``In(Finished(config))``
        What has come to an end in this cycle.
    paths_idle : ``In(1)``
        The paths hold nothing, and memory has answered everything.
    halt : ``In(1)``
        Take and start nothing.
    fault : ``Out(Fault())``
        A broken rule.
    idle : ``Out(1)``
        Nothing is held or queued.
    queued : ``Out(PerQueue(unsigned(8)))``
        Operations waiting or running.
    waits : ``Out(PerQueue(Waits()))``
        All zero when a queue is empty, or its head starts.
    held : ``Out(PerQueue(1))``
        An operation is in it or on its way there, and has not started.
    full : ``Out(1)``
        The operation on offer waits for a place in its queue.
    awaited : ``Out(4)``
        The function of the transform that the head of the execute queue waits for, if it does.
    """

    i: stream.Interface
    load: stream.Interface
    execute: stream.Interface
    store: stream.Interface
    transform: stream.Interface
    finished: data.View
    paths_idle: Annotated[Signal, In(1)]
    halt: Annotated[Signal, In(1)]
    fault: Annotated[data.View, Out(Fault())]
    idle: Annotated[Signal, Out(1)]
    queued: Annotated[data.View, Out(PerQueue(unsigned(8)))]
    waits: Annotated[data.View, Out(PerQueue(Waits()))]
    held: Annotated[data.View, Out(PerQueue(1))]
    full: Annotated[Signal, Out(1)]
    awaited: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._queues = queues(config)
        super().__init__({
            "i": In(stream.Signature(Decoded(config))),
            **{name: Out(stream.Signature(op(config))) for name, op in OPERATIONS.items()},
            "finished": In(Finished(config)),
            "awaited": Out(TransformOp(config).members["function"]),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.tables = tables = HazardTables(self.config)
        names = [queue.name for queue in self._queues]
        tails = {name: Signal(POSITION_BITS, name=f"{name}_tail") for name in names}
        events = event_names(self.config)
        over = {name: Signal(POSITION_BITS, name=f"over_{name}") for name in events}
        for name, position in over.items():
            with m.If(self.finished[name]):
                m.d.sync += position.eq(position + 1)

        # Compare, then insert; push one cycle later, when the needs are known.
        inserting, fits, near = Signal(), Signal(), Signal()
        compare = near & ~self.halt
        m.d.comb += [
            tables.kind.eq(self.i.p.kind),
            tables.ranges.eq(self.i.p.ranges),
            *(tables.tails[name].eq(tail) for name, tail in tails.items()),
            tables.compare.eq(compare),
            tables.insert.eq(inserting),
        ]
        m.d.sync += inserting.eq(compare)
        ends = {queue.name: over[queue.end] for queue in self._queues}
        nothing_queued = Signal()
        # Whether as many operations have ended as were inserted: a register each, because a fence
        # takes that to the decoder's first stage.
        all_over = {name: Signal(init=1, name=f"{name}_all_over") for name in names}
        for queue in self._queues:
            name = queue.name
            with m.If(self.finished[queue.end]):
                last = (tails[name] - ends[name])[:POSITION_BITS] == 1
                m.d.sync += all_over[name].eq(last)
        with m.Switch(self.i.p.kind):
            for queue in self._queues:
                tail = tails[queue.name]
                with m.Case(queue.kind):
                    used = (tail - ends[queue.name])[:POSITION_BITS]
                    m.d.comb += fits.eq(used < queue.depth(self.config))
                    with m.If(inserting):
                        m.d.sync += [tail.eq(tail + 1), all_over[queue.name].eq(0)]

        pushed, fifos = Signal(), Module()
        heads = {
            queue.name: self._queue(m, fifos, tables.needs, over, queue) for queue in self._queues
        }
        if isinstance(platform, Wakeful):
            m.submodules.fifos = fifos
        else:
            self._sleep(m, fifos, pushed)
        if self.config.normalization:
            self._await(m, heads["execute"][1].needs, over, inserting, tails["transform"])
        m.d.comb += [
            nothing_queued.eq(
                Cat(all_over.values()).all()
                & ~Cat(valid for valid, _ in heads.values()).any()
                & ~inserting
                & ~pushed
            ),
            self.i.ready.eq(inserting),
            self.idle.eq(nothing_queued),
        ]
        # Compared only where it counts, for the sake of simulation.
        with m.If(self.i.valid & ~inserting & fits):
            m.d.comb += near.eq(
                Cat(
                    ~valid | close(self.i.p.tag, head.op.tag) for valid, head in heads.values()
                ).all()
            )
        is_operation = (self.i.p.kind != Kind.FENCE) & (self.i.p.kind != Kind.ERROR)
        m.d.comb += self.full.eq(self.i.valid & ~inserting & ~near & is_operation)
        m.d.sync += pushed.eq(inserting)
        for name, end in ends.items():
            m.d.comb += self.queued[name].eq((tails[name] - end)[:8])
        self._drain(m, nothing_queued & self.paths_idle & ~self.halt)
        return m

    def _sleep(self, m: Module, fifos: Module, pushed: Signal) -> None:
        """Let `fifos` sleep.

        Operations come in the cycle before `pushed`, and are at the head a cycle after it.
        """
        ports = [getattr(self, queue.name) for queue in self._queues]
        leaves = Cat(port.valid & port.ready for port in ports).any()
        awake, comes = Signal(name=AWAKE), Signal()
        m.d.sync += comes.eq(pushed)
        m.d.comb += awake.eq(self.i.ready | pushed | comes | leaves | ResetSignal())
        m.submodules.fifos = sleeper(fifos, awake)

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

    def _queue(
        self, m: Module, fifos: Module, needs: data.View, over: dict, queue: QueueTraits
    ) -> tuple[Value, data.View]:
        """One queue; returns whether there is a head that waits, and it."""
        name, port = queue.name, getattr(self, queue.name)
        entry = data.StructLayout({"op": queue.op(self.config), "needs": Needs(self.config)})
        depth = queue.depth(self.config)
        # Needs are known, and queued, a cycle after the operation: a head has both.
        ops = EarlyQueue(queue.op(self.config), queue.early, depth)
        fifo = SyncFIFOBuffered(width=entry["needs"].width, depth=depth)
        fifos.submodules[f"{name}_queue"] = ops
        fifos.submodules[f"{name}_needs"] = fifo

        pushing = Signal(name=f"{name}_pushing")
        inserted = self.i.valid & self.i.ready & (self.i.p.kind == queue.kind)
        coming = Signal(name=f"{name}_coming")  # It was pushed, and is not at the head yet.
        m.d.sync += [pushing.eq(inserted), coming.eq(pushing)]
        m.d.comb += self.held[name].eq(inserted | pushing | coming | fifo.r_rdy)
        m.d.comb += [
            ops.i.p.eq(self.i.p[name]),
            ops.i.valid.eq(inserted),
            fifo.w_data.eq(needs),
            fifo.w_en.eq(pushing),
        ]

        head = Signal(entry, name=f"{name}_head")
        met = {need: reached(over[need], head.needs[need]) for need in over}
        starts, waits = Signal(name=f"{name}_starts"), self.waits[name]
        m.d.comb += [
            head.eq(Cat(ops.o.p, fifo.r_data)),
            starts.eq(Cat(met.values()).all()),
            port.valid.eq(fifo.r_rdy & starts & ~self.halt),
            port.payload.eq(head.op),
            ops.o.ready.eq(port.valid & port.ready),
            fifo.r_en.eq(port.valid & port.ready),
        ]
        with m.If(fifo.r_rdy):
            m.d.comb += waits.controller.eq(starts & ~port.ready)
            for other in self._queues:
                m.d.comb += waits[other.name].eq(~Cat(met[event] for event in other.events).all())
        return fifo.r_rdy, head

    def _await(
        self, m: Module, needs: data.View, over: dict, inserting: Value, tail: Value
    ) -> None:
        """Remember the functions of transforms, and look up that which the next product needs."""
        shape, depth = self.awaited.shape(), self.config.transform_queue
        m.submodules.functions = functions = Memory(shape=shape, depth=depth, init=[])
        write, read = functions.write_port(), functions.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(inserting & (self.i.p.kind == Kind.TRANSFORM)),
            write.addr.eq(tail),
            write.data.eq(self.i.p.transform.function),
        ]
        # A need is the position after the operation that is needed.
        with m.If(self.waits.execute.transform):
            m.d.comb += read.addr.eq(needs.transform_done - 1)
            with m.If(reached(over["transform_done"], needs.transform_done)):
                m.d.comb += read.addr.eq(needs.transform_reads - 1)
        m.d.comb += self.awaited.eq(read.data)
