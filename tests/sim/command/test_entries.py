"""Groups of commands, and shells that complete them."""

import re
import subprocess
import sys

from celosia.sim.command.entries import Panel
from tests.support.command_line import right


def test_help_groups_all_commands_in_a_fixed_order():
    text = right("--help").stdout
    panels = re.findall(r"(?m)^╭─ (.*?) ─", text)
    assert panels == ["Options", *Panel]
    places = [text.index(f"│ {name} ") for name in ("run", "plan", "check", "optimize", "tune")]
    assert places == sorted(places)


def test_help_breaks_paragraphs_where_a_line_ends():
    lines = [line.strip() for line in right("nas", "--help").stdout.splitlines()]
    first = next(n for n, line in enumerate(lines) if line.startswith("A supernet is trained"))
    assert lines[first + 1] == "command goes on where it was interrupted."


def test_a_shell_completes_commands_of_all_packages():
    words = {"_CELOSIA_COMPLETE": "complete_bash", "COMP_WORDS": "celosia t", "COMP_CWORD": "1"}
    script = "import sys, os; sys.argv[0] = 'celosia'; from celosia.sim.cli import main; main()"
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, env=words, capture_output=True, text=True, check=False)
    assert set(found.stdout.split()) == {"top", "timing", "tune"}, found.stderr
