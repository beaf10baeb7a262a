"""Operations: commands with their configuration resolved, and the rules of what they may name."""

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.isa.address import LocalAddress
from celosia.isa.bert import Passing
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.operations.transforms import Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.pooling import Pooling

__all__ = [
    "Load",
    "LoadParameters",
    "Operand",
    "Operation",
    "Product",
    "Resident",
    "Store",
]


def _memory_rows(accumulator: bool, config: AcceleratorConfig) -> int:
    return config.accumulator_rows if accumulator else config.scratchpad_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class _Transfer:
    """Rows that move: row r, block b of `dim` columns is local row ``row + r + b*pitch``."""

    address: int
    """Byte address of the first row in memory."""
    stride: int
    """Bytes from one row in memory to the next; a row's address is modulo 2^64."""
    local: LocalAddress
    rows: int
    cols: int
    pitch: int

    @property
    def wide(self) -> bool:
        """Elements are int32 in memory."""
        raise NotImplementedError

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in memory."""
        return ACC_BYTES if self.wide else 1

    def blocks(self, dim: int) -> int:
        """Blocks of `dim` columns, the last one perhaps short."""
        return -(-self.cols // dim)

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that this transfer breaks.  At least one column moves."""
        if self.cols > config.blocks_of(self.element_bytes) * config.dim:
            return Cause.SHAPE
        last = self.local.row + self.rows - 1 + (self.blocks(config.dim) - 1) * self.pitch
        if self.rows and last >= _memory_rows(self.local.accumulator, config):
            return Cause.LOCAL_RANGE
        return Cause.NONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Load(_Transfer):
    """Rows from memory into the scratchpad or the accumulator."""

    shrunk: bool
    scale: int
    """Bits of a float32, for elements that are int8 in memory."""
    wait: TokenWait | None = None
    """Stores that must have finished before."""
    repeats: int = 1
    """Copies of each row: copy q goes to local row ``row + r - q``, from column ``q * cols`` on,
    but not below `floor`."""

    @property
    def wide(self) -> bool:
        """Elements are int32 in memory, not int8."""
        return self.local.accumulator and not self.shrunk

    @property
    def zero(self) -> bool:
        """Nothing is read: the elements are zeros."""
        return self.address == 0

    def floor(self, config: AcceleratorConfig) -> int:
        """The first row of the half of the scratchpad that the destination begins in."""
        half = config.scratchpad_rows // 2
        return half if self.local.row >= half else 0

    def first(self, config: AcceleratorConfig) -> int:
        """The lowest row that is written."""
        return max(self.local.row - (self.repeats - 1), min(self.local.row, self.floor(config)))

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that this transfer breaks."""
        if self.repeats > 1 and self.cols * self.repeats > config.dim:
            return Cause.SHAPE
        return _Transfer.check(self, config)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadParameters:
    """Consecutive int32 from memory into parameter rows."""

    address: int
    row: int
    count: int
    wait: TokenWait | None = None
    """Stores that must have finished before."""

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that this transfer breaks."""
        fits = self.row + -(-self.count // config.dim) <= config.parameter_rows
        return Cause.NONE if fits else Cause.LOCAL_RANGE


@dataclass(frozen=True, kw_only=True, slots=True)
class Store(_Transfer):
    """Rows of the scratchpad or of the accumulator to memory."""

    scale: int
    """Bits of a float32, for int8 or int16 from the accumulator."""
    relu: bool
    bias_row: int | None
    """Parameter row that is added to block 0; None: no bias."""
    int16: bool = False
    """Elements are int16 in memory: scaled, from the accumulator."""
    signal: int | None = None
    """The counter that it adds to when it has finished."""
    pooling: Pooling | None = None
    """What leaves is not the rows, but their maxima; `rows` counts those of the image."""
    passing: Passing | None = None
    """None: the rows are from the scratchpad, or leave as int32, or nothing of this is built."""

    @property
    def silent(self) -> bool:
        """It writes nothing to memory."""
        return self.passing is not None and self.passing.silent

    @property
    def wide(self) -> bool:
        """Elements are int32 in memory."""
        return self.local.accumulator and self.local.full

    @property
    def element_bytes(self) -> int:
        """Bytes of an element in memory."""
        return ACC_BYTES if self.wide else 1 + self.int16

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that this transfer breaks."""
        if self.pooling is not None and self.cols > config.dim:
            return Cause.SHAPE
        if cause := _Transfer.check(self, config):
            return cause
        first = self.bias_row
        if first is not None and first + self.blocks(config.dim) > config.parameter_rows:
            return Cause.LOCAL_RANGE
        pools = self.pooling is not None
        unknown = self.local.norm and (self.passing is None or pools)
        return Cause.UNSUPPORTED if unknown or (pools and self.element_bytes > 1) else Cause.NONE


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """A matrix in a local memory: its line i is row ``local.row + i*stride``."""

    local: LocalAddress
    rows: int
    """Logical rows and columns: those of the matrix after transposition."""
    cols: int
    stride: int = 1
    transposed: bool = False
    fold: int | None = None
    """Elements are int4: line `fold` + i stands in the upper halves of the bytes of line i."""

    @property
    def lines(self) -> int:
        """Local rows that hold the matrix."""
        lines = self.cols if self.transposed else self.rows
        return lines if self.fold is None else min(lines, self.fold)

    @property
    def last(self) -> int:
        """Row number of the last line; below `local.row` if there is none."""
        return self.local.row + (self.lines - 1) * self.stride if self.lines else -1

    def exists(self, config: AcceleratorConfig) -> bool:
        """Whether every line is in its memory."""
        return self.last < _memory_rows(self.local.accumulator, config)

    def overlaps(self, other: "Operand") -> bool:
        """Whether the ranges from first to last line of the two meet in the scratchpad."""
        return (
            not (self.local.accumulator or other.local.accumulator)
            and self.local.row <= other.last
            and other.local.row <= self.last
        )

    def replaces(self, other: "Operand") -> bool:
        """Whether line i of this is line i of the other one."""
        return self.local.row == other.local.row and self.stride == other.stride


@dataclass(frozen=True, kw_only=True, slots=True)
class Resident:
    """What an output-stationary product does with the array's sums, which it adds A*B to."""

    start: bool
    """The sums begin as D (or zeros)."""
    shift: int
    """Right shift of what is written to C."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """``C = A*W + D``; a missing A or D counts as zeros, a missing C is not written."""

    load_weights: bool
    """Put `w`, or zeros, into the array first."""
    a: Operand | None
    w: Operand | None
    d: Operand | None
    c: Operand | None
    a_unsigned: bool
    relu: bool
    """Whether results that are written to the scratchpad pass ReLU."""
    resident: Resident | None = None
    """What becomes of the array's sums if the product is output-stationary, else None."""

    def check(self, config: AcceleratorConfig) -> Cause:
        """The first rule that this product breaks."""
        # Nearly all commands of a program are products: written without a generator for each rule.
        sources = [operand for operand in (self.a, self.w, self.d) if operand is not None]
        for operand in sources:
            if operand.local.accumulator:
                return Cause.UNSUPPORTED
        operands = sources if self.c is None else [*sources, self.c]
        if not self._fits_array(operands, config.dim):
            return Cause.SHAPE
        for operand in operands:
            if not operand.exists(config):
                return Cause.LOCAL_RANGE
        for operand in sources:
            if self._spoils(operand):
                return Cause.OVERLAP
        return Cause.NONE

    def _spoils(self, source: Operand) -> bool:
        """Whether C is written where the source may still be read."""
        if self.c is None or not self.c.overlaps(source):
            return False
        return self.resident is None or not self.c.replaces(source)

    def _fits_array(self, operands: Sequence[Operand], dim: int) -> bool:
        if self.resident and any(x and x.rows > dim for x in (self.a, self.c, self.d)):
            return False
        if self.w is not None and self.w.rows > dim:
            return False
        if self.a is not None and self.a.transposed and self.a.rows > dim:
            return False
        return all(operand.cols <= dim for operand in operands)


Operation = Load | LoadParameters | Store | Product | Transform
