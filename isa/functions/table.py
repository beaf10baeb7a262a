"""The functions of TRANSFORM: all that is known of one stands in its entry of `FUNCTIONS`.

The encoding, the rules of operands, the decoder and the lanes of the hardware, the timeline, the
simulators and the documents derive from the entries.  A function that needs a value of its own
adds a member of `Function` and an entry here.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from celosia.isa.functions import meanings
from celosia.isa.functions.meanings import Meaning
from celosia.isa.functions.types import ElementType
from celosia.isa.numerics.activation import GELU_CURVE, HARDSWISH_CURVE, SILU_CURVE, Curve

__all__ = ["ACTIVATIONS", "COMBINATIONS", "FUNCTIONS", "Function", "TransformFunction"]


class Function(IntEnum):
    """What a TRANSFORM computes; the value is that of its field in CONFIG_TRANSFORM."""

    REQUANTIZE = 0
    MAXIMUM = 1
    EXPONENT = 2
    SUM = 3
    PROBABILITY = 4
    CONTEXT = 5
    GELU = 6
    RESIDUAL = 7
    MOMENTS = 8
    LAYERNORM = 9
    SILU = 10
    MULTIPLY = 11
    ROTATE = 12
    HARDSWISH = 13
    DITHERED_EXPONENT = 14


@dataclass(frozen=True, kw_only=True)
class TransformFunction:
    """All that is known of one function."""

    doc: str
    """What it computes, for documents."""
    meaning: Meaning
    """What it computes, on arrays."""
    mode: str
    """The name of what the lanes do in the steps of its blocks (`celosia.hw.vector.modes.Mode`)."""
    types: tuple[ElementType, ...] = ()
    """What its results may be; none: it only changes statistics."""
    staged: bool = False
    """Its source are rows of int16 in the scratchpad, not int32 of the accumulator."""
    takes_int16: bool = False
    """Its source may be either; int16 that are scores are scaled already, only the maximum of their
    row is not."""
    second: str | None = None
    """What the lanes do in a second step of each block, with int16 rows beside the source."""
    rotates: bool = False
    """Its rows are two halves: each block takes two more steps, with the block half a row away of
    each operand."""
    scores: bool = False
    """Its source are scores: masked, and scaled by one positive finite number."""
    scaled: bool = False
    """The scaler before the polynomial makes int16 of the source."""
    rescaled: bool = False
    """The scaler behind the polynomial makes the type of the result."""
    maximum: bool = False
    """It changes the slot's maximum."""
    counted: bool = False
    """Its elements always count in the row's sums."""
    moments: bool = False
    """It counts moments: elements and their squares; if not `counted`, where the command says so.
    """
    facts: bool = False
    """It needs what is derived from complete sums."""
    normalizes: bool = False
    """It takes gammas and betas, and may have a second result."""
    constants: str | None = None
    """The name of the instruction that sets its constants."""
    curve: Curve | None = None
    """What it computes of each element, if that depends on nothing else."""

    @property
    def result(self) -> bool:
        """Whether it writes rows."""
        return bool(self.types)

    @property
    def paired(self) -> bool:
        """Whether it takes a second operand, int16: each block takes two steps in the lanes."""
        return self.second is not None

    @property
    def turns(self) -> int:
        """Steps of the lanes that a block takes."""
        return (2 if self.paired else 1) * (2 if self.rotates else 1)

    @property
    def scalings(self) -> int:
        """Turns of the lanes' scaler that an element takes, at most."""
        return self.scaled + self.rescaled

    @property
    def masked(self) -> bool:
        """Whether only visible columns count."""
        return self.scores

    @property
    def headed(self) -> bool:
        """Whether each row begins with a step of the lanes that reads its maximum."""
        return self.scores and not self.maximum

    @property
    def statistics(self) -> bool:
        """Whether it always reads or changes the rows' statistics."""
        return self.maximum or self.counted or self.facts or self.headed

    @property
    def begins(self) -> bool:
        """Whether it can begin a row's statistics, if a command starts them."""
        return self.maximum or self.moments

    @property
    def column_scaled(self) -> bool:
        """Whether the first scaler's scale may be one for each column."""
        return self.scaled and not self.scores

    @property
    def column_rescaled(self) -> bool:
        """Whether the second scaler's scale may be, which is then the first one of the command."""
        return self.rescaled and not self.scaled and not self.staged


_BYTES: Final = (ElementType.INT8, ElementType.UINT8)
_NARROW: Final = (*_BYTES, ElementType.INT16)
_SIGNED: Final = (ElementType.INT8, ElementType.INT16)


def _curve(curve: Curve, *, mode: str, constants: str | None = None) -> TransformFunction:
    """The entry of a curve: what enters it and what leaves it are scaled."""
    doc = f"{curve.name} of the accumulator as int16 with {curve.fraction_bits} fraction bits"
    return TransformFunction(
        doc=f"{doc}, requantized.",
        meaning=meanings.curve(curve),
        mode=mode,
        types=_NARROW,
        scaled=True,
        rescaled=True,
        constants=constants,
        curve=curve,
    )


def _numerators(doc: str, *, meaning: Meaning, mode: str) -> TransformFunction:
    """The entry of a function that makes numerators of scores."""
    return TransformFunction(
        doc=doc,
        meaning=meaning,
        mode=mode,
        types=(ElementType.UINT8,),
        takes_int16=True,
        scores=True,
        scaled=True,
        counted=True,
        constants="config_exponent",
    )


FUNCTIONS: Final[dict[Function, TransformFunction]] = {
    Function.REQUANTIZE: TransformFunction(
        doc="The accumulator, biased and scaled, to another type; int32 is not scaled.",
        meaning=meanings.requantize,
        mode="PASS",
        types=tuple(ElementType),
        rescaled=True,
    ),
    Function.MAXIMUM: TransformFunction(
        doc="The largest visible score of each row.",
        meaning=meanings.maximum,
        mode="MAXIMUM",
        scores=True,
        maximum=True,
    ),
    Function.EXPONENT: _numerators(
        "The numerators of a softmax, 0 to 255, and the sum of each row's.",
        meaning=meanings.exponent,
        mode="NUMERATOR",
    ),
    Function.SUM: TransformFunction(
        doc="The sum of the exponents of each row.",
        meaning=meanings.total,
        mode="EXPONENT",
        scores=True,
        scaled=True,
        counted=True,
        constants="config_exponent",
    ),
    Function.PROBABILITY: TransformFunction(
        doc="Exponents over the sum of their row.",
        meaning=meanings.probability,
        mode="PROBABILITY",
        types=_NARROW,
        scores=True,
        scaled=True,
        facts=True,
        constants="config_exponent",
    ),
    Function.CONTEXT: TransformFunction(
        doc="A product with numerators over the sum of their row, requantized.",
        meaning=meanings.context,
        mode="CONTEXT",
        types=_NARROW,
        rescaled=True,
        facts=True,
    ),
    Function.GELU: _curve(GELU_CURVE, mode="GELU", constants="config_gelu"),
    Function.RESIDUAL: TransformFunction(
        doc="The accumulator, or int16 rows, plus int16 rows, each with its scale; may count as "
        "moments.",
        meaning=meanings.residual,
        mode="KEEP",
        types=(ElementType.INT16,),
        takes_int16=True,
        second="ADD",
        scaled=True,
        moments=True,
    ),
    Function.MOMENTS: TransformFunction(
        doc="The sums of elements and of their squares.",
        meaning=meanings.moments,
        mode="PASS",
        staged=True,
        counted=True,
        moments=True,
    ),
    Function.LAYERNORM: TransformFunction(
        doc="Rows normalized by their moments, times gamma plus beta; one or two results.",
        meaning=meanings.layernorm,
        mode="NORMALIZE",
        types=_SIGNED,
        staged=True,
        facts=True,
        normalizes=True,
    ),
    Function.SILU: _curve(SILU_CURVE, mode="SILU", constants="config_exponent"),
    Function.MULTIPLY: TransformFunction(
        doc="Rows of int16 times others, element by element, requantized.",
        meaning=meanings.multiply,
        mode="KEEP",
        second="MULTIPLY",
        types=_NARROW,
        staged=True,
        rescaled=True,
    ),
    Function.ROTATE: TransformFunction(
        doc="Rows of int16 whose halves a, b become a cos - b sin, b cos + a sin, requantized; "
        "beside them cos, sin.",
        meaning=meanings.rotate,
        mode="KEEP",
        second="MULTIPLY",
        rotates=True,
        types=_NARROW,
        staged=True,
        rescaled=True,
    ),
    Function.HARDSWISH: _curve(HARDSWISH_CURVE, mode="HARDSWISH"),
    Function.DITHERED_EXPONENT: _numerators(
        "The same numerators, rounded by their columns, 16 by 16, so that small ones together lose "
        "nothing, and the sum of each row's.",
        meaning=meanings.dithered_exponent,
        mode="DITHERED",
    ),
}

ACTIVATIONS: Final[dict[str, Curve]] = {
    function.name.lower(): entry.curve
    for function, entry in FUNCTIONS.items()
    if entry.curve is not None
}
"""The functions that are curves, by name."""

COMBINATIONS: Final[dict[str, Function]] = {
    function.name.lower(): function
    for function, entry in FUNCTIONS.items()
    if entry.paired and entry.staged
}
"""The functions of two matrices of int16 of the same shape, by name."""
