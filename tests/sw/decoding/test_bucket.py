"""A patched program is the one that the compiler would make for its length."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler import choose as choosing
from celosia.sw.compiler.passes import Compress
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.decoding import bucket as bucket_module
from celosia.sw.decoding.bucket import choose_step, compile_bucket
from celosia.sw.decoding.moved import moved
from celosia.sw.decoding.patches import Patch
from celosia.sw.decoding.texts import CacheLayout, Place, Text
from celosia.sw.planning.choices import Choices
from tests.sw.models.decoder_runs import model

CHOICES = Choices(schedule_loads=True)
CAPACITY, LAST = 40, 23
ONE = CacheLayout(1, CAPACITY)


def step(form, rows, *contexts):
    """A step whose rows read as many keys for every context up to `LAST`."""
    texts = [Text(context, rows) for context in contexts]
    return model(form, width=64).graph(texts, CAPACITY, LAST + rows)


def alone(context):
    """The places of one text."""
    return [Place(0, context)]


@cache
def few():
    """A bucket of a few lengths."""
    config = resolve_config("tiny", ())
    contexts = range(LAST - 4, LAST + 1)
    return compile_bucket(step("opt", 1, LAST), ONE, contexts, config, choices=CHOICES)


@pytest.mark.parametrize(
    ("cycles", "best"),
    [({0: 100, 16: 90, 32: 95}, 16), ({0: 90, 16: 90, 32: 90}, 0), ({0: 91, 16: 92, 32: 90}, 32)],
)
def test_sizes_of_a_step_are_what_is_predicted_to_be_best(monkeypatch, cycles, best):
    tiny = resolve_config("tiny", ())

    def cost(choices):
        # Pieces of two tiles are better with any spare, those of one tile are impossible.
        if choices.piece_tiles == 1:
            raise ValueError
        return cycles[choices.spare_tiles] + 10 * choices.piece_tiles

    monkeypatch.setattr(choosing, "planned", lambda *given: given[-1])
    monkeypatch.setattr(choosing, "PlanCosts", lambda *_: cost)
    graph = step("opt", 1, LAST)
    small = replace(CHOICES, piece_tiles=2)
    assert choose_step(graph, tiny, CHOICES) == replace(small, spare_tiles=best)
    assert choose_step(graph, tiny, Choices()) == Choices(piece_tiles=2)
    monkeypatch.setattr(bucket_module, "SEARCHED_TILES", 0)
    assert choose_step(graph, tiny, CHOICES) == CHOICES


@pytest.mark.usefixtures("compared_steps")
@pytest.mark.parametrize(
    ("form", "rows", "preset"),
    [
        *(("llama", 1, "tiny"), ("gpt2", 1, "tiny"), ("opt", 5, "tiny")),
        *(("llama", 1, "base"), ("llama", 16, "base"), ("gpt2", 1, "base"), ("opt", 5, "base")),
        pytest.param("llama", 16, "tiny", marks=pytest.mark.nightly),
    ],
)
def test_a_patched_program_is_the_one_that_is_compiled(preset, form, rows):
    config, contexts = resolve_config(preset, ()), range(8, LAST + 1)
    bucket = compile_bucket(step(form, rows, LAST), ONE, contexts, config, choices=CHOICES)
    assert bucket.patches
    for context in (8, 15, LAST):
        compiled = compile_graph(step(form, rows, context), config, Decide(bucket.choices))
        assert bucket.program(alone(context)) == compiled.program
        assert bucket.compiled.addresses == compiled.addresses


def test_a_bucket_of_one_length_needs_no_patch():
    config = resolve_config("tiny", ())
    bucket = compile_bucket(step("opt", 1, 7), ONE, range(7, 8), config, choices=CHOICES)
    assert not bucket.patches
    assert bucket.program(alone(7)) == bucket.compiled.program


def test_other_lengths_are_refused():
    bucket = few()
    for context in (LAST - 5, LAST + 1):
        message = f"context: {context} is not in {LAST - 4}..{LAST}"
        with pytest.raises(ValueError, match=message):
            bucket.program(alone(context))
        with pytest.raises(ValueError, match=message):
            bucket.graph(alone(context))


@pytest.mark.parametrize("rows", [1, 16])
@pytest.mark.parametrize("form", ["llama", "gpt2"])
def test_a_graph_that_was_moved_is_the_one_of_its_length(form, rows):
    for context in (0, 8, LAST):
        found = moved(step(form, rows, LAST), ONE, alone(LAST), alone(context))
        assert found.ops == step(form, rows, context).ops


def test_programs_of_which_another_one_has_a_token_less_are_refused(monkeypatch):
    real = bucket_module.compile_graph

    def compiled(graph, *how):
        found = real(graph, *how)
        longest = found.graph.ops == real(step("opt", 1, LAST), *how).graph.ops
        return found if longest else replace(found, program=found.program[:-1])

    monkeypatch.setattr(bucket_module, "compile_graph", compiled)
    with pytest.raises(ValueError, match="for other places it is another program"):
        compile_bucket(
            step("opt", 1, LAST),
            ONE,
            range(20, LAST + 1),
            resolve_config("tiny", ()),
            choices=CHOICES,
        )


def test_a_patch_that_leaves_the_rows_of_the_tokens_is_found(monkeypatch):
    found = bucket_module.find_patches

    def wrong(*given):
        return tuple(replace(patch, token=patch.token + 1) for patch in found(*given))

    monkeypatch.setattr(bucket_module, "find_patches", wrong)
    with pytest.raises(AssertionError, match=r"command \d+: 0x[0-9a-f]+ to 0x[0-9a-f]+ must not"):
        compile_bucket(
            step("opt", 1, LAST),
            ONE,
            range(20, LAST + 1),
            resolve_config("tiny", ()),
            choices=CHOICES,
        )


def test_a_patch_says_what_it_changes():
    bucket = few()
    assert all(isinstance(patch, Patch) for patch in bucket.patches)
    changed = {patch.entry for patch in bucket.patches}
    pairs = zip(bucket.program(alone(LAST - 4)), bucket.program(alone(LAST)), strict=True)
    assert changed == {entry for entry, (one, other) in enumerate(pairs) if one != other}


@cache
def several(preset, form, texts, slots):
    """A bucket of several texts, and the layout of their caches."""
    layout, config = CacheLayout(slots, CAPACITY), resolve_config(preset, ())
    (segment,) = (
        model(form, width=64)
        .decoder.step([Text(LAST, 1)] * texts, layout, LAST + 1, named=True, moving=True)
        .model.segments
    )
    contexts = range(LAST + 1)
    return compile_bucket(segment.graph, layout, contexts, config, choices=CHOICES, texts=texts)


@pytest.mark.parametrize(
    ("form", "texts", "slots", "preset"),
    [
        *(("llama", 4, 4, "tiny"), ("gpt2", 2, 8, "tiny"), ("opt", 1, 4, "tiny")),
        *(("llama", 4, 4, "base"), ("gpt2", 2, 8, "base"), ("opt", 1, 4, "base")),
        ("llama", 8, 16, "base"),
        pytest.param("llama", 8, 16, "tiny", marks=pytest.mark.nightly),
    ],
)
def test_a_program_of_several_texts_is_the_one_that_is_compiled_for_any_places(
    preset, form, texts, slots
):
    bucket, random = several(preset, form, texts, slots), np.random.default_rng(texts)
    how = Decide(bucket.choices), Compress(loops=texts == 1)
    config = resolve_config(preset, ())
    for _ in range(2):
        contexts = random.integers(0, LAST + 1, texts).tolist()
        places = list(map(Place, random.permutation(slots)[:texts].tolist(), contexts))
        compiled = compile_graph(bucket.graph(places), config, *how)
        assert bucket.program(places) == compiled.program
        assert bucket.compiled.addresses == compiled.addresses


def test_a_graph_of_several_texts_that_was_moved_is_the_one_of_their_lengths():
    before, after = [20, 3, 7], [0, 23, 9]
    found = moved(
        step("gpt2", 1, *before),
        CacheLayout(3, CAPACITY),
        list(map(Place, range(3), before)),
        list(map(Place, range(3), after)),
    )
    assert found.ops == step("gpt2", 1, *after).ops


def test_a_text_that_was_moved_reads_and_writes_rows_of_its_new_slot_alone():
    layout = CacheLayout(3, CAPACITY)
    before = [Place(0, 5), Place(1, 9), Place(2, 2)]
    graph = step("opt", 1, 5, 9, 2)
    found = moved(graph, layout, before, [Place(2, 5), Place(0, 9), Place(1, 2)])
    new = {0: 2, 1: 0, 2: 1}
    for one, other in zip(graph.ops, found.ops, strict=True):
        views = zip((*one.operands, *one.results), (*other.operands, *other.results), strict=True)
        for old, moved_view in views:
            if graph.tensors[old.tensor].cache:
                slot, row = divmod(old.row - 16, CAPACITY + 16)
                assert moved_view.row == 16 + new[slot] * (CAPACITY + 16) + row
            else:
                assert moved_view == old


def test_places_that_a_program_is_not_for_are_refused():
    bucket = several("tiny", "gpt2", 2, 8)
    for places, message in (
        ([Place(0, 1)], "places: there are 1, not 2"),
        ([Place(3, 1), Place(3, 2)], "slot: two texts have the same one"),
        ([Place(0, 1), Place(8, 2)], r"slot: 8 is not in 0\.\.7"),
        ([Place(0, 1), Place(1, 24)], r"context: 24 is not in 0\.\.23"),
    ):
        with pytest.raises(ValueError, match=message):
            bucket.program(places)


def test_too_few_lengths_for_as_many_texts_are_refused():
    with pytest.raises(ValueError, match="contexts: 3 are not 4, two for each text"):
        compile_bucket(
            step("opt", 1, 2, 2),
            CacheLayout(2, CAPACITY),
            range(3),
            resolve_config("tiny", ()),
            texts=2,
        )


def test_a_row_that_the_host_writes_goes_with_its_text():
    bucket, own = several("tiny", "gpt2", 2, 8), 16 + LAST
    places = [Place(5, 3), Place(0, 9)]
    assert bucket.moved_row(own, places) == 16 + 5 * (CAPACITY + 16) + 3
    assert bucket.moved_row(own + CAPACITY + 16, places) == 16 + 9
