"""Shares of local memories, in quarters."""

from dataclasses import fields

import pytest

from celosia.isa.config import ConfigError
from celosia.isa.presets import PRESETS
from celosia.sw.branches.shares import share_of, share_with

BASE = PRESETS["base"]
"""256 KiB of scratchpad, 64 of accumulator, 128 rows of parameters and 256 of statistics."""


@pytest.mark.parametrize(
    ("quarters", "sizes"),
    [(1, (64, 16, 32, 64)), (2, (128, 32, 64, 128)), (3, (192, 48, 96, 192))],
)
def test_each_memory_has_so_many_quarters_and_all_else_stays(quarters, sizes):
    found = share_of(BASE, quarters)
    names = ("scratchpad_kib", "accumulator_kib", "parameter_rows", "statistics_rows")
    assert tuple(getattr(found, name) for name in names) == sizes
    for each in fields(BASE):
        if each.name not in names:
            assert getattr(found, each.name) == getattr(BASE, each.name)


def test_four_quarters_are_the_accelerator():
    assert share_of(BASE, 4) is BASE


def test_too_little_is_refused_by_its_name():
    with pytest.raises(ConfigError, match=r"scratchpad_kib: 0 is less than \d+"):
        share_with(BASE, scratchpad_kib=0)
