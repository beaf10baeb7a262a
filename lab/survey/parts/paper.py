"""The survey's numbers, as it prints them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["Paper", "Printed", "paper"]

_FILE: Final = Path(__file__).with_name("paper.toml")


@dataclass(frozen=True)
class Printed:
    """A number with the digits that it is printed with."""

    text: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def rounding(self) -> float:
        """Half of the last printed digit's unit: how far off rounding alone may be."""
        exponent = Decimal(self.text).as_tuple().exponent
        assert isinstance(exponent, int), self.text
        return 0.5 * 10.0**exponent

    def holds(self, value: float, wider: float = 0.0) -> bool:
        """Whether `value` lies in the rounding interval, each end moved out by this share of it."""
        low, high = self.value - self.rounding, self.value + self.rounding
        return low * (1 - wider) <= value <= high * (1 + wider)


@dataclass(frozen=True)
class Paper:
    """All numbers, by item and name."""

    tables: Mapping[str, Mapping[str, Any]]

    def where(self, item: str) -> str:
        """Where in the survey the numbers of `item` stand."""
        return self.tables[item]["where"]

    def printed(self, item: str, name: str) -> Printed | None:
        """The number called `name`; None if the survey has none."""
        text = self.tables.get(item, {}).get("values", {}).get(name)
        return None if text is None else Printed(text)

    def value(self, item: str, name: str) -> float:
        """The number called `name`.  Raises `KeyError` if the survey has none."""
        found = self.printed(item, name)
        if found is None:
            raise KeyError(f"{item}: {name}")
        return found.value


@cache
def paper() -> Paper:
    """The survey's numbers of this package's `paper.toml`."""
    return Paper(tomllib.loads(_FILE.read_text(encoding="utf-8")))
