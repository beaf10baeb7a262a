"""What the lanes do with a row: the control that travels with it."""

from amaranth import Cat, Mux, Value, signed, unsigned
from amaranth.hdl import ValueLike
from amaranth.lib import data

from celosia.hw.memory.ports import row_shape
from celosia.hw.vector.modes import Mode, Plus, chooses
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
    "Normalization",
    "PolynomialRequest",
    "RowFacts",
    "RowSpan",
    "packed",
    "polynomial_request",
]


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
            "counted": 1,  # PASS, ADD, EXPONENT or numerators: its elements count in the sums.
            "biased": 1,  # Add `bias` first.
            # The number of the last part that has elements; of a row that is dithered, only the
            # last step has fewer parts than all.
            "last_part": part_shape(config),
            "staged": 1,  # Its elements are of the scratchpad: the first half, and the same again.
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


class PolynomialRequest(data.StructLayout):
    """What becomes of a row in `Polynomial`; at most 64 bits."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "mode": Mode,  # Not MAXIMUM.
            "staged": 1,
            "kind": unsigned(2),
            "kind2": unsigned(2),
            "shift": unsigned(5),
            "shift2": unsigned(5),
            "gamma_row": row_shape(config.parameter_rows),
            "slot": row_shape(config.statistics_rows),
        })


def polynomial_request(config: AcceleratorConfig, step: data.View) -> data.View:
    """What `step` asks of `Polynomial`."""
    paired = chooses(step.mode, Plus.PRODUCT)
    return packed(
        PolynomialRequest(config),
        mode=step.mode,
        staged=step.staged,
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
