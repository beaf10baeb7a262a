"""The parts of a row: how a step enters the lanes, and how its results become a row again."""

from collections.abc import Sequence

from amaranth import Array, Cat, Const, Module, Signal, Value, unsigned

from celosia.isa.config import AcceleratorConfig

__all__ = ["RowGatherer", "RowParts", "parameter_part", "part_shape"]


def part_shape(config: AcceleratorConfig):
    """The shape of the number of a part of a row; where rows have one part, it is 0."""
    return unsigned(max(1, (config.row_parts - 1).bit_length()))


def parameter_part(config: AcceleratorConfig, row: Value, part: Value) -> Value:
    """What reads this `part` of the parameter row `row` by a `ParameterRead`."""
    return row if config.row_parts == 1 else Cat(part, row)


class RowParts:
    """The parts of the steps that are sampled in a cycle with `start`, from the next cycle on.

    A step up to its part `last_part`, numbered from 0, enters in as many cycles; the next one
    starts no earlier than in the cycle in which the last part enters.

    Attributes: `enters`, there is a part in this cycle; `number`, which one it is; `last`, it is
    its step's last one.
    """

    def __init__(self, m: Module, config: AcceleratorConfig, start: Value, last_part: Value):
        self._parts = config.row_parts
        self.enters = Signal(name="part_enters")
        self.number = Signal(part_shape(config), name="part")
        self.last: Value = Const(1)
        m.d.sync += self.enters.eq(start)
        if self._parts > 1:
            left = Signal(range(self._parts), name="parts_left")
            self.last = left == 0
            with m.If(start):
                m.d.sync += [left.eq(last_part), self.number.eq(0)]
            with m.Elif(~self.last):
                m.d.sync += [self.enters.eq(1), left.eq(left - 1), self.number.eq(self.number + 1)]

    def of(self, row: Sequence[Value] | Value) -> list[Value]:
        """The elements of `row` that enter."""
        row, lanes = list(row), len(row) // self._parts
        if self._parts == 1:
            return row
        return [Array(row[lane::lanes])[self.number] for lane in range(lanes)]


class RowGatherer:
    """Rows made of parts that come in order, in the cycles with `valid`; a row ends with `last`.

    They stand a cycle later, until a part of another one comes.

    Attributes: `valid`, the last part of a row is there, in this cycle first; `row`, its elements;
    `marked`, a part of it came with `mark`, if there is one.
    """

    def __init__(
        self,
        m: Module,
        config: AcceleratorConfig,
        valid: Value,
        last: Value,
        part: Sequence[Value],
        mark: Value | None = None,
    ):
        number = Signal(range(config.row_parts), name="gathered_part")
        self.valid = Signal(name="gathered")
        m.d.sync += self.valid.eq(valid & last)
        with m.If(valid & last):
            m.d.sync += number.eq(0)
        with m.Elif(valid):
            m.d.sync += number.eq(number + 1)
        self.marked: Value = Const(0, 1)
        if mark is not None:
            self.marked = marked = Signal(name="gathered_mark", reset_less=True)
            with m.If(valid):
                m.d.sync += marked.eq(mark | ((number != 0) & marked))
        self.row: list[Value] = []
        for place in range(config.row_parts):
            for lane, element in enumerate(part):
                name = f"gathered_{place * len(part) + lane}"
                gathered = Signal(element.shape(), name=name, reset_less=True)
                with m.If(valid & (number == place)):
                    m.d.sync += gathered.eq(element)
                self.row.append(gathered)
