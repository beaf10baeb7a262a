"""Does what requests ask for, and writes the replies."""

from typing import Any

from amaranth import Array, Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.host.axi_top import lite_ports
from celosia.hw.host.board.block_memory import ByteAccess
from celosia.hw.host.board.lite_master import LiteAccess
from celosia.hw.host.board.reply_writer import ReplyByte
from celosia.hw.host.board.request_reader import RequestHead
from celosia.hw.host.board.setup import BoardSetup
from celosia.isa.registers.map import REGISTER_BITS
from celosia.isa.registers.serial import INTERRUPT_BIT, MOST_PAYLOAD, Result, Verb

__all__ = ["Bridge"]

RESET_CYCLES = 16
"""Cycles of a reset; the accelerator takes three."""
MEMORY_LATENCY = 2
"""Cycles from an access to memory to the byte that it has read."""

_WORD_BYTES = REGISTER_BITS // 8


class Bridge(wiring.Component):
    """Requests in, replies out, one at a time: `celosia.isa.registers.serial` says what they mean.

    The reply's first byte is on offer two cycles after the request if nothing is asked of memory or
    of a register.  A write to memory takes two cycles for each byte before that, an access to a
    register eight cycles and what its slave takes, a reset `RESET_CYCLES`.  Bytes of a
    reply's payload are on offer at one per three cycles: a line of eight cycles a bit never waits
    for them.  It stalls while the line does not take a byte, and memory and registers are then left
    alone.

    Parameters
    ----------
    setup : :class:`BoardSetup`
        Supplies the greeting and the memory's size.

    Members
    -------
    head : ``In(stream.Signature(RequestHead()))``
        A request; it is accepted with the last byte of its reply.
    index : ``Out(range(MOST_PAYLOAD))``
        A byte of the request's payload.
    payload : ``In(8)``
        That byte, a cycle later.
    reply : ``Out(stream.Signature(ReplyByte()))``
        Replies.
    memory : ``Out(stream.Signature(ByteAccess(memory_bytes), always_ready=True))``
        Accesses to memory.
    byte : ``In(8)``
        What was read, `MEMORY_LATENCY` cycles later.
    access : ``Out(stream.Signature(LiteAccess(address_bits)))``
        Accesses to registers, each accepted with its response.
    data : ``In(32)``
        What was read.
    refused : ``In(1)``
        The access was answered with an error.
    interrupt : ``In(1)``
        The accelerator's.
    reset : ``Out(1)``
        Reset the accelerator.
    """

    LATENCY = 2

    head: stream.Interface
    index: Signal
    payload: Signal
    reply: stream.Interface
    memory: stream.Interface
    byte: Signal
    access: stream.Interface
    data: Signal
    refused: Signal
    interrupt: Signal
    reset: Signal

    def __init__(self, setup: BoardSetup):
        self.setup = setup
        ports: Any = lite_ports()
        access = LiteAccess(ports["s_axi_awaddr"].shape)
        super().__init__({
            "head": In(stream.Signature(RequestHead())),
            "index": Out(range(MOST_PAYLOAD)),
            "payload": In(8),
            "reply": Out(stream.Signature(ReplyByte())),
            "memory": Out(stream.Signature(ByteAccess(setup.memory_bytes), always_ready=True)),
            "byte": In(8),
            "access": Out(stream.Signature(access)),
            "data": In(REGISTER_BITS),
            "refused": In(1),
            "interrupt": In(1),
            "reset": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        head: Any = self.head.p
        done = Signal(range(MOST_PAYLOAD + 1))  # Bytes of the payload that are over.
        wait = Signal(range(RESET_CYCLES))  # Cycles until the state goes on.
        result = Signal(Result)  # What became of the request.
        answers = Signal(range(MOST_PAYLOAD + 1))  # Bytes behind the head of the reply.
        last_write = Signal(9)  # The request before: its number, and whether it wrote a register.
        last_result = Signal(Result)  # What became of it.
        word = Signal(REGISTER_BITS)  # What is, or was, in a register.
        self._connect(m, done, word)
        with m.If(self.head.valid & self.head.ready):
            written = head.verb == Verb.WRITE_REGISTER
            m.d.sync += [last_write.eq(Cat(head.sequence, written)), last_result.eq(result)]

        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [done.eq(0), result.eq(Result.DONE), answers.eq(0)]
                with m.If(self.head.valid):
                    m.next = "STATUS"
                    m.d.sync += wait.eq(1)
                    again = last_write == Cat(head.sequence, Const(1, 1))
                    self._begin(m, again, result, answers, last_result)
                    with m.If((head.verb == Verb.RESET) & (head.length == 0)):
                        m.d.sync += wait.eq(RESET_CYCLES - 1)
                        m.next = "RESET"
            with m.State("RESET"):
                m.d.comb += self.reset.eq(1)
                m.d.sync += wait.eq(wait - 1)
                with m.If(wait == 0):
                    m.d.sync += wait.eq(1)
                    m.next = "STATUS"
            with m.State("WRITE"):  # Memory; the byte of the payload comes a cycle after its index.
                m.d.sync += wait.eq(~wait[0])
                with m.If(wait == 0):
                    m.d.comb += self.memory.valid.eq(1)
                    m.d.sync += done.eq(done + 1)
                    with m.If(done == head.count - 1):
                        m.d.sync += done.eq(0)
                        m.next = "STATUS"
            with m.State("ACCESS"):  # A register; first, the word comes out of the payload.
                self._access(m, done, wait, word, (result, answers))
            with m.State("STATUS"):  # Two bytes: the sequence number, and how it went.
                self._status(m, result, answers, wait)
            with m.State("PAYLOAD"):
                self._payload(m, done, answers, wait, word)
        return m

    def _connect(self, m: Module, done: Signal, word: Signal) -> None:
        """What requests hand over as it is."""
        head: Any = self.head.p
        memory: Any = self.memory.p
        access: Any = self.access.p
        m.d.comb += [
            self.index.eq(done),
            memory.write.eq(head.verb == Verb.WRITE),
            memory.offset.eq(head.offset + done),
            memory.byte.eq(self.payload),
            access.write.eq(head.verb == Verb.WRITE_REGISTER),
            access.address.eq(head.offset),
            access.data.eq(word),
        ]

    def _begin(
        self, m: Module, again: Any, result: Signal, answers: Signal, last_result: Signal
    ) -> None:
        """Look at the request: where to go, or what is wrong with it."""
        head: Any = self.head.p
        count, length = head.count, head.length
        inside = head.offset + count <= self.setup.memory_bytes
        unknown = Signal()
        m.d.comb += unknown.eq(1)
        with m.Switch(head.verb):
            with m.Case(Verb.HELLO):
                m.d.comb += unknown.eq(length != 0)
                m.d.sync += answers.eq(len(self.setup.greeting.packed()))
            with m.Case(Verb.RESET):
                m.d.comb += unknown.eq(length != 0)
            with m.Case(Verb.READ):
                m.d.comb += unknown.eq((length != 0) | (count == 0) | (count > MOST_PAYLOAD))
                m.d.sync += answers.eq(count)
                with m.If(~inside):
                    m.d.sync += [result.eq(Result.OUTSIDE), answers.eq(0)]
            with m.Case(Verb.WRITE):
                m.d.comb += unknown.eq((length == 0) | (count != length))
                with m.If(~inside):
                    m.d.sync += result.eq(Result.OUTSIDE)
                with m.Elif(~unknown):
                    m.next = "WRITE"
            with m.Case(Verb.READ_REGISTER, Verb.WRITE_REGISTER):
                write = head.verb == Verb.WRITE_REGISTER
                wrong = length != _WORD_BYTES * write
                m.d.comb += unknown.eq((count != _WORD_BYTES) | wrong)
                with m.If(~write):
                    m.d.sync += answers.eq(_WORD_BYTES)
                with m.If(write & again):
                    m.d.sync += result.eq(last_result)
                with m.Elif(~unknown):
                    m.next = "ACCESS"
        with m.If(unknown):
            m.d.sync += [result.eq(Result.UNKNOWN), answers.eq(0)]

    def _access(
        self, m: Module, done: Signal, wait: Signal, word: Signal, outcome: tuple[Signal, Signal]
    ) -> None:
        """Gather the word that is written, then access the register."""
        result, answers = outcome
        with m.If(done < _WORD_BYTES):
            m.d.sync += wait.eq(~wait[0])
            with m.If(wait == 0):
                m.d.sync += [done.eq(done + 1), word.eq(_shifted(word, self.payload))]
        with m.Else():
            m.d.comb += self.access.valid.eq(1)
        with m.If(self.access.valid & self.access.ready):
            m.d.sync += [done.eq(0), word.eq(self.data)]
            with m.If(self.refused):
                m.d.sync += [result.eq(Result.REFUSED), answers.eq(0)]
            m.next = "STATUS"

    def _status(self, m: Module, result: Signal, answers: Signal, wait: Signal) -> None:
        """The head of the reply: `wait` is 1 for its first byte."""
        reply: Any = self.reply
        head: Any = self.head.p
        m.d.comb += reply.valid.eq(1)
        with m.If(wait == 1):
            m.d.comb += reply.p.byte.eq(head.sequence)
        with m.Else():
            m.d.comb += [
                reply.p.byte.eq(result | self.interrupt << INTERRUPT_BIT),
                reply.p.last.eq(answers == 0),
            ]
        with m.If(reply.ready):
            m.d.sync += wait.eq(wait - 1)
            with m.If(wait == 0):
                m.d.sync += wait.eq(MEMORY_LATENCY)
                m.next = "PAYLOAD"
                with m.If(answers == 0):
                    m.d.comb += self.head.ready.eq(1)
                    m.next = "IDLE"

    def _payload(
        self, m: Module, done: Signal, answers: Signal, wait: Signal, word: Signal
    ) -> None:
        """The bytes behind the head of the reply."""
        reply: Any = self.reply
        head: Any = self.head.p
        greeting = Array(Const(byte, 8) for byte in self.setup.greeting.packed())
        with m.Switch(head.verb):
            with m.Case(Verb.READ):
                m.d.comb += reply.p.byte.eq(self.byte)
            with m.Case(Verb.HELLO):
                m.d.comb += reply.p.byte.eq(greeting[done])
            with m.Default():
                m.d.comb += reply.p.byte.eq(word.word_select(done[:2], 8))
        m.d.comb += [
            self.memory.valid.eq((head.verb == Verb.READ) & (wait == MEMORY_LATENCY)),
            reply.valid.eq(wait == 0),
            reply.p.last.eq(done == answers - 1),
        ]
        with m.If(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.Elif(reply.ready):
            m.d.sync += [done.eq(done + 1), wait.eq(MEMORY_LATENCY)]
            with m.If(reply.p.last):
                m.d.comb += self.head.ready.eq(1)
                m.next = "IDLE"


def _shifted(word: Signal, byte: Signal) -> Any:
    """`word` with another byte on top of it."""
    return word[8:] | byte << REGISTER_BITS - 8
