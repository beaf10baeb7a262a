"""Names in brackets are shown as they are: Rich would take them for styles, and leave them out."""

import io
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from rich.console import Console

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.area.report import print_area
from celosia.sim.export.silicon.fpga.report import print_fpga
from celosia.sim.export.silicon.power.report import PowerReport, print_power
from celosia.sim.export.silicon.timing.report import print_timing
from tests.sim.export.silicon.area.test_report import REPORT as AREA
from tests.sim.export.silicon.fpga.test_report import REPORT as FPGA
from tests.sim.export.silicon.power.test_report import CELL, TABLE
from tests.sim.export.silicon.timing.test_report import report as timing

REPORTS: dict[str, tuple[Callable[..., None], Any]] = {
    "area": (print_area, AREA),
    "fpga": (print_fpga, FPGA),
    "power": (print_power, PowerReport(TABLE, CELL, [], 9)),
    "timing": (print_timing, timing()),
}


def named(value: Any, behind: str) -> Any:
    """The same value, each text in it with `behind`; keys are what they are looked up by."""
    if isinstance(value, str):
        return value + behind
    if isinstance(value, Mapping):
        return {key: named(each, behind) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(named(each, behind) for each in value)
    if not is_dataclass(value) or isinstance(value, type | AcceleratorConfig):
        return value
    own = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    return replace(value, **{name: named(each, behind) for name, each in own.items()})


@pytest.mark.parametrize("kind", REPORTS)
def test_brackets_are_text(kind):
    show, report = REPORTS[kind]

    def shown(behind: str) -> str:
        paper = io.StringIO()
        show(Console(file=paper, width=300), named(report, behind))
        return paper.getvalue()

    plain = shown("«dim»")
    assert "«dim»" in plain
    assert shown("[dim]") == plain.replace("«", "[").replace("»", "]")
