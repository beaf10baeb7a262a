"""`celosia config` from outside."""

from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS
from tests.support.command_line import refused, right, valid


def test_a_configuration_is_shown_with_what_follows_from_it():
    text = right("config", "show", "tiny", "--set", "dim=8").stdout
    assert "scratchpad_bank_rows" in text
    document = valid(right("config", "show", "tiny", "--set", "dim=8", "--json", "-").stdout)
    assert document["config"]["dim"] == 8
    assert document["derived"]["macs_per_cycle"] == 64


def test_a_configuration_can_come_from_a_file():
    Path("mine.toml").write_text('preset = "tiny"\nload_queue = 8\n')
    document = valid(right("config", "show", "mine.toml", "--json", "-").stdout)
    assert document["config"]["load_queue"] == 8
    assert document["preset"] == "mine.toml"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("bad.toml: not TOML", "dim = = 3"),
        ("bad.toml: dim: 5 is not a power of two", "dim = 5"),
        ("bad.toml: speed: no such parameter", "speed = 5"),
        ("bad.toml: dim: 'wide' is not a whole number", 'dim = "wide"'),
    ],
)
def test_a_bad_configuration_file_is_refused(message, text):
    Path("bad.toml").write_text(text)
    refused(message, "config", "show", "bad.toml")


def test_presets_are_listed():
    assert all(name in right("config", "list").stdout for name in PRESETS)
    document = valid(right("config", "list", "--json", "-").stdout)
    assert set(document["presets"]) == set(PRESETS)
