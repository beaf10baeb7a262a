"""A row of the table: a system, its idea, and what the idea gains here in cycles of the RTL."""

from dataclasses import dataclass

from celosia.isa.documents.record import Added, Inline, Record

__all__ = ["Row", "System", "gained"]


@dataclass(frozen=True, kw_only=True)
class System:
    """A compiler, and what its authors say."""

    system: str
    """The compiler."""
    mechanism: str
    """Its idea, as a part of Celosia's compiler."""
    claim: str
    """What its paper reports, on its machines."""
    source: str
    """Where it says so."""


@dataclass(frozen=True, kw_only=True)
class Row(Record):
    """What a system's idea gains."""

    about: Inline[System]
    work: str
    """What was measured."""
    gain: float | None
    """Cycles without it over cycles with it, on RTL; null: nothing was measured."""
    cycles: Added[dict[str, int]]
    """The cycles that it is made of, by what they are of."""
    right: Added[bool] = True
    """Whether every result was right."""


def gained(
    about: System, work: str, ways: tuple[str, str], cycles: dict[str, int], right: bool
) -> Row:
    """A row of `cycles` by ways to compute: the gain is that of the second of `ways`."""
    without, by = (cycles[way] for way in ways)
    gain = without / by if without and by else None
    return Row(about=about, work=work, gain=gain, cycles=cycles, right=right)
