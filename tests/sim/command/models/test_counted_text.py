"""What steps of a text cost: the lines of the table, from steps that were made up."""

import io
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from celosia.sim.command.models.counted_text import CountedText, Taken


def taken(kept: int, *, rows: int, cycles: int | None, size: int, prompt: bool = False) -> Taken:
    step: Any = SimpleNamespace(rows=rows, cycles=cycles, bytes=size)
    return Taken(step, prompt, kept)


def shown(*steps: Taken, rate: int = 16, drafted: int | None = None) -> list[str]:
    checked: Any = SimpleNamespace(steps=SimpleNamespace(), compared="nothing was compared")
    text, paper = CountedText(checked), io.StringIO()
    text.taken = [*steps]
    text.show(Console(file=paper, width=200), rate, drafted)
    return paper.getvalue().splitlines()


def cells(lines: list[str], name: str) -> list[str]:
    (line,) = (line for line in lines if f"│ {name} " in line)
    return [cell.strip() for cell in line.split("│")[2:-1]]


STEPS = (
    taken(5, rows=16, cycles=2000, size=8000, prompt=True),
    taken(1, rows=16, cycles=1000, size=8000, prompt=True),
    taken(3, rows=4, cycles=1000, size=8000),
    taken(1, rows=4, cycles=1400, size=8000),
    taken(2, rows=1, cycles=800, size=6400),
)


def test_a_line_has_cycles_for_a_step_and_for_a_token_and_the_share_of_the_limit():
    """16 bytes per cycle: 8,000 bytes take 500 cycles."""
    lines = shown(*STEPS)
    # Steps, tokens, cycles per step and per token, of the limit, tokens per limit.
    assert cells(lines, "of the prompt") == ["2", "6", "1,500", "500", "33.3%", "1.00"]
    assert cells(lines, "of 4 rows") == ["2", "4", "1,200", "600", "41.7%", "0.83"]
    assert cells(lines, "of 1 row") == ["1", "2", "800", "400", "50.0%", "1.00"]
    assert cells(lines, "behind the prompt") == ["3", "6", "1,067", "533", "43.8%", "0.88"]
    assert any("weights and caches at 16 bytes per cycle" in line for line in lines)


def test_steps_that_are_all_alike_have_no_line_of_their_sum():
    lines = shown(*STEPS[:4])
    assert not any("behind the prompt" in line for line in lines)


def test_without_a_clock_there_is_no_table():
    lines = shown(taken(1, rows=1, cycles=None, size=1, prompt=True))
    assert lines == ["nothing was compared"]


def test_foretold_tokens_that_were_right_are_one_fewer_than_those_that_were_kept():
    said = [line for line in shown(*STEPS, drafted=3) if line.startswith("accepted")]
    assert said == ["accepted of 3 foretold tokens at most: 0 in 1 step, 1 in 1 step, 2 in 1 step"]
    said = [line for line in shown(*STEPS[:2], drafted=3) if line.startswith("accepted")]
    assert not said
    again = shown(*STEPS, STEPS[2], drafted=3)
    assert any(line.endswith("1 in 1 step, 2 in 2 steps") for line in again)


def test_going_back_takes_tokens_from_the_last_step():
    checked: Any = SimpleNamespace(steps=SimpleNamespace(rings=()))
    text = CountedText(checked)
    text.taken = [*STEPS[2:4]]
    kept = text.taken[-1].kept
    text._text.length = 9
    text.go_back(7)
    assert (text.taken[-1].kept, text.taken[0].kept, text._text.length) == (kept - 2, 3, 7)
    text.taken[-1].kept = kept
