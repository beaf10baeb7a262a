"""Blocks that compute something are executed at the beginning of time.

``always @*`` waits for a change.  SystemVerilog gives a register the initial value of its
declaration before anything runs, so that nobody sees a change: a block whose inputs keep their
initial values leaves its output unknown, in Icarus Verilog with -g2012 for one.  So each block
looks at a register that changes at time 0, when every block is waiting: it becomes 0 by a
non-blocking assignment.
"""

import re
from typing import Final

__all__ = ["wake_blocks"]

_MODULE_END: Final = "endmodule\n"
_HEAD_END: Final = ");\n"

_TRIGGER: Final = re.compile(
    r"^  reg (\\(?:\$auto\$verilog_backend\.cc:\d+:dump_module\$\d+|\$start) ) ?= 0;\n",
    re.MULTILINE,
)
"""Registers that look at time 0 like this, but change too early."""

_LONE: Final = re.compile(r"^  always @\*\n    (\S.*;)\n", re.MULTILINE)
"""A block of one statement looks at none."""

_OWN_TRIGGER: Final = r"\$start "


def wake_blocks(verilog: str) -> str:
    """`verilog`, with the blocks of all modules executed at time 0."""
    modules = re.split(f"(?<=^{_MODULE_END})", verilog, flags=re.MULTILINE)
    return "".join(map(_wake_module, modules))


def _wake_module(module: str) -> str:
    triggers = _TRIGGER.findall(module)
    trigger = triggers[0] if triggers else _OWN_TRIGGER

    def look(block: re.Match[str]) -> str:
        return f"  always @* begin\n    if ({trigger}) begin end\n    {block[1]}\n  end\n"

    module = _TRIGGER.sub(lambda declared: _declare(declared[1]), module)
    module, lone = _LONE.subn(look, module)
    if not lone or triggers:
        return module
    head, _, body = module.partition(_HEAD_END)
    return f"{head}{_HEAD_END}{_declare(trigger)}{body}"


def _declare(trigger: str) -> str:
    return f"  reg {trigger};\n  initial {trigger}<= 0;\n"
