"""The accelerator: what docs/architecture.md draws."""

from collections.abc import Iterable
from typing import Annotated, Any

from amaranth import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bus import Fault, Limits, ReadPort, WritePort
from celosia.hw.decode.decoder import Decoder, Kind
from celosia.hw.execute.path import ExecutePath
from celosia.hw.gemmini.loops.stages import gemmini_stages
from celosia.hw.issue.issue import Issue, Waits
from celosia.hw.issue.queues import PerQueue
from celosia.hw.issue.tokens import TokenReport, Tokens
from celosia.hw.lib.component import Component
from celosia.hw.lib.layouts import COMMAND, Completed
from celosia.hw.load.path import LoadPath
from celosia.hw.loops.engine import LoopEngine
from celosia.hw.memory.accumulator import Accumulator
from celosia.hw.memory.parameters import ParameterMemory
from celosia.hw.memory.scratchpad import Scratchpad
from celosia.hw.observe.counters import CycleEvents
from celosia.hw.observe.owners import Commands, Owners
from celosia.hw.store.path import StorePath
from celosia.hw.transform.path import TransformPath
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import TABLES
from celosia.isa.registers.map import BODY_BITS

__all__ = ["Accelerator"]


class Accelerator(Component):
    """Commands in, memory traffic out.

    The first error, its own or one that it is told of, stops it: no command is accepted any more,
    nothing new starts, bursts in flight end; `error` keeps what happened until a reset.

    A load that waits for nothing but a store offers its first address `TOKEN_LATENCY` cycles after
    the last response of that store was accepted.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        What to build.
    memory_seed : int or None
        Seed of the contents of local memories at power-on, in Amaranth's simulator.

    Members
    -------
    commands : ``In(stream.Signature(COMMAND))``
        The program.
    read_port : ``Out(ReadPort(config))``
        Reads from memory.
    write_port : ``Out(WritePort(config))``
        Writes to memory.
    read_limits : ``In(Limits())``
        What may be read.
    write_limits : ``In(Limits())``
        What may be written.
    pending : ``In(1)``
        More commands are on their way to ``commands``: cycles count as busy.
    fault : ``In(Fault())``
        An error elsewhere; its tag becomes the number of the next command.
    busy : ``Out(1)``
        Anything is held, runs, or is not answered yet.
    error : ``Out(Fault())``
        The first error; `valid` stays.
    queued : ``Out(PerQueue(unsigned(8)))``
        Operations waiting or running (load, execute, store, transform).
    waits : ``Out(PerQueue(Waits()))``
        Why the head of each queue does not start.
    token : ``Out(TokenReport())``
        For how many stores the head of the load queue waits.
    completed : ``Out(Completed())``
        Commands that end.
    gained : ``Out(1)``
        A command goes to the decoder, and more will for the same one of the program.
    missing : ``Out(unsigned(BODY_BITS))``
        Commands of a loop's body that have not come.
    looping : ``Out(1)``
        The loop engine holds commands, or has more of them to make.
    starved : ``Out(1)``
        Nothing is left to do before the rest of a loop's body comes.
    events : ``Out(CycleEvents(config))``
        What happens in this cycle, for `Counters`.
    """

    TOKEN_LATENCY = 1 + Tokens.LATENCY + LoadPath.ADDRESS_LATENCY

    commands: Annotated[stream.Interface, In(stream.Signature(COMMAND))]
    read_port: Any
    write_port: Any
    read_limits: Annotated[data.View, In(Limits())]
    write_limits: Annotated[data.View, In(Limits())]
    pending: Annotated[Signal, In(1)]
    fault: Annotated[data.View, In(Fault())]
    busy: Annotated[Signal, Out(1)]
    error: Annotated[data.View, Out(Fault())]
    queued: Annotated[data.View, Out(PerQueue(unsigned(8)))]
    waits: Annotated[data.View, Out(PerQueue(Waits()))]
    token: Annotated[data.View, Out(TokenReport())]
    completed: Annotated[data.View, Out(Completed())]
    gained: Annotated[Signal, Out(1)]
    missing: Annotated[Signal, Out(unsigned(BODY_BITS))]
    looping: Annotated[Signal, Out(1)]
    starved: Annotated[Signal, Out(1)]
    events: data.View

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        super().__init__({
            "read_port": Out(ReadPort(config)),
            "write_port": Out(WritePort(config)),
            "events": Out(CycleEvents(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        config, seed = self.config, self._seed
        m.submodules.loops = loops = LoopEngine(config, gemmini_stages(config))
        m.submodules.decoder = decoder = Decoder(config)
        m.submodules.issue = issue = Issue(config)
        m.submodules.load = load = LoadPath(config)
        m.submodules.execute = execute = ExecutePath(config)
        m.submodules.store = store = StorePath(config)
        m.submodules.scratchpad = scratchpad = Scratchpad(config, memory_seed=seed)
        m.submodules.accumulator = accumulator = Accumulator(config, memory_seed=seed)
        m.submodules.parameters = parameters = ParameterMemory(config, memory_seed=seed)

        # Commands become operations, and wait for what they need.
        connect(m, flipped(self.commands), loops.i)
        connect(m, loops.o, decoder.commands)
        connect(m, decoder.o, issue.i)
        connect(m, issue.execute, execute.op)
        connect(m, issue.store, store.op)
        self._order_memory(m, issue, load, store)
        m.d.comb += [
            issue.finished.load_done.eq(load.done),
            issue.finished.execute_reads.eq(execute.reads_done),
            issue.finished.execute_done.eq(execute.done),
            issue.finished.store_reads.eq(store.reads_done),
        ]

        # Memory to local memories.
        connect(m, load.port, flipped(self.read_port))
        connect(m, load.scratchpad, scratchpad.load)
        connect(m, load.accumulator, accumulator.load)
        connect(m, load.parameters, parameters.load)
        m.d.comb += load.limits.eq(self.read_limits)

        # Products.
        connect(m, execute.weights, scratchpad.weights)
        connect(m, execute.operands, scratchpad.operands)
        connect(m, execute.scratchpad, scratchpad.results)
        m.d.comb += [
            accumulator.address.eq(execute.address),
            *(x.eq(y) for x, y in zip(accumulator.elements, execute.elements, strict=True)),
        ]

        # Local memories to memory.
        connect(m, store.scratchpad, scratchpad.store)
        connect(m, store.accumulator, accumulator.store)
        connect(m, store.parameters, parameters.store)
        connect(m, store.port, flipped(self.write_port))
        m.d.comb += store.limits.eq(self.write_limits)

        transform_idle, scaling = self._transform(m, issue, scratchpad, accumulator, parameters)
        faults = [*(unit.fault for unit in (issue, load, store)), *scaling]
        halted = self._errors(m, decoder, faults)
        m.d.comb += [
            loops.halt.eq(halted),
            decoder.halt.eq(halted),
            issue.halt.eq(halted),
            load.halt.eq(halted),
            store.halt.eq(halted),
        ]
        # For fences, which an error stops anyway: it is not to be on its way through here.
        paths_empty = load.empty & execute.idle & store.empty & transform_idle
        m.d.comb += issue.paths_idle.eq(paths_empty)
        paths_idle = load.idle & execute.idle & store.idle & transform_idle
        failing = Cat(fault.valid for fault in faults).any()
        self._tell(m, paths_idle, halted, failing, loops, decoder, issue, load, execute, store)
        inside = ~decoder.empty | loops.busy
        owners = self._own(m, inside, decoder, issue, load, execute, store, scratchpad, accumulator)
        self._observe(m, owners, decoder, load, store)
        return m

    def _order_memory(self, m: Module, issue, load, store) -> None:
        """Loads wait for the stores that they name."""
        m.submodules.tokens = tokens = Tokens(self.config)
        connect(m, issue.load, tokens.i)
        connect(m, tokens.o, load.op)
        m.d.comb += [
            tokens.started.eq(store.op.valid & store.op.ready),
            tokens.starting.signal.eq(store.op.p.signal),
            tokens.starting.token.eq(store.op.p.signal_token),
            tokens.done.eq(store.done),
            tokens.clear.eq(self.completed.fence),
            self.token.eq(tokens.report),
        ]

    def _transform(
        self, m: Module, issue, scratchpad, accumulator, parameters
    ) -> tuple[Value, list[data.View]]:
        """What is not a product stays on chip.

        Returns whether nothing is being transformed, and the fault that there may be.
        """
        if not self.config.normalization:
            return Const(1), []
        path = TransformPath(self.config, memory_seed=self._seed)
        m.submodules.transform = self._path = path
        connect(m, issue.transform, path.op)
        connect(m, path.scratchpad, scratchpad.transform)
        connect(m, path.accumulator, accumulator.transform)
        connect(m, path.parameters, parameters.transform)
        connect(m, path.parameters2, parameters.transform2)
        connect(m, path.words, scratchpad.words)
        connect(m, path.words2, scratchpad.words2)
        m.d.comb += [
            issue.finished.transform_reads.eq(path.reads_done),
            issue.finished.transform_done.eq(path.done),
            self.completed.transform.eq(path.done),
        ]
        return path.idle, [path.fault] if self.config.zero_scale_bits else []

    def _tell(self, m: Module, paths_idle: Value, halted: Value, failing: Value, *units) -> None:
        """What happens, for those outside."""
        loops, decoder, issue, load, execute, store = units
        begun = ~(decoder.empty & issue.idle)
        waiting = ~halted & (begun | loops.busy)
        m.d.comb += [
            # What fails is kept in `error` from the next cycle on: it never looks as if all had
            # gone well.
            self.busy.eq(waiting | ~paths_idle | failing),
            self.queued.eq(issue.queued),
            self.waits.eq(issue.waits),
            self.completed.load.eq(load.done),
            self.completed.execute.eq(execute.done),
            self.completed.store.eq(store.done),
            self.completed.nothing.eq(decoder.ended),
            self.completed.loop.eq(loops.lost),
            loops.fenced.eq(self.completed.fence),
            self.gained.eq(loops.gained),
            self.missing.eq(loops.missing),
            self.looping.eq(loops.busy),
            self.starved.eq(loops.starved & paths_idle & ~begun),
            self.completed.fence.eq(
                decoder.o.valid & decoder.o.ready & (decoder.o.p.kind == Kind.FENCE)
            ),
        ]

    def _errors(self, m: Module, decoder: Decoder, faults: Iterable[data.View]) -> Signal:
        """Keep the first error; returns whether there was one: a register, for all units to see."""
        with m.If(self.fault.valid & (self.error.cause == Cause.NONE)):
            m.d.sync += [self.error.eq(self.fault), self.error.tag.eq(decoder.number)]
        for fault in faults:
            with m.If(fault.valid & (self.error.cause == Cause.NONE)):
                m.d.sync += self.error.eq(fault)
        halted = Signal()
        with m.If(Cat(fault.valid for fault in (self.fault, *faults)).any()):
            m.d.sync += halted.eq(1)
        m.d.sync += Assert(halted == (self.error.cause != Cause.NONE), "an error without a cause")
        return halted

    def _observe(self, m: Module, owners: Owners, *units) -> None:
        """What is counted."""
        decoder, load, store = units
        events = self.events
        m.d.comb += [
            *(events[table.name].eq(getattr(owners.owners, table.name)) for table in TABLES),
            events.busy.eq(self.busy | self.pending),
            events.command.eq(decoder.accepted),
            events.read_bytes.eq(load.read_bytes),
            events.write_bytes.eq(store.write_bytes),
            events.read_beat.eq(self.read_port.r.valid & self.read_port.r.ready),
            events.write_beat.eq(self.write_port.w.valid & self.write_port.w.ready),
        ]

    def _own(self, m: Module, inside: Value, *units) -> Owners:
        """Attribute each cycle to one owner per unit."""
        decoder, issue, load, execute, store, scratchpad, accumulator = units
        m.submodules.owners = owners = Owners()
        blockers, next_one = scratchpad.blockers, decoder.o
        m.d.comb += [
            owners.array.eq(execute.state),
            owners.array_bank.eq(blockers.operands),
            owners.load_path.eq(load.state),
            owners.store_path.eq(store.state),
            owners.awaited.eq(issue.awaited),
            owners.accumulates.eq(issue.execute.p.c_accumulator),
            owners.token.eq(issue.load.valid & ~load.op.valid),
            owners.waits.eq(issue.waits),
            owners.held.eq(issue.held),
            owners.kind.eq(next_one.p.kind),
        ]
        # As late as the states of these paths.
        with m.If(load.scratchpad.valid | load.accumulator.valid):
            # In the accumulator it is results.
            m.d.sync += owners.load_bank.eq(blockers.load)
        with m.If(store.scratchpad.valid):
            m.d.sync += owners.store_bank.eq(blockers.store)
        with m.Elif(store.accumulator.valid):
            m.d.sync += owners.store_bank.eq(accumulator.store_blocker)
        coming = Signal()
        m.d.sync += coming.eq(self.commands.valid | self.pending)
        with m.If(issue.full):
            m.d.comb += owners.commands.eq(Commands.FULL)
        with m.Elif(
            next_one.valid & ((next_one.p.kind == Kind.FENCE) | (next_one.p.kind == Kind.ERROR))
        ):
            m.d.comb += owners.commands.eq(Commands.FENCE)
        with m.Elif(inside | coming):
            m.d.comb += owners.commands.eq(Commands.COMING)
        if self.config.normalization:
            path = self._path
            m.d.comb += [
                owners.vector.eq(path.state),
                owners.vector_bank.eq(
                    Mux(
                        path.accumulator.valid & ~path.accumulator.ready,
                        accumulator.transform_blocker,
                        blockers.transform,
                    )
                ),
                owners.function.eq(path.function),
            ]
        return owners
