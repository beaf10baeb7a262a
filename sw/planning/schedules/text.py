"""Schedules as TOML: the plan that they begin with, and a table for each primitive."""

from celosia.sw.planning.forms.text import entries, parse_form
from celosia.sw.planning.schedules.primitives import ScheduleFile

__all__ = ["parse_schedule", "print_schedule"]


def print_schedule(schedule: ScheduleFile) -> str:
    """The text of `schedule`, which reads back."""
    lines = [f'start = "{schedule.start}"']
    for step in schedule.steps:
        lines += ["", "[[steps]]", *entries(step)]
    return "".join(f"{line}\n" for line in lines)


def parse_schedule(text: str) -> ScheduleFile:
    """The schedule of a text.

    Raises `ValueError` that names line and column of what is no TOML, and the path of a field that
    is missing, unknown or of another type.
    """
    return parse_form(ScheduleFile, text, "schedule")
