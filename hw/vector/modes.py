"""The modes of the lanes, and what each of them does in each stage of `Polynomial`."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from enum import Enum
from typing import Any, Final

from amaranth import Cat, Value
from amaranth.lib import data, enum

__all__ = [
    "CONTROLS",
    "Controls",
    "Element",
    "Factor",
    "Left",
    "Mode",
    "ModeBits",
    "Plus",
    "Result",
    "Right",
    "Times",
    "bits_of",
    "chooses",
]


class Mode(enum.Enum, shape=5):
    """What a step computes of the elements x that the first scaler leaves."""

    PASS = 0
    """The elements x themselves."""
    MAXIMUM = 1
    """The largest visible element of the row as it comes, bias included; nothing else."""
    HEADER = 2
    """The reference of the exponents of later steps, from the port `maximum` and not the row."""
    EXPONENT = 3
    """`exponent` of x less the header's; 0 if invisible."""
    NUMERATOR = 4
    """`numerators` of these exponents."""
    PROBABILITY = 5
    """`probabilities` of these exponents, by the slot's reciprocal, as the step's `kind`."""
    CONTEXT = 6
    """`context` of x, by the slot's reciprocal."""
    GELU = 7
    """`raw_gelu` of x, an int16."""
    KEEP = 8
    """Keeps x, an int16, for the next ADD or MULTIPLY."""
    ADD = 9
    """x plus what was kept, both int16, saturated to int16."""
    NORMALIZE = 10
    """`normalize_by` the slot's mean and reciprocal, and then `Affine`."""
    SILU = 11
    """`raw_silu` of x, an int16."""
    MULTIPLY = 12
    """x times what the last KEEP kept, both int16."""
    SUM = 13
    """The last MULTIPLY's product plus x times what was kept, rounded as in `rotate`."""
    DIFFERENCE = 14
    """The last MULTIPLY's product less x times what was kept, rounded as in `rotate`."""
    HARDSWISH = 15
    """`raw_hardswish` of x, an int16."""
    DITHERED = 16
    """`numerators` of these exponents, dithered; the first step behind a HEADER has column 0."""


class Element(Enum):
    """Stages 1 and 2: what becomes of x."""

    X = "x"
    REFERENCE = "x of lane 0 is the reference from now on"
    KEPT = "x is kept from now on"
    SUM = "x plus what was kept, saturated to int16"
    PAIR = "x, and above it what was kept"


class Factor(Enum):
    """Stages 1 to 8: a factor, by a quadratic."""

    NOTHING = "-"
    EXPONENT = "exp(x - reference), 0 if invisible"
    DECAY = "exp(-abs(x))"
    ERF = "erf(x) + 1"
    RAMP = "x + 3, from 0 to 6"
    HALF = "lower half of x; in its place the upper half times the reciprocal"


class Left(Enum):
    """Stages 8 to 10: what is multiplied."""

    NOTHING = "-"
    ELEMENT = "x"
    SIZE = "abs(x)"
    DISTANCE = "x - mean"
    FACTOR = "factor"
    FALL = "fall of the sigmoid"


class Right(Enum):
    """Stages 8 to 10: by what it is multiplied."""

    NOTHING = "-"
    RECIPROCAL = "reciprocal"
    SIZE = "abs(x)"
    ONE = "1"
    UNIT = "unit of numerators"
    FACTOR = "factor"
    SHARE = "share of the fall"


class Result(Enum):
    """Stages 11 and 12: what is made of that product; the square of x may count in sums."""

    CARRIED = "x"
    PRODUCT = "the product"
    NUMERATOR = "product >> 24, rounded, at most 255"
    DITHERED = "product >> 24, rounded by its column, at most 255"
    PROBABILITY = "product * one >> 32, rounded, at most one"
    CONTEXT = "(product >> 16) + x, rounded"
    NORMALIZED = "product >> 15, rounded"


class Times(Enum):
    """Stages 12 and 13: by what the result is multiplied."""

    NOTHING = "-"
    GAMMA = "gamma"
    SIGMOID = "sigmoid"
    KEPT = "what was kept"
    LESS = "minus what was kept"


class Plus(Enum):
    """Stages 14 to 16: what is added to it, before a shift and saturation."""

    NOTHING = "-"
    KEPT = "nothing; it is kept from now on"
    BETA = "beta"
    PRODUCT = "the product that was kept"


@dataclass(frozen=True, kw_only=True)
class Controls:
    """What the stages do for one mode."""

    element: Element = Element.X
    factor: Factor = Factor.NOTHING
    left: Left = Left.NOTHING
    right: Right = Right.NOTHING
    result: Result = Result.CARRIED
    times: Times = Times.NOTHING
    plus: Plus = Plus.NOTHING


CONTROLS: Final[Mapping[Mode, Controls]] = {
    Mode.PASS: Controls(left=Left.SIZE, right=Right.SIZE),
    Mode.HEADER: Controls(element=Element.REFERENCE),
    Mode.EXPONENT: Controls(
        factor=Factor.EXPONENT, left=Left.FACTOR, right=Right.ONE, result=Result.PRODUCT
    ),
    Mode.NUMERATOR: Controls(
        factor=Factor.EXPONENT, left=Left.FACTOR, right=Right.UNIT, result=Result.NUMERATOR
    ),
    Mode.DITHERED: Controls(
        factor=Factor.EXPONENT, left=Left.FACTOR, right=Right.UNIT, result=Result.DITHERED
    ),
    Mode.PROBABILITY: Controls(
        factor=Factor.EXPONENT,
        left=Left.FACTOR,
        right=Right.RECIPROCAL,
        result=Result.PROBABILITY,
    ),
    Mode.CONTEXT: Controls(
        factor=Factor.HALF, left=Left.FACTOR, right=Right.RECIPROCAL, result=Result.CONTEXT
    ),
    Mode.GELU: Controls(
        factor=Factor.ERF, left=Left.ELEMENT, right=Right.FACTOR, result=Result.PRODUCT
    ),
    Mode.KEEP: Controls(element=Element.KEPT),
    Mode.ADD: Controls(element=Element.SUM, left=Left.SIZE, right=Right.SIZE),
    Mode.NORMALIZE: Controls(
        left=Left.DISTANCE,
        right=Right.RECIPROCAL,
        result=Result.NORMALIZED,
        times=Times.GAMMA,
        plus=Plus.BETA,
    ),
    Mode.SILU: Controls(
        factor=Factor.DECAY, left=Left.FALL, right=Right.SHARE, times=Times.SIGMOID
    ),
    Mode.HARDSWISH: Controls(
        factor=Factor.RAMP, left=Left.ELEMENT, right=Right.FACTOR, result=Result.PRODUCT
    ),
    Mode.MULTIPLY: Controls(element=Element.PAIR, times=Times.KEPT, plus=Plus.KEPT),
    Mode.SUM: Controls(element=Element.PAIR, times=Times.KEPT, plus=Plus.PRODUCT),
    Mode.DIFFERENCE: Controls(element=Element.PAIR, times=Times.LESS, plus=Plus.PRODUCT),
}
"""All that differs from mode to mode.  MAXIMUM does not come to `Polynomial`."""


class ModeBits(data.StructLayout):
    """A bit for each thing that a stage may be asked to do, of which each column has one set."""

    def __init__(self) -> None:
        super().__init__({
            column.name: data.StructLayout({choice.name.lower(): 1 for choice in type(default)})
            for column, default in _columns()
        })


def _columns() -> list[tuple[Any, Enum]]:
    """The columns of `Controls` and their defaults."""
    return [(column, column.default) for column in fields(Controls)]


def chooses(mode: "Value | enum.EnumView[Mode]", *choices: Enum) -> Value:
    """Whether any of `choices` is what the controls of `mode` say."""
    modes = [known for known, controls in CONTROLS.items() if {*choices} & {*astuple(controls)}]
    return Cat(mode == known for known in modes).any()


def bits_of(mode: "Value | enum.EnumView[Mode]") -> data.View:
    """The controls of `mode`, as `ModeBits`."""
    choices = [choice for _, default in _columns() for choice in type(default)]
    return ModeBits()(Cat(chooses(mode, choice) for choice in choices))
