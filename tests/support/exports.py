"""Exported designs, each made once for all processes of a test run."""

from functools import cache

from celosia.isa.presets import resolve_config
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.design import Design, export_design
from tests.support.shared_results import of_this_run

SMALLEST = (
    *("dim=2", "scratchpad_banks=2", "scratchpad_kib=1", "accumulator_banks=1"),
    *("accumulator_kib=1", "parameter_rows=8", "read_requests=2", "write_requests=2"),
    *("load_queue=2", "execute_queue=2", "store_queue=2"),
)
"""Every size of `tiny` at its least."""


@cache
def exported(
    top: TopChoice, memories: Memories, preset: str = "tiny", overrides: tuple[str, ...] = SMALLEST
) -> Design:
    """The design of a configuration."""
    name = "-".join(("design", top, memories, preset, *overrides))
    return of_this_run(
        name, lambda: export_design(resolve_config(preset, overrides), top, memories)
    )
