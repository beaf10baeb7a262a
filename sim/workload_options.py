"""The options that say what a workload computes; each workload has some of them."""

from dataclasses import dataclass, fields
from pathlib import Path

__all__ = ["WorkloadOptions"]


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
    text: tuple[str, ...] = ()

    def given(self) -> tuple[str, ...]:
        """The names of the options that were given."""
        return tuple(
            field.name for field in fields(self) if getattr(self, field.name) != field.default
        )
