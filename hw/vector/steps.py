"""What the lanes do with a row: the control that travels with it."""

from amaranth import Cat, Mux, Value, signed, unsigned
from amaranth.hdl import ValueLike
from amaranth.lib import data, enum

from celosia.hw.memory.ports import row_shape
from celosia.hw.vector.parts import part_shape
from celosia.hw.vector.scaler import ScaleRequest
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EXPONENT, CONFIG_GELU, ElementType, Instruction
from celosia.isa.numerics import MAX_COLUMNS
from celosia.isa.numerics.normalization import EPSILON_BITS, MEAN_BITS
from celosia.isa.numerics.rotation import ROTATION_FRACTION_BITS

__all__ = [
    "LaneConstants",
    "LaneStep",
    "Mode",
    "Normalization",
    "PolynomialFlags",
    "PolynomialRequest",
    "RowFacts",
    "RowSpan",
    "packed",
    "polynomial_request",
]


class Mode(enum.Enum, shape=4):
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


class RowSpan(data.StructLayout):
    """Where in its row a step is, for what is found of whole rows."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "first": 1,  # Of this row.
            "last": 1,  # The row's slot is written.
            "start": 1,  # The first step takes no account of what the slot has.
            "finish": 1,  # Passed on with the slot: the row is complete.
            "slot": row_shape(config.statistics_rows),
        })


class LaneStep(data.StructLayout):
    """A step: a row of ``dim`` elements, and what becomes of them.

    Fields whose mode does not use them are ignored.
    """

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "mode": Mode,
            "result": 1,  # It has one.  Not with MAXIMUM, HEADER or KEEP.
            "counted": 1,  # PASS, EXPONENT, NUMERATOR or ADD: its elements count in the sums.
            "biased": 1,  # Add `bias` first.
            "last_part": part_shape(config),  # The number of the last part that has elements.
            "visible": unsigned(config.dim),  # Elements that count in a maximum or a sum.
            "span": RowSpan(config),
            "scaling": ScaleRequest(config),  # Of the first scaler: raw, or to int16.
            "scaling2": ScaleRequest(config),  # Of the second one.
            # ElementType of PROBABILITY, and of the lower and the upper half of NORMALIZE.
            "kind": unsigned(2),
            "kind2": unsigned(2),
            "shift": unsigned(5),  # Of the lower and of the upper half of NORMALIZE.
            "shift2": unsigned(5),
            "gamma_row": row_shape(config.parameter_rows),  # Beta is in the row behind.
        })


def _constants(instruction: Instruction) -> data.StructLayout:
    return data.StructLayout({field.name: unsigned(field.bits) for field in instruction.operands})


class LaneConstants(data.StructLayout):
    """The constants of the polynomials; they stand still while anything inside uses them."""

    def __init__(self) -> None:
        super().__init__({
            "exponent": _constants(CONFIG_EXPONENT),
            "gelu": _constants(CONFIG_GELU),
        })


class RowFacts(data.StructLayout):
    """What is derived from the sums of a row."""

    def __init__(self) -> None:
        super().__init__({"mean": signed(MEAN_BITS), "reciprocal": unsigned(32)})


class Normalization(data.StructLayout):
    """How facts are derived from the sums of a row whose squares are counted."""

    def __init__(self) -> None:
        super().__init__({
            "channels": range(MAX_COLUMNS + 1),  # Elements of the row.
            "epsilon": unsigned(EPSILON_BITS),  # Added to the sum of squared distances.
            "rms": 1,  # The mean counts as 0.
        })


class PolynomialFlags(data.StructLayout):
    """What the stages of `Polynomial` want to know of a mode."""

    def __init__(self) -> None:
        super().__init__({
            "quadratic": 1,  # It begins with `Quadratic`: of an upper half,
            "magnitude": 1,  # of the element's magnitude, not of its distance from a header's.
            "exponential": 1,  # It begins with an exponent, 0 if invisible, and the exponent
            "plain": 1,  # is the result,
            "numerator": 1,  # or is scaled,
            "probability": 1,  # or is divided.
            "gelu": 1,
            "sigmoid": 1,  # The element times its sigmoid is the result,
            "kept": 1,  # or times what was kept,
            "paired": 1,  # together with the product before,
            "less": 1,  # from which it is taken.
            "context": 1,
            "normalize": 1,
            "facts": 1,  # It needs those of the row.
            "carried": 1,  # The element itself is the result, or a factor of it.
            "squared": 1,  # Its square counts.
            "multiplied": 1,  # By the wide multiplier.
        })


class PolynomialRequest(data.StructLayout):
    """What becomes of a row in `Polynomial`; at most 64 bits."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "flags": PolynomialFlags(),
            "header": 1,
            "keep": 1,
            "add": 1,
            "kind": unsigned(2),
            "kind2": unsigned(2),
            "shift": unsigned(5),
            "shift2": unsigned(5),
            "gamma_row": row_shape(config.parameter_rows),
            "slot": row_shape(config.statistics_rows),
        })


def polynomial_request(config: AcceleratorConfig, step: data.View) -> data.View:
    """What `step` asks of `Polynomial`."""

    def among(*modes: Mode) -> Value:
        return Cat(step.mode == mode for mode in modes).any()

    carried = among(Mode.PASS, Mode.ADD)
    squared = carried & step.counted
    exponential = among(Mode.EXPONENT, Mode.NUMERATOR, Mode.PROBABILITY)
    magnitude = among(Mode.GELU, Mode.SILU)
    paired = among(Mode.SUM, Mode.DIFFERENCE)
    kept = paired | among(Mode.MULTIPLY)
    facts = among(Mode.PROBABILITY, Mode.CONTEXT, Mode.NORMALIZE)
    flags = packed(
        PolynomialFlags(),
        quadratic=exponential | magnitude | among(Mode.CONTEXT),
        magnitude=magnitude,
        exponential=exponential,
        plain=among(Mode.EXPONENT),
        numerator=among(Mode.NUMERATOR),
        probability=among(Mode.PROBABILITY),
        gelu=among(Mode.GELU),
        sigmoid=among(Mode.SILU),
        kept=kept,
        paired=paired,
        less=among(Mode.DIFFERENCE),
        context=among(Mode.CONTEXT),
        normalize=among(Mode.NORMALIZE),
        facts=facts,
        carried=carried | kept | among(Mode.SILU, Mode.KEEP),
        squared=squared,
        multiplied=exponential | facts | squared | magnitude,
    )
    return packed(
        PolynomialRequest(config),
        flags=flags,
        header=among(Mode.HEADER),
        keep=among(Mode.KEEP),
        add=among(Mode.ADD),
        **{name: Mux(paired, ElementType.INT16, step[name]) for name in ("kind", "kind2")},
        **{name: Mux(paired, ROTATION_FRACTION_BITS, step[name]) for name in ("shift", "shift2")},
        gamma_row=step.gamma_row,
        slot=step.span.slot,
    )


def packed(layout: data.StructLayout, **fields: ValueLike) -> data.View:
    """A value of `layout`, whose fields have these values, each of its exact width."""
    assert fields.keys() == layout.members.keys()
    values = {name: Value.cast(value) for name, value in fields.items()}
    for name, field in layout:
        assert len(values[str(name)]) == field.width, f"{name} has another width"
    return layout(Cat(values[str(name)] for name, _ in layout))
