"""The options that say what a workload computes; each workload has some of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

__all__ = ["WorkloadOptions", "workload_options"]


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """Options that only some workloads have; the default is always: not given."""

    shape: str | None = None
    a: Path | None = None
    b: Path | None = None
    bias: Path | None = None
    scale: float | None = None
    relu: bool = False
    out: Path | None = None
    transpose_b: bool = False
    unsigned_a: bool = False
    out_type: str | None = None
    keys: int | None = None
    causal: bool = False
    heads: int | None = None
    seq: int | None = None
    dim: int | None = None
    model: str | None = None
    layers: int | None = None
    context: str | None = None
    rows: int | None = None
    text: tuple[str, ...] = ()

    def given(self) -> tuple[str, ...]:
        """The names of the options that were given."""
        return tuple(
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        )


def workload_options(arguments: Mapping[str, Any]) -> WorkloadOptions:
    """The options of a workload among the `arguments` of a command, by their names."""
    names = [field.name for field in fields(WorkloadOptions) if field.name in arguments]
    return WorkloadOptions(**{
        name: _plain(arguments[name]) for name in names if arguments[name] is not None
    })


def _plain(value: Any) -> Any:
    """`value` without what only a command line has: choices become values, lists tuples."""
    if isinstance(value, Enum):
        return value.value
    return tuple(value) if isinstance(value, list) else value
