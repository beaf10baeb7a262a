"""What has an owner in each cycle: the tables of `celosia.isa.registers.events`, by resource."""

from collections.abc import Mapping
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.events import TABLES, Owner, Table

__all__ = ["ARRAY", "RESOURCES", "activities", "groups", "owner_named"]

RESOURCES: Final[Mapping[str, Table]] = {table.name: table for table in TABLES}
"""The units whose cycles have owners, by their names among the events of a cycle."""

ARRAY: Final = TABLES[0].name

_OWNERS: Final = {owner.name: owner for table in TABLES for owner in table.owners}


def owner_named(name: str) -> Owner | None:
    """The owner of this name, of any unit; None: there is none."""
    return _OWNERS.get(name)


def groups(resource: str) -> tuple[str, ...]:
    """The groups of the owners of a resource, those of its work first."""
    table = RESOURCES[resource]
    names = tuple(dict.fromkeys(owner.group for owner in table.owners))
    return (
        *(name for name in names if name in table.work),
        *(name for name in names if name not in table.work),
    )


def activities(config: AcceleratorConfig) -> tuple[str, ...]:
    """What is busy or not in each cycle: banks of memories, and channels of the bus."""
    return (
        *(f"scratchpad {bank}" for bank in range(config.scratchpad_banks)),
        *(f"accumulator {bank}" for bank in range(config.accumulator_banks)),
        "read data",
        "write data",
    )
