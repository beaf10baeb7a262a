"""What all passes know of the Verilog of `celosia.sim.verilator.verilog`."""

import re
from collections.abc import Callable
from typing import Final

__all__ = ["NAME", "USE", "at_the_end", "each_module"]

_MODULE_END: Final = "endmodule\n"
NAME: Final = r"(?:\\\S+ |[A-Za-z_][\w$]*)"
"""Matches a name, with the blank that ends an escaped one."""
USE: Final = re.compile(r"\\\S+ |(?<![\w'$\\.])[A-Za-z_][\w$]*")
"""Matches where a name is used."""


def each_module(verilog: str, change: Callable[[str], str]) -> str:
    """`verilog` with each of its modules changed."""
    modules = re.split(f"(?<={_MODULE_END})", verilog)
    return "".join(change(module) for module in modules if module)


def at_the_end(module: str, text: str) -> str:
    """`module` with `text` as its last part."""
    return module.replace(_MODULE_END, text + _MODULE_END)
