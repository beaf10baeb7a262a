"""Black boxes of memory as cells with stated times."""

import re
from typing import Final

from celosia.sim.export.silicon.synthesis.modules import split_modules

__all__ = ["ACCESS_NS", "SET_UP_NS", "memory_cells"]

ACCESS_NS: Final = 2.0
"""From the clock's edge to what a memory reads: stated, half of a processing element's path."""
SET_UP_NS: Final = 0.5
"""How long before the edge a memory wants its inputs: stated."""

_PORT: Final = re.compile(r"\b(input|output)\s+(?:wire\s+|reg\s+)?(?:\[(\d+):0\]\s*)?(\w+)")
_CLOCK: Final = "clk"
_LIBRARY: Final = """\
library(memories) {{
  delay_model : table_lookup; time_unit : "1ns"; capacitive_load_unit(1, pf);
  voltage_unit : "1V"; current_unit : "1mA";
{thresholds}{types}{cells}}}
"""
_THRESHOLDS: Final = "".join(
    f"  {name}_{edge} : {percent};\n"
    for name, percent in (
        ("input_threshold_pct", 50),
        ("output_threshold_pct", 50),
        ("slew_lower_threshold_pct", 20),
        ("slew_upper_threshold_pct", 80),
    )
    for edge in ("rise", "fall")
)
"""OSU018 has the same.  OpenSTA refuses a library that does not state them."""
_TYPE: Final = """\
  type(bits_{width}) {{ base_type : array; data_type : bit; bit_width : {width};
    bit_from : {last}; bit_to : 0; }}
"""
_INPUT: Final = f"""\
timing() {{{{ related_pin : "{_CLOCK}"; timing_type : setup_rising;
        rise_constraint(scalar) {{{{ values("{SET_UP_NS}"); }}}}
        fall_constraint(scalar) {{{{ values("{SET_UP_NS}"); }}}} }}}}"""
_OUTPUT: Final = f"""\
timing() {{{{ related_pin : "{_CLOCK}"; timing_type : rising_edge;
        cell_rise(scalar) {{{{ values("{ACCESS_NS}"); }}}}
        cell_fall(scalar) {{{{ values("{ACCESS_NS}"); }}}}
        rise_transition(scalar) {{{{ values("0.1"); }}}}
        fall_transition(scalar) {{{{ values("0.1"); }}}} }}}}"""


def memory_cells(models: str) -> str:
    """A Liberty file with a cell for each module of the Verilog `models`, clocked by ``clk``."""
    cells, widths = [], set[int]()
    for name, module in split_modules(models).items():
        pins = []
        ports = {match[3]: (match[1], int(match[2] or 0)) for match in _PORT.finditer(module.text)}
        for port, (direction, last) in ports.items():
            widths.add(last + 1)
            pins.append(_pin(port, direction, last + 1))
        cells.append(f"  cell({name}) {{\n{''.join(pins)}  }}\n")
    types = "".join(_TYPE.format(width=width, last=width - 1) for width in sorted(widths))
    return _LIBRARY.format(thresholds=_THRESHOLDS, types=types, cells="".join(cells))


def _pin(port: str, direction: str, width: int) -> str:
    if port == _CLOCK:
        return f"    pin({port}) {{ direction : input; clock : true; capacitance : 0.01; }}\n"
    timing = (_INPUT if direction == "input" else _OUTPUT).format()
    return (
        f"    bus({port}) {{ bus_type : bits_{width}; direction : {direction}; "
        f"capacitance : 0.01;\n      {timing} }}\n"
    )
