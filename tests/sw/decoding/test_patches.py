"""Words of a made-up program that depend on places of texts, and programs that are others there."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from celosia.isa.encoding import Command
from celosia.sw.decoding.patches import Patch, find_patches
from celosia.sw.decoding.texts import CacheLayout, Place
from celosia.sw.ir.graph import Tensor

LAYOUT = CacheLayout(texts=3, capacity=100)
CACHE = Tensor("cache", "int8", LAYOUT.rows, 8, cache=True)
START, ROW = 1 << 31, 8
Words = Callable[[Sequence[Place]], list[tuple[int, int]]]


def compiler(words: Words) -> Callable[[Sequence[Place]], Any]:
    """What compiles: a program whose operands are these for any places."""

    def compiled(places: Sequence[Place]) -> Any:
        return SimpleNamespace(
            program=[Command(1, *pair) for pair in words(places)],
            addresses={"cache": START, "other": START - 4096},
            graph=SimpleNamespace(
                name="g", tensors={"cache": CACHE, "other": Tensor("other", "int8", 4, 8)}
            ),
        )

    return compiled


def address(place: Place) -> int:
    """Where the first token behind a text's is written."""
    return START + (LAYOUT.first(place.slot) + place.context) * ROW


def found(words: Words, places, contexts=range(1, 60), layout=LAYOUT):
    make = compiler(words)
    return find_patches(make(places), layout, places, contexts, make)


def test_an_address_moves_with_its_slot_and_its_tokens():
    one = [Place(0, 50)]
    assert found(lambda p: [(7, 9), (3, address(p[0]))], one) == (
        Patch(1, "rs2", 0, token=ROW, slot=LAYOUT.slot_rows * ROW),
    )


def test_other_words_depend_on_tokens_alone():
    one = [Place(1, 50)]
    words = found(lambda p: [(p[0].context, 100 - 2 * p[0].context)], one)
    assert set(words) == {
        Patch(0, "rs1", 0, token=1),
        Patch(0, "rs2", 0, token=(1 << 64) - 2),
    }


def test_each_word_of_several_texts_belongs_to_one():
    places = [Place(0, 50), Place(1, 40), Place(2, 30)]

    def words(p):
        return [(address(p[0]), address(p[2])), (p[1].context, 5), (3 * p[2].context, 0)]

    assert set(found(words, places)) == {
        Patch(0, "rs1", 0, token=ROW, slot=LAYOUT.slot_rows * ROW),
        Patch(0, "rs2", 2, token=ROW, slot=LAYOUT.slot_rows * ROW),
        Patch(1, "rs1", 1, token=1),
        Patch(2, "rs1", 2, token=3),
    }


@pytest.mark.parametrize(("contexts", "count"), [(range(5, 6), 0), (range(5, 7), 1)])
def test_one_context_alone_needs_no_tokens(contexts, count):
    alone = CacheLayout(texts=1, capacity=100)
    assert len(found(lambda p: [(p[0].context, 0)], [Place(0, 6)], contexts, alone)) == count


@pytest.mark.parametrize(
    "words",
    [
        # Another number of commands, a word of two texts, and one that no address explains.
        lambda p: [(0, 0)] * (1 + p[0].slot),
        lambda p: [(p[0].context + p[1].context, 0)],
        lambda p: [(p[0].slot, 0)],
        lambda p: [(START + 2 * (LAYOUT.first(p[0].slot) + 10) * ROW, 0)],
        # The byte before the cache and the one behind it are nobody's.
        lambda p: [(START + (-1, 0, 1)[p[0].slot], 0)],
        lambda p: [(START + LAYOUT.rows * ROW - p[0].slot, 0)],
    ],
)
def test_a_program_that_is_another_one_elsewhere_is_refused(words):
    with pytest.raises(ValueError, match="graph g: for other places it is another program"):
        found(words, [Place(0, 50), Place(1, 40)])


def test_a_patched_word_wraps():
    command = Command(1, 5, (1 << 64) - 3)
    patch = Patch(0, "rs2", 0, token=2, slot=10)
    assert patch.apply(command, 1, 0) == Command(1, 5, (1 << 64) - 1)
    assert patch.apply(command, 2, 0) == Command(1, 5, 1)
    assert patch.apply(command, 0, 1) == Command(1, 5, 7)
    assert patch.apply(command, -1, 0) == Command(1, 5, (1 << 64) - 5)
