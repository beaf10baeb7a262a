"""Reads waveforms of runs: the value of each signal of a scope in each cycle."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.sim.export.silicon.power.gates import Bits, bits_of

__all__ = ["Recorded", "read_wave"]

_TICKS: Final = 10
"""The ticks of a cycle in waveforms of Verilator (`trace.h`)."""
_VARIABLE: Final = re.compile(r"\$var \S+ (\d+) (\S+) (.*?)(?: \[\d+:0\])? \$end")


@dataclass(frozen=True)
class Recorded:
    """Signals of a scope, by name."""

    signals: Mapping[str, Bits]


def read_wave(
    path: Path, scopes: Iterable[str], spans: Sequence[tuple[int, int]] = ((0, 1 << 60),)
) -> Iterator[dict[str, Recorded]]:
    """The signals of `scopes` in each cycle of the VCD file `path`, span by span.

    `spans` are what the file is of, START:STOP of each in order.  A signal has in a cycle the value
    that it has at its end.
    """
    wanted = set(scopes)
    with open(path, encoding="ascii") as file:
        places, widths = _header(file, wanted)
        for columns in _values(file, widths, [stop for _, stop in spans]):
            yield {
                scope: Recorded({
                    name: bits_of(columns[code], widths[code]) for name, code in signals.items()
                })
                for scope, signals in places.items()
            }


def _header(
    file: Iterable[str], wanted: set[str]
) -> tuple[dict[str, dict[str, str]], dict[str, int]]:
    places: dict[str, dict[str, str]] = {scope: {} for scope in wanted}
    widths: dict[str, int] = {}
    stack: list[str] = []
    for line in file:
        text = line.strip()
        if text.startswith("$scope"):
            stack.append(text.split()[2])
        elif text.startswith("$upscope"):
            stack.pop()
        elif text.startswith("$enddefinitions"):
            return places, widths
        elif (found := _VARIABLE.match(text)) and (scope := ".".join(stack)) in wanted:
            places[scope][found[3]] = found[2]
            widths[found[2]] = int(found[1])
    return places, widths


class _Columns:
    """The value of each signal in each cycle that is over."""

    def __init__(self, codes: Iterable[str]):
        self.now = dict.fromkeys(codes, 0)
        self._done: dict[str, list[int]] = {code: [] for code in self.now}
        self._changed: set[str] = set()
        self._length = 0

    def set(self, code: str, value: int) -> None:
        """Signal `code` has a new value."""
        if code in self.now:
            self.now[code] = value
            self._changed.add(code)

    def end(self, cycles: int) -> None:
        """The cycle is over, and so are others behind it in which nothing changed."""
        for code in self._changed:
            self._fill(code)
            self._done[code].append(self.now[code])
        self._changed.clear()
        self._length += cycles

    def take(self) -> Mapping[str, list[int]]:
        """All cycles that are over; the next ones begin anew."""
        for code in self._done:
            self._fill(code)
        done, self._done = self._done, {code: [] for code in self._done}
        self._length = 0
        # What does not change any more has the value that it had.
        self._changed = set(self._done)
        return done

    def _fill(self, code: str) -> None:
        column = self._done[code]
        last = column[-1] if column else 0
        column += [last] * (self._length - len(column))


def _values(
    file: Iterable[str], widths: Mapping[str, int], stops: Iterable[int]
) -> Iterator[Mapping[str, list[int]]]:
    """The columns of each span; `stops` are the cycles behind them."""
    columns, cycle, bounds = _Columns(widths), -1, iter(stops)
    stop = next(bounds)
    for line in file:
        head = line[0]
        if head == "#":
            at = int(line[1:]) // _TICKS
            if cycle not in (-1, at):
                columns.end(min(at, stop) - cycle)
            if at >= stop:
                yield columns.take()
                stop = next(bounds)
            cycle = at
        elif head == "b":
            digits, code = line[1:].split()
            columns.set(code, int(digits, 2))
        elif head in "01":
            columns.set(line[1:-1], int(head))
    columns.end(1)
    yield columns.take()
