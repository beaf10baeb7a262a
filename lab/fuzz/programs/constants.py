"""Random constants of the exponential and of GELU, as legal programs may set them."""

from random import Random

import numpy as np

from celosia.isa.encoding import CONFIG_EXPONENT, CONFIG_GELU, Command, Instruction
from celosia.isa.numerics import ExponentConstants, GeluConstants
from celosia.isa.numerics.exponential import QUOTIENT_MAX, QUOTIENT_SHIFT

__all__ = ["random_exponent_constants", "random_gelu_constants"]


def random_exponent_constants(random: Random) -> Command:
    """A CONFIG_EXPONENT that keeps the widths, often as wide as they are."""
    while True:
        try:
            return _exponent_constants(random)
        except ValueError:  # No c is large enough, or a result is above exp(0).
            continue


def _exponent_constants(random: Random) -> Command:
    """Half of them reduce by a multiple as they should, and half by anything."""
    most = _most(CONFIG_EXPONENT)
    ln2 = random.randint(1 << QUOTIENT_SHIFT - 15, most["ln2"])  # So that its inverse fits.
    inverse_ln2 = random.choice(((1 << QUOTIENT_SHIFT) // ln2, random.randint(0, 1 << 15)))
    inverse_ln2 = min(inverse_ln2, most["inverse_ln2"])
    lowest = random.choice((most["lowest"], random.randint(0, most["lowest"])))
    if inverse_ln2:
        lowest = min(lowest, ((QUOTIENT_MAX + 1 << QUOTIENT_SHIFT) - 1) // inverse_ln2)
    distances = -np.arange(lowest + 1)
    r = distances + (-distances * inverse_ln2 >> QUOTIENT_SHIFT) * ln2
    b = random.randint(0, random.choice((most["b"], min(most["b"], 2 * -int(r.min())))))
    least = max(1, -int(((r + b) * r).min()))
    c = random.choice((least, random.randint(least, most["c"])))
    shift = random.randint(max(0, c.bit_length() - 16), c.bit_length() - 1)
    fields = {"ln2": ln2, "inverse_ln2": inverse_ln2, "b": b, "c": c, "shift": shift}
    constants = ExponentConstants(lowest=-lowest, **fields)
    unit = random.choice((constants.unit, random.randint(0, most["unit"])))
    return CONFIG_EXPONENT.encode(lowest=lowest, unit=min(unit, most["unit"]), **fields)


def random_gelu_constants(random: Random) -> Command:
    """A CONFIG_GELU that keeps the widths."""
    most = _most(CONFIG_GELU)
    b = random.randint(0, min(most["b"], int((2 * most["c"]) ** 0.5)))
    c = random.randint(b * b // 2, most["c"])
    shift = random.randint(max(0, (2 * c).bit_length() - 16), most["shift"])
    constants = GeluConstants(b=b, c=c, shift=shift)
    return CONFIG_GELU.encode(**vars(constants))


def _most(known: Instruction) -> dict[str, int]:
    """The largest number that each operand can hold."""
    return {field.name: (1 << field.bits) - 1 for field in known.operands}
