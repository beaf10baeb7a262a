"""The RTL as Verilog, the same text byte for byte whenever the RTL is the same.

What Amaranth writes is changed in four ways:

* The initial zeros of memories go: real memories hold garbage, and one line per row is most of
  the file.  Tables that are not all zeros stay.
* A register that is computed in a block of its own and then clocked,
  ``always @* begin n = r; if (e) n = d; end  always @(posedge clk) r <= n;``, is written
  as ``always @(posedge clk) begin if (e) r <= d; end``.  Verilator then neither computes nor
  stores `n`: a register whose enable is low costs one branch, or none.
* ``always @* x[3:0] = 4'h0;`` would never be executed, because nothing in it ever changes.  It gets
  a condition that is looked at once, as Yosys gives to larger blocks.
* ``{ x[7], x[7], x[7], x }`` is written as ``{ {3{x[7]}}, x }``: Verilator would pick the bits
  one by one.
"""

import gc
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from amaranth.back import verilog
from amaranth.hdl import Elaboratable, Value

from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["TOP_NAME", "clean_verilog", "to_verilog"]

TOP_NAME = "celosia_core"
"""The name of a module that is given none."""

_INITIAL = re.compile(r"  initial begin\n(?:    \S+ ?\[\d+\] = \d+'\w+;\n)+  end\n")
_NONZERO = re.compile(r"= \d+'[bdho]0*[^0;]")
_MODULE_END = "endmodule\n"

_COMPUTED = re.compile(
    r"  always @\* begin\n"
    r"    if \(\\\$auto\$verilog_backend\.cc:\d+:dump_module\$\d+ \) begin end\n"
    r"((?:    .*\n)*?)  end\n"
)
_CLOCKED = re.compile(
    r"  always @\((posedge|negedge) (\S+ ?)\)\n    (\\\S+ |\w+) ?<= (\\\$\d+ );\n"
)
_CONSTANT = re.compile(r"  always @\*\n    (\S+ ?(?:\[[^]]*\] )?= \d+'\w+;)\n")
_NAME = re.compile(r"\\\$\d+ ")
_TARGET = re.compile(r"^( *)(\\\$\d+ ) ?((?:\[[^]]*\] )?)= ", re.MULTILINE)
_REPEATED = re.compile(r"((?:\\\S+ |[A-Za-z_]\w*)\[\d+\], )\1{2,}")
_DECLARED = re.compile(r"  reg (?:\[[^]]*\] )?(\\\$\d+ );\n")


def to_verilog(
    top: Elaboratable,
    name: str = TOP_NAME,
    platform: object = None,
    ports: Sequence[Value] | None = None,
) -> str:
    """The Verilog of a component: a module called `name`, and what it is made of.

    `ports` are those of its signature if they are not given.  `platform` is given to the
    `elaborate` of each component.  Raises `EnvironmentProblem` when Amaranth's Yosys cannot run.
    """
    try:
        with _without_garbage_collection():
            text = verilog.convert(
                top,
                name=name,
                platform=platform,
                ports=ports,
                emit_src=False,
                strip_internal_attrs=True,
            )
    except verilog.YosysError as error:
        # The RTL is always fit for it: a full disk, or too little memory, is not.
        reason = str(error).strip().rpartition("\n")[2]
        raise EnvironmentProblem(f"Amaranth's Yosys failed: {reason}") from error
    return clean_verilog(text)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Amaranth makes millions of small objects that stay: looking through them takes a third."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def clean_verilog(text: str) -> str:
    """Amaranth's output, changed as this module says."""
    text = _REPEATED.sub(_replicate, text)
    text = _INITIAL.sub(lambda block: block[0] if _NONZERO.search(block[0]) else "", text)
    modules = re.split(f"(?<={_MODULE_END})", text)
    return "".join(_start_constants(_fold_registers(module)) for module in modules)


def _replicate(run: re.Match[str]) -> str:
    bit = run[1].removesuffix(", ")
    return f"{{{len(run[0]) // len(run[1])}{{{bit}}}}}, "


def _start_constants(module: str) -> str:
    declaration = "  reg \\$start = 0;\n"

    def start(block: re.Match[str]) -> str:
        nonlocal declaration
        declared, declaration = declaration, ""
        return f"{declared}  always @* begin\n    if (\\$start ) begin end\n    {block[1]}\n  end\n"

    return _CONSTANT.sub(start, module)


def _fold_registers(module: str) -> str:
    uses = Counter(_NAME.findall(module))
    registers = {match[4]: match[3] for match in _CLOCKED.finditer(module)}
    bodies: dict[str, str] = {}

    def take_out(block: re.Match[str]) -> str:
        body = block[1]
        assigned = Counter(match[2] for match in _TARGET.finditer(body))
        if len(assigned) != 1:
            return block[0]
        [(name, times)] = assigned.items()
        # Besides its own block, only the declaration and the clocked block may mention it.
        if name not in registers or not uses[name] - 2 == times == body.count(name):
            return block[0]
        bodies[name] = _assign(body, registers[name])
        return ""

    def put_in(block: re.Match[str]) -> str:
        if block[4] not in bodies:
            return block[0]
        return f"  always @({block[1]} {block[2]}) begin\n{bodies[block[4]]}  end\n"

    module = _CLOCKED.sub(put_in, _COMPUTED.sub(take_out, module))
    return _DECLARED.sub(lambda line: "" if line[1] in bodies else line[0], module)


def _assign(body: str, register: str) -> str:
    """`body` with `register` as the target; a register that keeps its value is not mentioned."""
    body = _TARGET.sub(lambda match: f"{match[1]}{register} {match[3]}<= ", body)
    name = re.escape(register.strip())
    keeps = re.compile(rf"\A(?:    {name} ?((?:\[[^]]*\])?) ?<= {name} ?\1 ?;\n)+")
    return keeps.sub("", body)
