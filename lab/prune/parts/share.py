"""How much is removed: a share or a number, and what is left of a width."""

import re
from dataclasses import dataclass
from typing import Final

from celosia.sim.support.problems import InputError

__all__ = ["Share", "parse_share"]

_SHARE: Final = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)


@dataclass(frozen=True)
class Share:
    """What an option asks to be removed of each layer."""

    option: str
    """The option with its value, as the user wrote it."""
    text: str
    """The value."""
    part: float = 0.0
    """The part of a layer, if `number` is None."""
    number: int | None = None
    """How many of a layer."""

    def channels(self, count: int, dim: int) -> int:
        """How many of `count` channels are left: the nearest multiple of `dim` if `count` is one.

        Raises `InputError` if none is, or if none is removed.
        """
        step = dim if count % dim == 0 else 1
        kept = round(count * (1 - self.part) / step) * step
        return self._checked(kept, count, f"of {count} channels in steps of {step}")

    def tiles(self, count: int) -> int:
        """How many of `count` tiles are left.  Raises `InputError` as `channels` does."""
        return self._checked(round(count * (1 - self.part)), count, f"of {count} tiles")

    def heads(self, count: int, together: int) -> int:
        """How many of `count` heads are left; so many `together` share keys, and go together.

        Raises `InputError` if none is, if none is removed, or if some share keys with others.
        """
        removed = count * self.part if self.number is None else self.number
        if self.number is None:
            kept = count - round(removed / together) * together
        elif removed % together:
            raise InputError(
                f"{self.option}: {together} heads share keys and go together; {removed} is no "
                f"multiple of {together}"
            )
        else:
            kept = count - self.number
        more = f", {together} at a time" if together > 1 else ""
        return self._checked(kept, count, f"of {count} heads{more}")

    def _checked(self, kept: int, count: int, what: str) -> int:
        if kept < 1:
            raise InputError(f"{self.option}: {what}, nothing would be left")
        if kept == count:
            raise InputError(f"{self.option}: {what}, nothing would be removed")
        return kept


def parse_share(option: str, text: str, *, numbers: bool) -> Share:
    """The share that `text` says: ``25%``, or with `numbers` also ``2``.

    Raises `InputError` for another text, and for a share that is not above 0 and below 100 %.
    """
    words = f"{option} {text}"
    if numbers and _NUMBER.fullmatch(text):
        return Share(words, text, number=int(text))
    if not (found := _SHARE.fullmatch(text)):
        form = "a number or a share such as 25%" if numbers else "a share such as 25%"
        raise InputError(f"{words}: is not {form}")
    part = float(found[1]) / 100
    if not 0 < part < 1:
        raise InputError(f"{words}: a share is above 0% and below 100%")
    return Share(words, text, part)
