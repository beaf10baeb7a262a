"""Writes the cells of a systolic array as a loop over arrays.

Verilator writes C++ for each cell of an array apart: 256 times the same few instructions, more than
an instruction cache holds.  Here, registers ``NAME_ROW_COL`` whose updates are the same in each row
become one array per column, and their updates one loop over the rows::

    assign p = $signed(act_3_1) * $signed(weight_3_2);    for (row = 14; row >= 1; row = row - 1)
    assign t = $signed(sum_2_2) + $signed(p);          =>   sum_2[row] = sum_2[row - 1]
    always @(posedge clk) sum_3_2 <= t[19:0];                          + act_1[row] * weight_2[row];

Elements are so wide that nothing is masked or sign-extended: the low bits of a sum or a product
depend on low bits only, so what a register cuts off is cut off where its value leaves the arrays.
Within a cycle, whoever reads an element comes before whoever writes it.

The text must be what `celosia.sim.verilator.verilog` makes of Yosys' output.  A module that does
not look like that, or has no such cells, stays as it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from celosia.sim.verilator.netlist.text import NAME, USE, at_the_end, each_module

__all__ = ["MIN_ROWS", "roll_cells"]

MIN_ROWS = 3
"""A loop over fewer rows is not worth it."""

_K = TypeVar("_K", bound=Hashable)
_ELEMENT_BITS = 32
_ROW = "\\$row "
_SCALARS = "scalars"
_CELL = re.compile(r"([A-Za-z]\w*?)_(\d+)_(\d+)")
_DECLARED = re.compile(rf"  (?:wire|reg) (?:\[(\d+):0\] )?({NAME}) ?(?:= [^;]*)?;\n")
_UPDATE = re.compile(
    rf"  always @\(posedge (\S+?) ?\)(?:\n    ({NAME}) ?<= ([^;\n]*);\n"
    rf"| begin\n    if \((.*)\) begin\n      ({NAME}) ?<= ([^;\n]*);\n    end\n  end\n)"
)
_PRODUCT = re.compile(rf"  assign ({NAME}) ?= \$signed\(({NAME})\) \* \$signed\(({NAME})\);\n")
_SUM = re.compile(rf"  assign ({NAME}) ?= \$signed\(({NAME}|\d+'h0+)\) \+ \$signed\(({NAME})\);\n")
_PART = re.compile(rf"{NAME}\[(\d+):(\d+)\]")
_CUT = re.compile(rf"({NAME}) ?\[(\d+):0\] ?")


def roll_cells(verilog: str) -> str:
    """`verilog`, the cells of each module rolled up."""
    return each_module(verilog, _roll_module)


class _Cell(NamedTuple):
    """A register's place, as its name has it."""

    family: str
    row: int
    col: int

    @property
    def array(self) -> str:
        return f"{self.family}_column_{self.col}"


@dataclass(frozen=True)
class _Update:
    """How a register is clocked: moved from one operand, or the first plus the product of two."""

    spans: tuple[tuple[int, int], ...]
    """Where all of it stands in the module."""
    inner: tuple[str, ...]
    """Wires that nobody else looks at."""
    clock: str
    condition: str
    target: str
    operands: tuple[str, ...]

    @property
    def is_sum(self) -> bool:
        return len(self.operands) > 1


_Pattern = tuple[tuple[str, int, int], ...]
"""Each operand's family, distance in rows, and column."""


class _Column(NamedTuple):
    family: str
    col: int


@dataclass(frozen=True)
class _Loop:
    """Rows whose updates are the same, and those of one of them by column."""

    rows: range
    """Downward, unless the updates look at the row below."""
    updates: dict[_Column, _Update]


def _roll_module(module: str) -> str:
    if not _PRODUCT.search(module):
        return module
    widths = {match[2].strip(): int(match[1] or 0) + 1 for match in _DECLARED.finditer(module)}
    updates = {update.target: update for update in _updates(module, widths)}
    if not any(update.is_sum for update in updates.values()):
        return module
    families = _families(updates)
    read = {name for update in updates.values() for name in update.operands}
    elements = {
        name
        for name in updates
        if name in read and (cell := _cell(name)) and cell.family in families
    }
    by_family: dict[str, list[_Update]] = defaultdict(list)
    for name in elements:
        if cell := _cell(name):
            by_family[cell.family].append(updates[name])
    taken, elements = _private(module, updates, elements)
    loop = _loop(updates, elements)
    summed = {
        name
        for name in elements
        if (cell := _cell(name)) and any(each.is_sum for each in by_family[cell.family])
    }
    if not loop or not all(_exact(update, widths, elements, summed) for update in taken):
        return module
    try:
        statements = [*_statements(taken, loop, elements)]
    except CycleError:
        return module
    return _rewritten(module, taken, elements, statements)


def _cell(name: str) -> _Cell | None:
    match = _CELL.fullmatch(name)
    return _Cell(match[1], int(match[2]), int(match[3])) if match else None


def _updates(module: str, widths: dict[str, int]) -> Iterator[_Update]:
    """The registers of `module` that are updated as `_Update` says."""
    uses = Counter(name.strip() for name in USE.findall(module))
    products = {match[1].strip(): match for match in _PRODUCT.finditer(module)}
    sums = {match[1].strip(): match for match in _SUM.finditer(module)}
    for match in _UPDATE.finditer(module):
        clock, *_ = match.groups()
        target, value = (match[2] or match[5]).strip(), (match[3] or match[6]).strip()
        condition = match[4] or ""
        part = _PART.fullmatch(value)
        width = int(part[1]) - int(part[2]) + 1 if part else widths.get(value)
        if width and width == widths.get(target):
            yield _Update((match.span(),), (), clock, condition, target, (value,))
        cut = _CUT.fullmatch(f"{value} ")
        total = sums.get(cut[1].strip()) if cut else None
        product = products.get(total[3].strip()) if total else None
        if not (cut and total and product):
            continue
        inner = (total[1].strip(), product[1].strip())
        left, right = product[2].strip(), product[3].strip()
        # Nothing is lost on the way to the cut, and nobody else looks at it.
        if (
            int(cut[2]) + 1 == widths[target] <= min(widths[inner[0]], _ELEMENT_BITS)
            and widths[inner[1]] >= widths.get(left, _ELEMENT_BITS) + widths.get(right, 0)
            and all(uses[name] == 3 for name in inner)
        ):
            spans = (match.span(), total.span(), product.span())
            operands = (total[2].strip(), left, right)
            yield _Update(spans, inner, clock, condition, target, operands)


def _families(updates: dict[str, _Update]) -> set[str]:
    """Families of the cells that add up products of cells."""
    families = set()
    for update in updates.values():
        cells = [_cell(name) for name in (update.target, *update.operands)]
        if update.is_sum and all(cells) and _pattern(update) == _pattern_below(update, updates):
            families |= {cell.family for cell in cells if cell}
    return families


def _pattern(update: _Update | None) -> _Pattern | None:
    """What is the same in all rows that a loop covers; None if no loop does."""
    cell = _cell(update.target) if update else None
    if not update or not cell or update.condition:
        return None
    operands = [_cell(name) for name in update.operands]
    if not all(operands):
        return None
    return tuple((other.family, other.row - cell.row, other.col) for other in operands if other)


def _pattern_below(update: _Update, updates: dict[str, _Update]) -> _Pattern | None:
    cell = _cell(update.target)
    return cell and _pattern(updates.get(f"{cell.family}_{cell.row + 1}_{cell.col}"))


def _private(
    module: str, updates: dict[str, _Update], elements: set[str]
) -> tuple[list[_Update], set[str]]:
    """The updates that read or write elements, and the elements that nothing else knows."""
    while True:
        taken = [
            update
            for update in updates.values()
            if elements.intersection([update.target, *update.operands])
        ]
        text = _DECLARED.sub("", _without(module, taken))
        conditions = " ".join(update.condition for update in taken)
        known = {name.strip() for name in USE.findall(f"{text} {conditions}")}
        if not elements & known:
            return taken, elements
        elements = elements - known


def _without(module: str, updates: Iterable[_Update]) -> str:
    kept, end = [], 0
    for start, stop in sorted(span for update in updates for span in update.spans):
        kept.append(module[end:start])
        end = stop
    return "".join([*kept, module[end:]])


def _loop(updates: dict[str, _Update], elements: set[str]) -> _Loop | None:
    """The most rows that have the same updates in all columns, by their first one."""
    columns: dict[_Column, dict[int, _Update]] = defaultdict(dict)
    for name in sorted(elements):
        cell, update = _cell(name), updates[name]
        if cell and _pattern(update) and elements.issuperset(update.operands):
            columns[_Column(cell.family, cell.col)][cell.row] = update
    best: list[int] = []
    run: list[int] = []
    columns = {column: rows for column, rows in columns.items() if len(rows) >= MIN_ROWS}
    for row in sorted({row for rows in columns.values() for row in rows}):
        same = all(
            row in rows and (not run or _pattern(rows[row]) == _pattern(rows.get(run[-1])))
            for rows in columns.values()
        )
        follows = same and (not run or row == run[-1] + 1)
        run = [*run, row] if follows else []
        best = max(best, run, key=len)
    patterns = [_pattern(rows[best[0]]) for rows in columns.values()] if best else []
    steps = {step for pattern in patterns for _, step, _ in pattern or ()}
    sums = any(len(pattern) > 1 for pattern in patterns if pattern)
    if not sums or len(best) < MIN_ROWS or {-1, 1} <= steps or not steps <= {-1, 0, 1}:
        return None
    rows = range(best[0], best[-1] + 1)
    return _Loop(
        rows if 1 in steps else rows[::-1],
        {column: by_row[best[0]] for column, by_row in columns.items()},
    )


def _exact(update: _Update, widths: dict[str, int], elements: set[str], summed: set[str]) -> bool:
    """What a register would cut off makes no difference: not to a factor, not to a move.

    The elements in `summed` may have wrong high bits.
    """
    if not update.is_sum:
        return update.target not in elements - summed or update.operands[0] not in summed
    above, *factors = update.operands
    wide = above not in summed or widths[above] >= widths[update.target]
    return wide and not summed.intersection(factors)


def _statements(taken: list[_Update], loop: _Loop, elements: set[str]) -> Iterator[str]:
    """All updates, each reader of an element before its writer; raises `CycleError` if none is."""
    looped = {f"{column.family}_{row}_{column.col}" for column in loop.updates for row in loop.rows}
    groups: dict[str, list[_Update]] = defaultdict(list)
    for update in taken:
        if update.target not in elements:
            groups[_SCALARS].append(update)
        elif update.target in looped:
            groups["loop"].append(update)
        else:
            groups[f"if {update.condition}" if update.condition else update.target].append(update)
    for key in _readers_first(groups):
        if key == "loop":
            yield from _loop_statements(loop)
        elif key == _SCALARS or len(groups[key]) == 1:
            for update in groups[key]:
                yield from _guarded(update.condition, [_assignment(update, elements)])
        else:
            parts = [_assignment(update, elements) for update in groups[key]]
            yield from _guarded(groups[key][0].condition, parts)


def _readers_first(groups: dict[_K, list[_Update]]) -> Iterator[_K]:
    """The keys, those whose updates read a register before the one whose updates write it.

    Otherwise as they come.
    """
    writers = {
        update.target: key
        for key, group in groups.items()
        for update in group
        if key != _SCALARS  # They take their values after all has been read.
    }
    graph: dict[_K, set[_K]] = {key: set() for key in groups}
    for key, group in groups.items():
        for update in group:
            for name in update.operands:
                if name in writers and writers[name] != key:
                    graph[writers[name]].add(key)
    sorter, place = TopologicalSorter(graph), {key: at for at, key in enumerate(groups)}
    sorter.prepare()
    ready: list[tuple[int, _K]] = []
    while sorter.is_active():
        for key in sorter.get_ready():
            heappush(ready, (place[key], key))
        _, key = heappop(ready)
        yield key
        sorter.done(key)


def _guarded(condition: str, statements: list[str]) -> Iterator[str]:
    if not condition:
        yield from (f"    {statement}" for statement in statements)
        return
    yield f"    if ({condition}) begin\n"
    yield from (f"      {statement}" for statement in statements)
    yield "    end\n"


def _loop_statements(loop: _Loop) -> Iterator[str]:
    first, last, step = loop.rows[0], loop.rows[-1], loop.rows.step
    yield "    /* verilator unroll_disable */\n"
    yield (
        f"    for ({_ROW}= {first}; {_ROW}{'>=' if step < 0 else '<='} {last}; "
        f"{_ROW}= {_ROW}{'-' if step < 0 else '+'} 1) begin\n"
    )
    # From column to column, so that what is loaded for one is still there for the next.
    columns = sorted(loop.updates, key=lambda column: (-column.col, column.family))
    for column in _readers_first({column: [loop.updates[column]] for column in columns}):
        update = loop.updates[column]
        own = _cell(update.target)
        assert own
        values = [
            f"{cell.array}[{_ROW}{_offset(cell.row - own.row)}]"
            for cell in map(_cell, update.operands)
            if cell
        ]
        yield f"      {own.array}[{_ROW}] = {_value(values)};\n"
    yield "    end\n"


def _offset(step: int) -> str:
    return f"{'+' if step > 0 else '-'} {abs(step)}" if step else ""


def _assignment(update: _Update, elements: set[str]) -> str:
    def text(name: str) -> str:
        cell = _cell(name) if name in elements else None
        if cell:
            return f"{cell.array}[{cell.row}]"
        return "0" if name[0].isdigit() else f"$signed({name} )"

    cell = _cell(update.target) if update.target in elements else None
    target = f"{cell.array}[{cell.row}] =" if cell else f"{update.target} <="
    return f"{target} {_value([text(name) for name in update.operands])};\n"


def _value(operands: list[str]) -> str:
    return operands[0] if len(operands) == 1 else "{} + {} * {}".format(*operands)


def _rewritten(module: str, taken: list[_Update], elements: set[str], statements: list[str]) -> str:
    """`module` with `statements` for the updates that were `taken`, and arrays for `elements`."""
    module = _without(module, taken)
    gone = elements.union(*(update.inner for update in taken))
    module = _DECLARED.sub(lambda line: "" if line[2].strip() in gone else line[0], module)
    cells = [cell for name in elements if (cell := _cell(name))]
    # A power of two, so that no index is out of range.
    size = 1 << max(cell.row for cell in cells).bit_length()
    arrays = sorted({cell.array for cell in cells})
    block = [f"  reg signed [{_ELEMENT_BITS - 1}:0] {name} [0:{size - 1}];\n" for name in arrays]
    block += [
        f"  integer {_ROW};\n  initial\n",
        f"    for ({_ROW}= 0; {_ROW}< {size}; {_ROW}= {_ROW}+ 1) begin\n",
        *(f"      {name}[{_ROW}] = 0;\n" for name in arrays),
        f"    end\n  always @(posedge {taken[0].clock} ) begin\n",
        *statements,
        "  end\n",
    ]
    return at_the_end(module, "".join(block))
