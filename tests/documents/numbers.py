"""Whether what a page prints is what its command prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d]|\.\d)")
_UNITS = {"M": 1e6, "k": 1e3, "ki": 1024.0}
_UNIT = re.compile(r" (M|k|ki)\b")
HOST = re.compile(
    r"(?P<number>\d[\d,.]*)(?P<unit> ?(?:s|ms|min|MB|GB|minutes?|seconds?|[MkG]?Hz)\b"
    r"| M cycles per second)"
)
"""What depends on the machine: the number may be another one."""
HOST_FACTOR = 4.0
"""How many times as much or as little a number of another machine may be."""


@dataclass(frozen=True)
class Shown:
    """A number of a page, and the size of its last digit."""

    value: float
    digit: float

    def is_(self, other: float, within: float = 0.0) -> bool:
        """Whether `other`, rounded as this one is, is this one; or is by `within` of it at most."""
        return abs(other - self.value) <= max(self.digit / 2 * 1.0001, within * abs(self.value))


def shown(text: str) -> Iterator[Shown]:
    """The numbers of `text`, with what stands behind them as M for a million."""
    for match in NUMBER.finditer(text):
        digits = match[0].replace(",", "")
        unit = _UNIT.match(text, match.end())
        factor = _UNITS[unit[1]] if unit else 1.0
        decimals = len(digits.partition(".")[2])
        yield Shown(float(digits) * factor, 10.0**-decimals * factor)


def said(says: str, page: str) -> str:
    """The numbers that stand in `page` for each `#` of `says`, which is there once."""
    number = r"(\d[\d,]*(?:\.\d+)?(?: [Mk]\b)?)"
    pattern = re.escape(" ".join(says.split())).replace(re.escape("#"), number)
    found = {match.groups() for match in re.finditer(pattern, " ".join(page.split()))}
    assert len(found) == 1, f"{says}: it is there {len(found)} times"
    return " | ".join(*found)


def values(text: str) -> list[float]:
    return [each.value for each in shown(text)]


def missing(text: str, output: str, within: float = 0.0) -> list[float]:
    """The numbers of `text` that no number of `output` is."""
    printed = values(output)
    return [
        each.value for each in shown(text) if not any(each.is_(value, within) for value in printed)
    ]


def table(page: str, head: str, columns: list[str], begin: str = "") -> list[str]:
    """The cells of `columns` of a table whose first line begins with `head`.

    Of rows that begin with `begin`.
    """
    at = page.index(f"\n{head}") + 1
    first, _, *rows = page[at:].split("\n\n", maxsplit=1)[0].splitlines()
    names = _cells(first)
    unknown = set(columns) - set(names)
    assert not unknown, f"{head}: it has no column {unknown}"
    chosen = [names.index(name) for name in columns]
    found = [cells for row in rows if (cells := _cells(row))[0].startswith(begin)]
    assert found, f"{head}: no row begins with {begin}"
    return [" | ".join(cells[at] for at in chosen) for cells in found]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def wrong_rows(rows: list[str], output: str, within: float = 0.0) -> list[str]:
    """The rows whose numbers do not stand together in any line of `output`."""
    lines = output.splitlines()
    return [row for row in rows if all(missing(row, line, within) for line in lines)]


def differences(figure: str, output: str) -> list[str]:
    """The lines of `figure` that are not in `output`, in its order.

    `...` stands for anything: for lines where it is alone, else within a line or a column.
    How wide columns are does not matter. Numbers of seconds, bytes and hertz of the host may be
    others, up to a factor of four.
    """
    left, wrong = output.splitlines(), []
    for line in figure.splitlines():
        if line.strip() in {"", "..."}:
            continue
        found = next((at for at, each in enumerate(left) if _is_like(line, each)), None)
        if found is None:
            wrong.append(line)
        else:
            left = left[found + 1 :]
    return wrong


def _is_like(line: str, printed: str) -> bool:
    wanted, hosts = [], []
    text = " ".join(line.split())
    at = 0
    for match in HOST.finditer(text):
        wanted.append(
            _pattern(text[at : match.start()]) + r"(\d[\d,.]*)" + re.escape(match["unit"])
        )
        hosts.append(_value(match["number"]))
        at = match.end()
    pattern = "".join(wanted) + _pattern(text[at:])
    found = re.fullmatch(pattern, " ".join(printed.split()))
    return found is not None and all(
        mine / HOST_FACTOR <= _value(other) <= mine * HOST_FACTOR
        for mine, other in zip(hosts, found.groups(), strict=True)
    )


def _pattern(text: str) -> str:
    return re.escape(text).replace(re.escape("..."), ".*")


def _value(number: str) -> float:
    return float(number.rstrip(".,").replace(",", ""))
