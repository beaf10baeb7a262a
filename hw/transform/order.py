"""When a TRANSFORM may follow those whose steps are still in the lanes."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.lib.component import Component
from celosia.hw.transform.reader import TransformReader
from celosia.hw.vector.scaler import Scaler
from celosia.hw.vector.steps import LaneConstants, Normalization
from celosia.isa.config import AcceleratorConfig
from celosia.isa.functions.table import FUNCTIONS

__all__ = ["ALIKE_ROWS", "FINISHING", "TransformOrder"]

PARAMETERS_APART = 12
"""Cycles after which what a step reads early, biases 2 cycles before it enters the lanes and scales
2 after, cannot meet gammas and betas of a step of one part before it, 10 and 12 after; nor can
these meet scales of results, 18 after."""
CONSTANTS_USED = TransformReader.LATENCY + Scaler.LATENCY + 11
"""Cycles from a step of one part that is accepted until it has used the last constant."""
MAXIMUM_WRITTEN = 3
"""Cycles after which a maximum is written that a step has changed, and those of the tree."""
SUMS_WRITTEN = Scaler.LATENCY + 4
"""Cycles from the last part of a row that counts until the first one of another row with the same
slot may enter the lanes: that one may be raw, and the other one not."""
ALIKE_ROWS = 16
"""The fewest rows of an operation that keep steps of the same row far enough apart."""
FINISHING = 4
"""Operations whose sums are complete, but not all facts derived from them."""


class TransformOrder(Component):
    """Compares the next operation with those before it, in what they share beside local rows.

    Local rows are the business of `celosia.hw.issue.hazards`.  The next operation waits

    - for facts, until those of all rows are derived of every operation that finishes one of its
      slots; also to count again in such a slot;
    - to change or read a maximum, or to count, until the slots are written of operations before it
      that change one of them.  It need not wait for the one right before it if that one has the
      same slots, of at least `ALIKE_ROWS` rows, and does not finish them: the steps of each row are
      as many cycles apart;
    - to finish sums, while `FINISHING` operations do, or one of another kind or `Normalization`;
    - for constants of exponents or GELU, unless they stay, until no step uses them any more;
    - for a port of the parameter memory: with biases, or scales of the source, until steps of
      LAYERNORM, and as LAYERNORM until steps with scales of the result have read theirs.

    Otherwise it follows without a pause.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes`` and ``statistics_rows``.

    Members
    -------
    op : ``In(TransformOp(config))``
        The next operation.
    taken : ``In(1)``
        It begins, in this cycle: its first step is on offer from the next one on.
    accepted : ``In(1)``
        The step on offer goes on its way, of the operation that was taken last.
    last : ``In(1)``
        The last one of it.
    derived : ``In(1)``
        All facts of another row are there.
    waits : ``Out(1)``
        The next operation may not begin.
    constants : ``Out(LaneConstants())``
        Constants of the steps in the lanes.
    norm : ``Out(Normalization())``
        What facts are derived with of rows whose squares are counted.
    """

    op: data.View
    taken: Annotated[Signal, In(1)]
    accepted: Annotated[Signal, In(1)]
    last: Annotated[Signal, In(1)]
    derived: Annotated[Signal, In(1)]
    waits: Annotated[Signal, Out(1)]
    constants: Annotated[data.View, Out(LaneConstants())]
    norm: Annotated[data.View, Out(Normalization())]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        self._later_parts = config.row_parts - 1
        """Cycles in which parts of a step enter the lanes behind the first one."""
        op = TransformOp(config)
        super().__init__({"op": In(op)})

    def elaborate(self, platform) -> Module:
        m = Module()
        walking = Signal()  # Steps of the operation taken last are still to be accepted.
        with m.If(self.taken):
            m.d.sync += walking.eq(1)
        with m.Elif(self.accepted & self.last):
            m.d.sync += walking.eq(0)
        needs = self._needs(m)
        own = _Slots(self.op.slot, (self.op.slot + self.op.rows - 1)[: len(self.op.slot)])
        conditions = [
            self._constants_wait(m, needs, walking),
            self._parameters_wait(m, needs, walking),
            self._slots_wait(m, needs, own, walking),
            self._facts_wait(m, needs, own),
        ]
        m.d.comb += self.waits.eq(Cat(conditions).any())
        return m

    def _needs(self, m: Module) -> Any:
        """What the next operation does, of what matters here."""
        op = self.op
        needs = Signal(_NEEDS, name="needs")
        function = {name: Signal(name=f"has_{name}") for name in _FUNCTION_NEEDS}
        with m.Switch(op.function):
            for known, traits in FUNCTIONS.items():
                with m.Case(known):
                    m.d.comb += [
                        function["counts"].eq(traits.counted | (op.moments & traits.moments)),
                        function["squares"].eq(traits.moments),
                        function["maximum"].eq(traits.maximum),
                        function["headed"].eq(traits.headed),
                        function["facts"].eq(traits.facts),
                        function["constant"].eq(traits.constants is not None),
                        function["biased"].eq(op.bias & ~op.staged),
                        function["scales_in"].eq(op.column_scale & traits.column_scaled),
                        function["scales_out"].eq(op.column_scale & traits.column_rescaled),
                        function["normalizes"].eq(traits.normalizes),
                    ]
        m.d.comb += [needs[name].eq(value) for name, value in function.items()]
        return needs

    def _constants_wait(self, m: Module, needs: Any, walking: Value) -> Value:
        used = self._recent(
            m, "constant", needs.constant, CONSTANTS_USED + self._later_parts, walking
        )
        with m.If(self.taken & needs.constant):
            m.d.sync += self.constants.eq(self.op.constants)
        stay = self.constants.as_value() == self.op.constants.as_value()
        return needs.constant & ~stay & used

    def _parameters_wait(self, m: Module, needs: Any, walking: Value) -> Value:
        apart = PARAMETERS_APART + self._later_parts
        normalizes = self._recent(m, "normalizes", needs.normalizes, apart, walking)
        scales_out = self._recent(m, "scales_out", needs.scales_out, apart, walking)
        return (normalizes & (needs.biased | needs.scales_in)) | (scales_out & needs.normalizes)

    def _slots_wait(self, m: Module, needs: Any, own: "_Slots", walking: Value) -> Value:
        """Whether the next operation waits for maxima or sums on their way to its slots."""
        writes = needs.maximum | needs.counts
        finds = MAXIMUM_WRITTEN + -(-(self.config.dim - 1).bit_length() // 2)
        recent = self._recent(m, "finds", needs.maximum, finds, walking) | self._recent(
            m, "counts", needs.counts, SUMS_WRITTEN + self._later_parts, walking
        )
        hull = _Slots(*(Signal.like(self.op.slot, name=f"written_{n}") for n in ("first", "last")))
        before = Signal.like(self.op.slot, name="slot_before", reset_less=True)
        rows = Signal.like(self.op.rows, name="rows_before", reset_less=True)
        finished = Signal(reset_less=True)
        with m.If(self.taken & writes):
            m.d.sync += [
                hull.first.eq(Mux(recent & (hull.first < own.first), hull.first, own.first)),
                hull.last.eq(Mux(recent & (hull.last > own.last), hull.last, own.last)),
                before.eq(own.first),
                rows.eq(self.op.rows),
                finished.eq(needs.counts & self.op.finish),
            ]
        alike = (before == own.first) & (rows == self.op.rows) & (rows >= ALIKE_ROWS) & ~finished
        return (writes | needs.headed) & recent & hull.meets(own) & ~alike

    def _facts_wait(self, m: Module, needs: Any, own: "_Slots") -> Value:
        """Whether the next operation waits for rows whose sums are complete, but not the facts."""
        op = self.op
        finishes = needs.counts & op.finish
        squares = Signal(reset_less=True)  # Of all that finish.
        add, first = Signal(range(FINISHING)), Signal(range(FINISHING))
        valid, meets, left_of = [], [], []
        for number in range(FINISHING):
            slots = _Slots(
                *(
                    Signal.like(op.slot, name=f"finishing_{number}_{end}", reset_less=True)
                    for end in ("first", "last")
                )
            )
            used = Signal(name=f"finishing_{number}")
            left = Signal.like(op.slot, name=f"finishing_{number}_left", reset_less=True)
            with m.If(self.taken & finishes & (add == number)):
                m.d.sync += [
                    used.eq(1),
                    slots.first.eq(own.first),
                    slots.last.eq(own.last),
                    left.eq(op.rows - 1),
                ]
            with m.If(self.derived & (first == number)):
                m.d.sync += left.eq(left - 1)
                with m.If(left == 0):
                    m.d.sync += [used.eq(0), first.eq(first + 1)]
            valid.append(used)
            left_of.append(left)
            meets.append(used & slots.meets(own))
        with m.If(self.taken & finishes):
            m.d.sync += [add.eq(add + 1), squares.eq(needs.squares)]
            with m.If(needs.squares):
                m.d.sync += self.norm.eq(op.norm)
        another = self.norm.as_value() != op.norm.as_value()
        other = (squares != needs.squares) | (needs.squares & another)
        blocked = Cat(valid).all() | (Cat(valid).any() & other)
        return ((needs.facts | needs.counts) & Cat(meets).any()) | (finishes & blocked)

    def _recent(self, m: Module, name: str, event: Value, cycles: int, walking: Value) -> Value:
        """Whether an operation of which `event` is true still has steps, or had them lately."""
        is_one = Signal(name=f"last_{name}", reset_less=True)
        left = Signal(range(cycles + 1), name=f"{name}_left")
        with m.If(self.taken):
            m.d.sync += is_one.eq(event)
        with m.If(self.accepted & is_one):
            m.d.sync += left.eq(cycles)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        return (walking & is_one) | (left != 0)


class _Slots:
    """The slots `first` to `last`."""

    def __init__(self, first: Value, last: Value):
        self.first = first
        self.last = last

    def meets(self, other: "_Slots") -> Value:
        """Whether there is a common one."""
        return (self.first <= other.last) & (other.first <= self.last)


_FUNCTION_NEEDS = (
    "counts",
    "squares",
    "maximum",
    "headed",
    "facts",
    "constant",
    "biased",
    "scales_in",
    "scales_out",
    "normalizes",
)
_NEEDS = data.StructLayout(dict.fromkeys(_FUNCTION_NEEDS, unsigned(1)))
