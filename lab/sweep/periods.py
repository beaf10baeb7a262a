"""What a cycle takes on each configuration, of documents of `celosia timing`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.foreign_file import MIB, parse_json
from celosia.lab.sweep.front import CYCLES, TIME
from celosia.lab.sweep.point import Line, Point
from celosia.sim.export.silicon.timing.report import TimingReport
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["Periods", "read_periods", "timed"]

Periods = Mapping[AcceleratorConfig, float]
"""Nanoseconds of a cycle, by configuration."""

_MOST_BYTES: Final = 16 * MIB
_SCRIPT: Final = "default"
"""The script of ABC whose period is taken, where a document has several."""


def read_periods(paths: Iterable[Path]) -> Periods:
    """The periods in documents of `celosia timing --json`: by the default script, or the only one.

    Raises `InputError`, with the file, for what is no such document, for one without a period, and
    for two of one configuration.
    """
    periods: dict[AcceleratorConfig, float] = {}
    for path in paths:
        config, period = _read(path)
        if config in periods:
            raise InputError(f"{path}: another file has the period of that configuration")
        periods[config] = period
    return periods


def timed(points: Sequence[Point], lines: Sequence[Line], periods: Periods) -> list[Line]:
    """The `lines` of `points`; those with cycles and a period have `us` as well."""
    return [
        {**line, **_time(line, None if point.config is None else periods.get(point.config))}
        for point, line in zip(points, lines, strict=True)
    ]


def _time(line: Line, period: float | None) -> Line:
    return {} if period is None or CYCLES not in line else {TIME: line[CYCLES] * period / 1000}


def _read(path: Path) -> tuple[AcceleratorConfig, float]:
    text = read_text(path, _MOST_BYTES)
    try:
        document = parse_json(text)
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != TimingReport.schema:
        raise InputError(
            f"{path}: schema {schema!r} is not {TimingReport.schema!r}, as `celosia timing` says"
        )
    return _config(path, document.get("config")), _period(path, document.get("scripts"))


def _config(path: Path, values: Any) -> AcceleratorConfig:
    names = {each.name for each in fields(AcceleratorConfig)}
    if not isinstance(values, dict) or values.keys() != names:
        raise InputError(f"{path}: config: not the parameters of a configuration, each once")
    try:
        return AcceleratorConfig(**values)
    except (ConfigError, TypeError) as error:
        raise InputError(f"{path}: config: {error}") from None


def _period(path: Path, scripts: Any) -> float:
    measured = scripts if isinstance(scripts, dict) else {}
    (chosen, *_) = [name for name in (_SCRIPT, *measured) if name in measured] or [_SCRIPT]
    entry = measured.get(chosen)
    period = entry.get("period_ns") if isinstance(entry, dict) else None
    if not isinstance(period, int | float) or isinstance(period, bool) or not 0 < period < 1e6:
        raise InputError(
            f"{path}: scripts.{chosen}.period_ns: {period!r} is no number of ns above 0: "
            "measure all units, not in levels"
        )
    return float(period)
