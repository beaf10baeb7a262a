"""Shares of an accelerator's local memories: what a branch has beside others."""

from dataclasses import fields
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig, ConfigError

__all__ = ["QUARTERS", "Share", "share_of", "share_with"]

QUARTERS: Final = 4
"""Shares of the local memories are so many quarters of each."""
_SHARED: Final = ("scratchpad_kib", "accumulator_kib", "parameter_rows", "statistics_rows")
"""The memories, each by its size."""


class Share(AcceleratorConfig):
    """A share of an accelerator's memories, which need not be a power of two."""

    def _check_power_of_two(self, name: str, low: int, high: int) -> None:
        if getattr(self, name) < low:
            raise ConfigError(f"{name}: {getattr(self, name)} is less than {low}")


def share_of(config: AcceleratorConfig, quarters: int) -> AcceleratorConfig:
    """An accelerator with so many quarters of each local memory.

    Raises `ConfigError` if that is too little.
    """
    if quarters == QUARTERS:
        return config
    sizes = {name: getattr(config, name) * quarters // QUARTERS for name in _SHARED}
    return share_with(config, **sizes)


def share_with(config: AcceleratorConfig, **sizes: int) -> Share:
    """An accelerator with other `sizes` of memories.  Raises `ConfigError` for too little."""
    values: dict[str, Any] = {each.name: getattr(config, each.name) for each in fields(config)}
    values |= sizes
    return Share(**values)
