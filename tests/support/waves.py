"""Reads waveforms, and a program to make them with."""

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.support.progress import silent
from celosia.sim.wave.request import WaveRequest
from celosia.sw.driver.assembly import format_command, parse_command
from tests.support.plain import PLAIN

__all__ = ["BARE", "PROGRAM", "SETUP", "Waves", "check_lines", "check_views"]

SETUP = Setup(PRESETS["tiny"], MemoryTiming(latency=10), 1 << 16, silent)
BARE = replace(SETUP, config=PLAIN)

PROGRAM: list[Command] = [
    parse_command(line)
    for line in (
        "config_ex",
        "config_ld stride=4 block_stride=4",
        "config_st stride=4",
        f"mvin dram={MEMORY_BASE:#x} local=sp[0] local_cols=4 local_rows=4",
        f"mvin dram={MEMORY_BASE + 64:#x} local=sp[4] local_cols=4 local_rows=4",
        "preload b=sp[4] b_cols=4 b_rows=4 c=acc[0] c_cols=4 c_rows=4",
        "compute_preloaded a=sp[0] a_cols=4 a_rows=4 d=none",
        f"mvout dram={MEMORY_BASE + 128:#x} local=acc[0] local_cols=4 local_rows=4",
    )
]
"""Two loads, a product and a store, each of which waits for the one before."""

_VARIABLE = re.compile(r"\$var (\w+) (\d+) (\S+) (.+?)(?: \[\d+:0\])? \$end")


class Waves:
    """The contents of a VCD file: by path, the widths, and the times of changes with the values."""

    def __init__(self, path: Path):
        self.bits: dict[str, int] = {}
        self.changes: dict[str, list[tuple[int, str]]] = {}
        self.scopes: set[str] = set()
        self.times: list[int] = []
        self._scope: list[str] = []
        self._codes: dict[str, list[tuple[int, str]]] = defaultdict(list)
        header, _, body = path.read_text().partition("$enddefinitions $end\n")
        self.timescale = "".join(header.partition("$timescale")[2].partition("$end")[0].split())
        for line in header.splitlines():
            self._declare(line.strip())
        for line in body.splitlines():
            self._change(line)

    def _declare(self, line: str) -> None:
        if line.startswith("$scope"):
            self._scope.append(line.split()[2])
            self.scopes.add(".".join(self._scope))
        elif line.startswith("$upscope"):
            self._scope.pop()
        elif match := _VARIABLE.fullmatch(line):
            path = ".".join([*self._scope, match[4]])
            self.bits[path] = int(match[2])
            self.changes[path] = self._codes[match[3]]

    def _change(self, line: str) -> None:
        if line.startswith("#"):
            self.times.append(int(line[1:]))
        elif line[:1] in ("0", "1"):
            self._codes[line[1:]].append((self.times[-1], line[0]))
        elif line[:1] in ("b", "s"):
            value, code = line[1:].split(" ")
            self._codes[code].append((self.times[-1], value.lstrip("0") or "0"))

    def text(self, path: str) -> list[tuple[int, str]]:
        """The lines of text at `path`, each with the cycle in which it begins."""
        lines: list[tuple[int, str]] = []
        for time, bits in self.changes[path]:
            assert time % 10 == 0, f"{path} changes in the middle of a cycle"
            value = int(bits, 2)
            line = value.to_bytes((value.bit_length() + 7) // 8, "big").decode()
            if not lines or lines[-1][1] != line:
                lines.append((time // 10, line))
        return lines


def check_lines(waves: Waves, program: list[Command]) -> None:
    """The lines of a whole run of `PROGRAM` say what it is, in the order in which it happens."""

    def lines(name: str) -> list[str]:
        return [line.partition(" (")[0] for _, line in waves.text(f"celosia_axi.wave.{name}")]

    def once(name: str) -> list[str]:
        shown = [line for line in lines(name) if line != "-"]
        return [line for index, line in enumerate(shown) if shown[:index][-1:] != [line]]

    texts = [format_command(command) for command in program]
    assert lines("command") == ["-", *texts]
    loads, product, store = texts[3:5], texts[6], texts[7]
    for suffix in ("", "_next"):
        assert once(f"load{suffix}") == loads
        assert once(f"execute{suffix}") == [product]
        assert once(f"store{suffix}") == [store]
    waits = [line for _, line in waves.text("celosia_axi.wave.store_next")]
    assert f"{store} (waits for execute)" in waits
    array = lines("array")
    assert array[0] == array[-1] == "idle"
    assert any(owner.startswith("wait_") for owner in array)
    expected = ["array_weights", "array_rows", "drain"]
    assert [owner for owner in array if owner in expected][-len(expected) :] == expected


def check_views(request: WaveRequest, waves: Waves) -> None:
    """The views beside the waveform refer to signals that are in it, with their widths."""
    gtkw, sucl = request.view_paths
    shown = [
        line.rpartition("} ")[2] for line in gtkw.read_text().splitlines() if line.startswith("+{")
    ]
    assert len(shown) > 8
    for signal in shown:
        name, _, high = signal.partition("[")
        assert waves.bits[name] == (int(high.removesuffix(":0]")) + 1 if high else 1), signal
    added = [
        line.partition(" ")[2]
        for line in sucl.read_text().splitlines()
        if line.startswith("variable_add")
    ]
    assert added == [signal.partition("[")[0] for signal in shown]
