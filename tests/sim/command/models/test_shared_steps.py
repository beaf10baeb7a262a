"""What steps of many texts cost is counted by the texts that there is room for, and with time."""

from dataclasses import dataclass
from io import StringIO

from rich.console import Console

from celosia.isa.documents.record import Record
from celosia.sim.command.models.shared_steps import SharedStep, show_steps
from celosia.sw.decoding.steps import Step
from celosia.sw.decoding.texts import Text
from celosia.sw.driver.device import RunResult


def step(contexts, cycles, read, prompt=False, rows=None):
    """A step that took so many cycles."""
    texts = tuple(Text(context, 5 if prompt else 1) for context in contexts)
    found = Step(texts, rows or len(contexts), (RunResult(cycles),), read)
    return SharedStep(found, prompt)


def shown(*steps):
    file = StringIO()
    show_steps(Console(file=file, width=120), steps, 16)
    lines = file.getvalue().splitlines()
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]


def test_steps_are_counted_by_their_texts_and_with_time():
    rows = shown(
        step([0], 100, 800, prompt=True, rows=8),
        step([5, 7], 200, 1600),
        step([6, 8], 300, 1600),
        step([9], 100, 1600),
    )
    assert rows[0] == ["of prompts", "1", "5", "100", "20", "50.0%"]
    assert rows[1] == ["of up to 2 texts", "2", "4", "250", "125", "40.0%"]
    assert rows[2] == ["of up to 1 text", "1", "1", "100", "100", "100.0%"]
    assert rows[3] == ["behind prompts", "3", "5", "200", "120", "50.0%"]
    assert rows[4] == ["step 1", "1.0", "5", "100", "20", "50.0%"]
    assert rows[5] == ["step 2", "2.0", "2", "200", "100", "50.0%"]
    assert len(rows) == 8


def test_stretches_of_time_are_at_most_eight():
    rows = shown(*(step([n, n], 100, 1600) for n in range(17)))
    assert [row[:2] for row in rows[:2]] == [["of up to 2 texts", "17"], ["behind prompts", "17"]]
    assert [row[0] for row in rows[2:]] == [
        *(f"steps {first} to {first + 2}" for first in range(1, 16, 3)),
        "steps 16 to 17",
    ]


def test_without_a_clock_there_is_no_table():
    assert shown(step([0], None, 800)) == []


@dataclass
class Document(Record):
    """A report of steps."""

    steps: list[SharedStep]


def test_a_step_says_its_contexts_and_rows():
    assert Document([step([5, 7, 9], 200, 1600, rows=4)]).document() == {
        "steps": [
            {
                "prompt": False,
                "contexts": [5, 7, 9],
                "rows": 4,
                "tokens": 3,
                "cycles": 200,
                "bytes": 1600,
            }
        ]
    }
