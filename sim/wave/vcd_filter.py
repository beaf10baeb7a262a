"""Makes of the VCD text of Amaranth's simulator what was asked for, while it is written."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import TextIOBase
from typing import Final, TextIO

__all__ = ["UNITS", "VcdFilter"]

UNITS: Final = 10
"""Units of time for a cycle, in the file; a unit is 100 ps."""

_VARIABLE: Final = re.compile(r"\$var (\S+) (\d+) (\S+) (\S+)")
_ROW: Final = re.compile(r"(.+?)\[\d+\].*")
_HEADER: Final = "$version Celosia $end\n$timescale 100 ps $end\n"


@dataclass(frozen=True)
class _Variable:
    code: str
    kind: str
    bits: int

    def declare(self, name: str) -> str:
        suffix = f" [{self.bits - 1}:0]" if self.bits > 1 else ""
        return f"$var {self.kind} {self.bits} {self.code} {name}{suffix} $end\n"


class VcdFilter(TextIOBase):
    """A text file to write VCD to.

    Nothing is kept until `begin`.  The scope `root` is named `top`; what is outside of it, rows of
    memories, and names that begin with an underscore are left out.  Each value is written once for
    each time at most.

    Parameters
    ----------
    root, top : str
        Scopes.
    period : int
        Units of time for a cycle, in the text that is written here.
    """

    def __init__(self, root: str, top: str, period: int):
        self._root, self._top, self._period = root, top, period
        self._line = ""
        self._scope: list[str] = []
        self._variables: dict[str, dict[str, _Variable]] = {}
        self._values: dict[str, str] = {}
        self._pending: dict[str, str] = {}
        self._declaring = True
        self._time = self._origin = 0
        self._file: TextIO | None = None
        self._started = False
        self._first = self._end = 0
        self._kept: set[str] = set()

    @property
    def hierarchy(self) -> Mapping[str, Mapping[str, int]]:
        """The widths of each scope's signals, by their names; 0 for strings."""
        return {
            scope: {name: 0 if v.kind == "string" else v.bits for name, v in variables.items()}
            for scope, variables in self._variables.items()
        }

    @property
    def cycles(self) -> int:
        """Cycles since `begin`."""
        return (self._time - self._origin) // self._period + 1

    def begin(self, file: TextIO, start: int, stop: int, scopes: Collection[str]) -> None:
        """Begin to write cycles ``start <= cycle < stop`` of what is in `scopes` to `file`.

        Cycle 0 began at the last time that was written here.
        """
        self._file, self._origin = file, self._time
        self._first, self._end = UNITS * start, UNITS * stop
        file.write(_HEADER)
        self._declare(self._top, scopes)
        file.write("$enddefinitions $end\n")

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if self._declaring:
                self._take_declaration(line)
            else:
                self._take(line)
        return len(text)

    def finish(self) -> None:
        """Write what is left.  Nothing is written after that."""
        self._flush()
        self._file = None

    def abandon(self) -> None:
        """Write nothing from now on."""
        self._file = None

    def _take(self, line: str) -> None:
        match line[:1]:
            case "0" | "1" | "x" | "z":
                self._pending[line[1:]] = line
            case "b" | "s" | "r":
                self._pending[line.rpartition(" ")[2]] = line
            case "#":
                self._flush()
                self._time = int(line[1:])

    def _flush(self) -> None:
        """All changes at one time have been seen."""
        seen, self._pending = self._pending, {}
        changed = [code for code, line in seen.items() if self._values.get(code) != line]
        self._values |= seen
        time = (self._time - self._origin) * UNITS // self._period
        if self._file is None or not self._first <= time < self._end:
            return
        before, after = "", ""
        if not self._started:
            self._started, changed = True, [*self._values]
            before, after = "$dumpvars\n", "$end\n"
        lines = [f"{self._values[code]}\n" for code in changed if code in self._kept]
        if lines:
            self._file.write(f"#{time}\n{before}{''.join(lines)}{after}")

    def _take_declaration(self, line: str) -> None:
        if line.startswith("$scope"):
            self._scope.append(line.split()[2])
            self._variables.setdefault(self._scope_name(), {})
        elif line.startswith("$upscope"):
            self._scope.pop()
        elif match := _VARIABLE.match(line):
            kind, bits, code, name = match.groups()
            variable = _Variable(code, kind, int(bits))
            self._variables[self._scope_name()][name.removeprefix("\\")] = variable
        elif line.startswith("$enddefinitions"):
            self._declaring = False
            self._variables = {
                scope: {name: known[name] for name in known if _is_shown(name, known)}
                for scope, known in self._variables.items()
                if scope and "._" not in scope
            }

    def _scope_name(self) -> str:
        """The present scope, from the top on; empty outside of it."""
        path = ".".join(self._scope)
        inside = path == self._root or path.startswith(f"{self._root}.")
        return self._top + path.removeprefix(self._root) if inside else ""

    def _declare(self, scope: str, wanted: Collection[str]) -> None:
        assert self._file
        self._file.write(f"$scope module {scope.rpartition('.')[2]} $end\n")
        if any(_holds(outer, scope) for outer in wanted):
            for name, variable in self._variables[scope].items():
                self._file.write(variable.declare(name))
                self._kept.add(variable.code)
        for inner in self._variables:
            is_near = any(_holds(outer, inner) or _holds(inner, outer) for outer in wanted)
            if inner.rpartition(".")[0] == scope and is_near:
                self._declare(inner, wanted)
        self._file.write("$upscope $end\n")


def _is_shown(name: str, known: Collection[str]) -> bool:
    """Whether `name` is no row of a memory, which has no signal as a whole, and not hidden."""
    row = _ROW.fullmatch(name)
    return not name.startswith(("_", "$")) and (row is None or row[1] in known)


def _holds(outer: str, inner: str) -> bool:
    """Whether scope `inner` is `outer` or in it."""
    return inner == outer or inner.startswith(f"{outer}.")
