"""What a component does with random inputs: its Verilog under Verilator, itself under Amaranth."""

import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from amaranth.hdl import ClockDomain, Module, Shape, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from amaranth.sim import Simulator

from celosia.sim.support.cache import cached, digest
from celosia.sim.verilator.toolchain import (
    Compiler,
    Verilator,
    find_compiler,
    find_verilator,
    run_tools,
)
from celosia.sim.verilator.verilog import TOP_NAME

_MAIN = """
#include "Vtop.h"
int main() {{
  Vtop top;
  std::ifstream inputs("inputs");
  unsigned long long value;
  top.clk = 0, top.eval();
  for (;;) {{
    {write}
    printf("\\n");
    {read}
    for (int edge = 0; edge < {edges}; edge++) top.clk = !top.clk, top.eval();
  }}
}}
"""
_VERILATE = (
    *("--cc", "--prefix", "Vtop", "--top-module", TOP_NAME, "--Mdir", "model"),
    *("--x-assign", "fast", "--x-initial", "0", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
_RUNTIME = """
#include "verilated.cpp"
#include "verilated_threads.cpp"
"""
_HEADERS = """
#include "verilated.h"
#include <cstdio>
#include <fstream>
"""
"""What every model begins with, and most of what takes long to compile: compiled once."""
_FLAGS = ("-std=c++17", "-O0", "-DVL_TIME_CONTEXT", "-pthread")
_ESCAPED = "___05F"
"""What Verilator makes of two underscores."""


class Beside(wiring.Component):
    """Components beside each other, so that one model is built of all: that is most of the time."""

    def __init__(self, *parts: wiring.Component):
        self._parts = parts
        super().__init__({f"part_{n}": Out(part.signature) for n, part in enumerate(parts)})

    def elaborate(self, platform):
        m = Module()
        for number, part in enumerate(self._parts):
            m.submodules[f"part_{number}"] = cast(Any, part)
            wiring.connect(m, wiring.flipped(getattr(self, f"part_{number}")), part)
        return m

    def outputs_of_each(self, lines: Sequence[str]) -> Iterator[set[tuple[str, ...]]]:
        """Of `lines`, which are outputs of all, those of each part, without repetitions."""
        first = 0
        for part in self._parts:
            last = first + len(_ports(part)[1])
            yield {tuple(line.split()[first:last]) for line in lines}
            first = last


def random_outputs(
    verilog: str,
    top: wiring.Component,
    work: Path,
    *,
    cycles: int = 300,
    seed: int = 0,
    edges: int = 2,
) -> list[str]:
    """The outputs of `top`, of at most 64 bits each, before and after each cycle of random inputs.

    `verilog` is its text.  Inputs may stay as they are, so that enables are low and high for some
    time.  A cycle has `edges` changes of the clock.
    """
    inputs, outputs = _ports(top)
    work.mkdir()
    (work / "celosia_core.v").write_text(verilog)
    compiler, verilator = find_compiler(), find_verilator()
    command = [verilator.binary, *_VERILATE, "celosia_core.v"]
    run_tools([command], work, VERILATOR_ROOT=str(verilator.root))
    main = _MAIN.format(
        read="".join(f"if (!(inputs >> value)) return 0; top.{name} = value; " for name in inputs),
        edges=edges,
        write="".join(f'printf("%llx ", (unsigned long long)top.{name}); ' for name in outputs),
    )
    parts = sorted((work / "model").glob("*.cpp"))
    (work / "main.cpp").write_text("".join(f'#include "{part}"\n' for part in parts) + main)
    _compile(work, compiler, verilator)
    (work / "inputs").write_text(_random_inputs(inputs, cycles, seed))
    done = subprocess.run(["./main"], cwd=work, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def expected_outputs(top: wiring.Component, *, cycles: int = 300, seed: int = 0) -> list[str]:
    """The same of Amaranth's simulator, which knows no Verilog."""
    inputs, outputs = _ports(top)
    flat = top.signature.flatten(top)
    members = {_ESCAPED.join(map(str, path)): Value.cast(value) for path, _, value in flat}
    clock: Any = ClockDomain("sync")
    m, component, lines = Module(), cast(Any, top), list[str]()
    m.domains.sync = clock
    m.submodules.top = component
    driven = [clock.rst, *(members[name] for name in inputs if name != "rst")]
    masks = {name: (1 << len(members[name])) - 1 for name in outputs}

    async def bench(ctx):
        def look() -> None:
            values = (ctx.get(members[name]) & mask for name, mask in masks.items())
            lines.append("".join(f"{value:x} " for value in values))

        look()
        for line in _random_inputs(inputs, cycles, seed).splitlines():
            for signal, value in zip(driven, map(int, line.split()), strict=True):
                ctx.set(signal, value)
            await ctx.tick()
            look()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return lines


def _compile(work: Path, compiler: Compiler, verilator: Verilator) -> None:
    """Make the program `main` out of ``main.cpp``, with what is the same for all of them."""
    include = verilator.root / "include"
    build = [*compiler.command, *_FLAGS, f"-I{include}", f"-I{include}/vltstd", "-Imodel"]
    identity = [compiler.identity, verilator.identity, *build, _RUNTIME, _HEADERS]

    def kept(name: str, text: str, *flags: str) -> Path:
        def make(folder: Path) -> Path:
            (folder / "text").write_text(text)
            if flags:
                run_tools([[*build, *flags, "text", "-o", name]], folder)
            return folder / (name if flags else "text")

        return cached(f"runtime/{digest(identity)}-{name}", make)

    runtime = kept("plain.o", _RUNTIME, "-x", "c++", "-c")
    # Compiled headers stand beside the text that they are used in place of, where they fit.
    kept("plain.h.gch", _HEADERS, "-x", "c++-header")
    headers = ["-include", str(kept("plain.h", _HEADERS))]
    run_tools([[*build, *headers, "main.cpp", str(runtime), "-o", "main"]], work)


def _ports(top: wiring.Component) -> tuple[dict[str, int], list[str]]:
    inputs, outputs = {"rst": 1}, []
    for path, member, _ in top.signature.flatten(top):
        name = _ESCAPED.join(map(str, path))
        if member.flow == wiring.In:
            inputs[name] = Shape.cast(member.shape).width
        else:
            outputs.append(name)
    return inputs, outputs


def _random_inputs(inputs: Mapping[str, int], cycles: int, seed: int) -> str:
    source = random.Random(seed)
    values = dict.fromkeys(inputs, 0)
    lines = []
    for cycle in range(cycles):
        for name, width in inputs.items():
            if name == "rst":
                values[name] = int(cycle < 2 or source.random() < 0.02)
            elif source.random() < 0.5:
                values[name] = source.getrandbits(width)
        lines.append(" ".join(map(str, values.values())))
    return "\n".join(lines) + "\n"
