"""Everything between a load and the local memories."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bus import Fault, Limits, ReadPort
from celosia.hw.decode.ops import LoadOp
from celosia.hw.lib.queue import Queue
from celosia.hw.lib.sleep import Sleeping
from celosia.hw.load.controller import LoadContext, LoadController
from celosia.hw.load.reader import READ_BYTES_BITS, Reader
from celosia.hw.load.unpack import Unpacker
from celosia.hw.load.writer import RowWriter
from celosia.hw.memory.ports import AccumulatorWrite, ParameterWrite, ScratchpadWrite
from celosia.isa.config import AcceleratorConfig

__all__ = ["LoadPath", "LoadState"]


class LoadState(enum.Enum, shape=3):
    """What the load path does in a cycle: the first that is true."""

    IDLE = 0  # None of these.
    DATA = 1  # A beat arrives.
    BANK = 2  # A row waits for its bank.
    BANDWIDTH = 3  # Memory pauses between beats, or takes no address and owes no beat.
    REQUESTS = 4  # Memory has not begun to answer a burst that was held back...
    LATENCY = 5  # ...or one that was not.
    STAGES = 6  # There is a load.


class LoadPath(Sleeping):
    """Carries out loads: reads memory and writes local rows, in order.

    A load occupies the path for one cycle per segment (`LoadController`) and one per piece
    (`Unpacker`), whichever is more, and loads follow one another without a bubble: where local
    rows are not shorter than a beat, read data are taken at one beat per cycle, at any alignment.
    Up to ``config.load_queue`` loads and ``config.read_requests`` bursts are in flight.  An address
    is on offer `ADDRESS_LATENCY` cycles after its load was accepted, and a local row `ROW_LATENCY`
    cycles after the last beat of it was accepted.

    A load without rows or columns offers one row without elements, and is done.

    An error ends everything, in order: loads before it are done, rows of its load before it are
    written, then `fault` reports it.  From the error on no address is offered, beats of bursts in
    flight are thrown away, and no load is accepted.  `halt` does the same at once, only what is on
    offer stands until it is accepted.  Only a reset ends this.

    The path sleeps while it has nothing to do.

    Members
    -------
    op : ``In(stream.Signature(LoadOp(config)))``
        Loads whose hazards have been resolved.
    port : ``Out(ReadPort(config))``
        The memory.
    limits : ``In(Limits())``
        Bytes that may be read.
    scratchpad : ``Out(stream.Signature(ScratchpadWrite(config)))``
        Rows of int8.
    accumulator : ``Out(stream.Signature(AccumulatorWrite(config)))``
        Rows of int32.
    parameters : ``Out(stream.Signature(ParameterWrite(config), always_ready=True))``
        Rows of parameters.
    done : ``Out(1)``
        The last row of the oldest load is accepted in this cycle.
    fault : ``Out(Fault())``
        An error.
    halt : ``In(1)``
        Another unit failed.
    empty : ``Out(1)``
        No load was accepted that is not done; an error ends none.
    idle : ``Out(1)``
        The same; after an error: no burst is in flight.
    read_bytes : ``Out(unsigned(READ_BYTES_BITS))``
        Useful bytes of the burst whose address is accepted in this cycle.
    state : ``Out(LoadState)``
        What happened in the cycle before, `halt` and errors aside.
    """

    ADDRESS_LATENCY = LoadController.LATENCY + Reader.LATENCY
    ROW_LATENCY = Unpacker.LATENCY + RowWriter.LATENCY

    op: stream.Interface
    port: Any
    limits: Annotated[data.View, In(Limits())]
    scratchpad: stream.Interface
    accumulator: stream.Interface
    parameters: stream.Interface
    done: Annotated[Signal, Out(1)]
    fault: Annotated[data.View, Out(Fault())]
    halt: Annotated[Signal, In(1)]
    empty: Annotated[Signal, Out(1)]
    idle: Annotated[Signal, Out(1)]
    read_bytes: Annotated[Signal, Out(unsigned(READ_BYTES_BITS))]
    state: Annotated[Any, Out(LoadState)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        parameters = stream.Signature(ParameterWrite(config), always_ready=True)
        super().__init__({
            "op": In(stream.Signature(LoadOp(config))),
            "port": Out(ReadPort(config)),
            "scratchpad": Out(stream.Signature(ScratchpadWrite(config))),
            "accumulator": Out(stream.Signature(AccumulatorWrite(config))),
            "parameters": Out(parameters),
        })

    def build(self, m: Module, outer: Module) -> Value:
        # Loads that are in the queue, or before it or behind it (one per stage).
        working = Signal(range(self.config.load_queue + RowWriter.LATENCY + 4))
        reader = self._load(m, working)
        # Beats are looked at even if nobody asked for them.
        active, lately = Signal(), Signal()
        called = self.op.valid | self.port.r.valid | self.halt
        outer.d.comb += active.eq(called | (working != 0))
        # Into a register: what depends on the memory's signals is not to spread.
        outer.d.sync += lately.eq(active)
        with outer.If(active | lately):
            self._name_state(outer, reader, working)
        return active

    def _load(self, m: Module, working: Signal) -> Reader:
        """Connect the stages of a load, of which `working` are on their way."""
        m.submodules.controller = controller = LoadController(self.config)
        m.submodules.contexts = contexts = Queue(LoadContext(self.config), self.config.load_queue)
        m.submodules.reader = reader = Reader(self.config)
        m.submodules.unpacker = unpacker = Unpacker(self.config)
        m.submodules.rows = rows = RowWriter(self.config)

        # Loads become segments; those become bursts.
        connect(m, controller.context, contexts.i)
        connect(m, controller.segments, reader.segments)
        connect(m, reader.port, flipped(self.port))

        # Beats become pieces of local rows; those become writes.
        connect(m, contexts.o, unpacker.contexts)
        connect(m, reader.runs, unpacker.runs)
        connect(m, reader.beats, unpacker.beats)
        connect(m, unpacker.pieces, rows.pieces)
        for name in ("scratchpad", "accumulator", "parameters"):
            connect(m, getattr(rows, name), flipped(getattr(self, name)))

        # The first error ends it all.
        stopped, stop = Signal(), Signal()
        with m.If(self.halt | rows.fault):
            m.d.sync += stopped.eq(1)
        m.d.comb += [
            stop.eq(self.halt | stopped),
            *(unit.stop.eq(stop) for unit in (reader, unpacker, rows)),
            controller.op.valid.eq(self.op.valid & ~stop),
            self.op.ready.eq(controller.op.ready & ~stop),
            controller.op.p.eq(self.op.p),
            reader.limits.eq(self.limits),
        ]
        with m.If(rows.fault):
            m.d.comb += [
                self.fault.valid.eq(1),
                self.fault.cause.eq(reader.error.cause),
                self.fault.address.eq(reader.error.address),
                self.fault.tag.eq(unpacker.tag),
            ]

        m.d.sync += working.eq(working + (self.op.valid & self.op.ready) - rows.done)
        m.d.comb += [
            self.done.eq(rows.done),
            self.empty.eq(working == 0),
            self.idle.eq(Mux(stop, ~reader.in_flight, self.empty)),
            self.read_bytes.eq(reader.read_bytes),
        ]
        return reader

    def _name_state(self, m: Module, reader: Reader, working: Signal) -> None:
        read, address = self.port.r, self.port.ar
        blocked = [port.valid & ~port.ready for port in (self.scratchpad, self.accumulator)]
        with m.If(read.valid & read.ready):
            m.d.sync += self.state.eq(LoadState.DATA)
        with m.Elif(Cat(blocked).any()):
            m.d.sync += self.state.eq(LoadState.BANK)
        with m.Elif(reader.pauses & ~read.valid):
            m.d.sync += self.state.eq(LoadState.BANDWIDTH)
        with m.Elif(reader.outstanding & ~read.valid):
            m.d.sync += self.state.eq(Mux(reader.throttled, LoadState.REQUESTS, LoadState.LATENCY))
        with m.Elif(address.valid & ~address.ready & ~read.valid):
            m.d.sync += self.state.eq(LoadState.BANDWIDTH)
        with m.Elif(working != 0):
            m.d.sync += self.state.eq(LoadState.STAGES)
        with m.Else():
            m.d.sync += self.state.eq(LoadState.IDLE)
