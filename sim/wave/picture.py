"""Waveforms as pictures: some signals of a VCD file for some cycles, for notebooks."""

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from vcd.reader import TokenKind, VCDParseError, tokenize

from celosia.isa.config import did_you_mean
from celosia.isa.documents.svg import CHARACTER, LINE, Drawing
from celosia.sim.support.problems import InputError
from celosia.sim.verilator.probe import WAVE_SCOPE
from celosia.sim.wave.vcd_filter import UNITS

__all__ = ["wave_drawing"]

_MARGIN: Final = 8
_CYCLE: Final = 12.0
"""Width of a cycle in pixels."""
_ROW: Final = LINE + 10
_RULER: Final = 10
"""Cycles from one number of the ruler to the next."""

_Changes = list[tuple[int, str]]
"""The values of a signal, each from a time of the file on."""


def wave_drawing(path: Path, names: Sequence[str], cycles: range) -> Drawing:
    """Signals of the VCD file `path` in `cycles`: levels of bits, values of all else.

    `names` are those of signals, or as many of the last parts of their paths as tell them apart.
    Cycles are counted as the file counts them.  Raises `InputError` for a name that no signal, or
    more than one signal has, and for a file that is no waveform.
    """
    signals = _read(path)
    chosen = [_signal(signals, name, path) for name in names]
    drawing = Drawing()
    labels = [name.rpartition(".")[2] for name in names]
    left = _MARGIN + max(map(len, labels)) * CHARACTER + _MARGIN
    for cycle in cycles:
        if cycle % _RULER == 0:
            x = left + (cycle - cycles.start) * _CYCLE
            drawing.line([(x, LINE), (x, LINE + _ROW * len(names) + 4)], color="#d9d9d9")
            drawing.text(x, LINE - 3, str(cycle))
    for number, (label, (bits, changes)) in enumerate(zip(labels, chosen, strict=True)):
        top = LINE + 6.0 + number * _ROW
        drawing.text(_MARGIN, top + LINE - 3, label)
        spans = _spans(changes, cycles)
        if bits == 1:
            drawing.line(_levels(spans, left, top), color="#0072b2")
        else:
            _values(drawing, spans, left, top)
    return drawing


def _read(path: Path) -> dict[str, tuple[int, _Changes]]:
    """The signals of a file by their paths: bits (0: texts), and values by time."""
    scopes: list[str] = []
    signals: dict[str, tuple[int, _Changes]] = {}
    by_code: dict[str, _Changes] = {}
    texts: set[str] = set()
    time = 0
    try:
        with path.open("rb") as file:
            for token in tokenize(file):
                match token.kind:
                    case TokenKind.SCOPE:
                        scopes.append(token.scope.ident)
                    case TokenKind.UPSCOPE:
                        scopes.pop()
                    case TokenKind.VAR:
                        bits = 0 if token.var.type_.value == "string" else token.var.size
                        texts |= {token.var.id_code} if scopes[-1:] == [WAVE_SCOPE] else set()
                        changes = by_code.setdefault(token.var.id_code, [])
                        signals[".".join((*scopes, token.var.reference))] = bits, changes
                    case TokenKind.CHANGE_TIME:
                        time = token.time_change
                    case TokenKind.CHANGE_SCALAR:
                        by_code[token.scalar_change.id_code].append((
                            time,
                            token.scalar_change.value,
                        ))
                    case TokenKind.CHANGE_VECTOR:
                        code, value = token.vector_change.id_code, token.vector_change.value
                        by_code[code].append((time, _shown(value, code in texts)))
                    case TokenKind.CHANGE_STRING:
                        text = token.string_change.value
                        by_code[token.string_change.id_code].append((time, text))
    except (VCDParseError, KeyError, IndexError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a waveform: {error}") from None
    return signals


def _shown(value: int | str, text: bool) -> str:
    """A value as hexadecimal digits, or as the text that its bytes are."""
    if isinstance(value, str):  # Some of its bits are unknown.
        return value
    size = (value.bit_length() + 7) // 8
    return value.to_bytes(size, "big").decode(errors="replace") if text else f"{value:x}"


def _signal(
    signals: dict[str, tuple[int, _Changes]], name: str, path: Path
) -> tuple[int, _Changes]:
    found = [each for each in signals if each == name or each.endswith(f".{name}")]
    if not found:
        near = did_you_mean(name, [each.rpartition(".")[2] for each in signals])
        raise InputError(f"{path}: there is no signal {name}{near}")
    if len(found) > 1:
        raise InputError(f"{path}: {name} is more than one signal: {', '.join(found[:4])}")
    return signals[found[0]]


def _spans(changes: _Changes, cycles: range) -> list[tuple[float, float, str]]:
    """The values in `cycles`: begin and end, in cycles from the first one, and the value."""
    begin, end = cycles.start * UNITS, cycles.stop * UNITS
    first = max(0, bisect_right(changes, begin, key=lambda change: change[0]) - 1)
    inside = [change for change in changes[first:] if change[0] < end]
    stops = [*(time for time, _ in inside[1:]), end]
    return [
        ((max(time, begin) - begin) / UNITS, (stop - begin) / UNITS, value)
        for (time, value), stop in zip(inside, stops, strict=True)
        if stop > begin
    ]


def _levels(
    spans: list[tuple[float, float, str]], left: float, top: float
) -> list[tuple[float, float]]:
    """The line of a bit: up for 1, in the middle for what is unknown, else down."""
    heights = {"0": top + LINE, "1": top}
    points = []
    for begin, end, value in spans:
        y = heights.get(value, top + LINE / 2)
        points += [(left + begin * _CYCLE, y), (left + end * _CYCLE, y)]
    return points or [(left, top + LINE / 2)]


def _values(
    drawing: Drawing, spans: list[tuple[float, float, str]], left: float, top: float
) -> None:
    """Draw a box for each value, with as much of its text as has room; a pointer shows all."""
    for begin, end, value in spans:
        if not value.strip():
            continue
        x, width = left + begin * _CYCLE, (end - begin) * _CYCLE
        drawing.box(x, top, width, LINE, fill="#eaf3fa", title=value)
        room = int((width - 4) / CHARACTER)
        drawing.text(x + 2, top + LINE - 4, value[:room])
