"""Saved signal views, for GTKWave (``.gtkw``) and Surfer (``.sucl``, a file of commands)."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Final

from vcd.gtkw import GTKWColor, GTKWSave

from celosia.isa.registers.queues import QUEUES
from celosia.sim.support.output import write_file
from celosia.sim.verilator.probe import LINES, WAVE_SCOPE
from celosia.sim.wave.request import WaveRequest

__all__ = ["Group", "Hierarchy", "Item", "gtkw_text", "select_items", "sucl_text", "write_views"]

Hierarchy = Mapping[str, Mapping[str, int]]
"""The widths of each scope's signals, by their names; 0 for strings."""

_MARK: Final = "Made by Celosia; a view that says something else here is never replaced."
_WIDEST: Final = 64
_MOST: Final = 40
_NAMES_PIXELS: Final = 300
_WAVES_PIXELS: Final = 1200
_SURFER_FORMATS: Final = {"ascii": "ASCII", "dec": "Unsigned"}
_COLORS: Final = (
    GTKWColor.yellow,
    GTKWColor.green,
    GTKWColor.orange,
    GTKWColor.violet,
    GTKWColor.blue,
)


@dataclass(frozen=True)
class Item:
    """A signal, and how it is shown: ``ascii``, ``dec`` or ``hex``."""

    scope: str
    name: str
    bits: int
    format: str

    @property
    def path(self) -> str:
        """The signal's path as both viewers name it."""
        return f"{self.scope}.{self.name}"


@dataclass(frozen=True)
class Group:
    """Signals under a heading."""

    name: str
    items: tuple[Item, ...]


def write_views(request: WaveRequest, hierarchy: Hierarchy, top: str, cycles: range) -> None:
    """Write both views of `cycles` beside the waveform, of signals that are in it."""
    groups = select_items(hierarchy, top, request.scope)
    gtkw, sucl = request.view_paths
    if not gtkw.exists() or _MARK in gtkw.read_text(errors="replace"):
        write_file(gtkw, gtkw_text(groups, request.path, gtkw, cycles))
    write_file(sucl, sucl_text(groups))


def select_items(hierarchy: Hierarchy, top: str, scope: str | None) -> Sequence[Group]:
    """What to show: what the accelerator does in words, and its ports or the signals of `scope`."""
    lines = f"{top}.{WAVE_SCOPE}"

    def items(scope: str, names: Sequence[str]) -> tuple[Item, ...]:
        known = hierarchy.get(scope, {})
        return tuple(Item(scope, n, known[n], _format(scope, n)) for n in names if n in known)

    def _format(scope: str, name: str) -> str:
        if scope == lines and name in LINES:
            return "ascii"
        return "dec" if name.endswith("_queued") else "hex"

    groups = [Group("program", items(lines, ["command"]))]
    for queue in QUEUES:
        array = ["array"] if queue == "execute" else []
        names = [queue, f"{queue}_next", f"{queue}_queued", *array]
        groups.append(Group(queue, items(lines, names)))
    if scope is None:
        for name, channels in (("memory reads", ("ar", "r")), ("memory writes", ("aw", "w", "b"))):
            ends = ("valid", "ready", "addr", "len", "last")
            ports = [f"m_axi_{channel}{end}" for channel in channels for end in ends]
            groups.append(Group(name, items(top, ports)))
        status = ["clk", "rst", "busy", "error", "progress", "interrupt"]
        groups.append(Group("status", items(top, status)))
    elif scope != lines:
        narrow = [n for n, bits in hierarchy[scope].items() if bits <= _WIDEST and _is_plain(n)]
        groups.append(Group(scope, items(scope, narrow[:_MOST])))
    return [group for group in groups if group.items]


def gtkw_text(groups: Sequence[Group], wave: Path, view: Path, cycles: range) -> str:
    """A view for GTKWave: ``gtkwave FILE.gtkw``."""
    file = io.StringIO()
    save = GTKWSave(file)
    save.comment(_MARK)
    save.dumpfile(str(wave))
    save.savefile(str(view))
    save.timestart(10 * cycles.start)
    save.size(_NAMES_PIXELS + _WAVES_PIXELS, 800)
    save.zoom_markers(-log2(10 * max(1, len(cycles)) / _WAVES_PIXELS))
    save.sst_expanded(False)
    save.signals_width(_NAMES_PIXELS)
    for number, group in enumerate(groups):
        save.blank(group.name)
        for item in group.items:
            color = _COLORS[number] if item.format == "ascii" else GTKWColor.normal
            name = item.path + (f"[{item.bits - 1}:0]" if item.bits > 1 else "")
            save.trace(name, alias=item.name, datafmt=item.format, color=color)
    return file.getvalue()


def sucl_text(groups: Sequence[Group]) -> str:
    """Commands for Surfer: ``surfer FILE --command-file FILE.sucl``."""
    rows: list[str | Item] = []
    for group in groups:
        rows += [group.name, *group.items]
    commands = [
        f"variable_add {row.path}" if isinstance(row, Item) else f"divider_add {row}"
        for row in rows
    ]
    for number, row in enumerate(rows):
        name = _SURFER_FORMATS.get(row.format) if isinstance(row, Item) else None
        if name:
            commands += [f"item_focus {_letters(number)}", f"item_set_format {name}"]
    return "\n".join([*commands, "item_unfocus", "zoom_fit", ""])


def _letters(number: int) -> str:
    """A row's number in hexadecimal, written with the letters a to p, as Surfer does."""
    return f"{number:x}".translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))


def _is_plain(name: str) -> bool:
    """Whether `name` is no part of another signal."""
    return "." not in name and "[" not in name
