"""Gemmini's events: every source exists, and the document has them all."""

from pathlib import Path

from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.gemmini_events import ACTIVITIES, EVENTS, QUEUE_VALUES

DOCUMENT = Path(__file__).parents[3] / "docs" / "gemmini.md"


def test_sources_exist_and_are_counted_once():
    known = {counter.name for counter in COUNTERS} | {*ACTIVITIES, *QUEUE_VALUES}
    for event in EVENTS:
        assert set(event.sources) <= known
        assert len(set(event.sources)) == len(event.sources)


def test_numbers_follow_each_other():
    for external, count in ((False, 44), (True, 7)):
        numbers = [event.number for event in EVENTS if event.external is external]
        assert numbers == list(range(1, count + 1))


def test_names_of_sources_mean_one_thing():
    counters = {counter.name for counter in COUNTERS}
    assert counters.isdisjoint(ACTIVITIES)
    assert counters.isdisjoint(QUEUE_VALUES)


def test_the_document_has_every_event():
    lines = DOCUMENT.read_text().splitlines()
    for event in EVENTS:
        row = f"| {event.number} | `{event.name}` | {', '.join(event.sources) or '-'} |"
        assert row in lines
