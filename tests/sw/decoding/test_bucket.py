"""A patched program is the one that the compiler would make for its length."""

from dataclasses import replace
from functools import cache

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.pipeline import Decide, compile_graph
from celosia.sw.decoding import bucket as bucket_module
from celosia.sw.decoding.bucket import Patch, compile_bucket
from celosia.sw.decoding.moved import moved
from celosia.sw.decoding.texts import Text
from celosia.sw.planning.choices import Choices
from tests.sw.models.decoder_runs import model

CHOICES = Choices(schedule_loads=True)
CAPACITY, LAST = 40, 23


def step(form, rows, context):
    """A step whose rows read as many keys for every context up to `LAST`."""
    return model(form, width=64).graph([Text(context, rows)], CAPACITY, LAST + rows)


@cache
def few():
    """A bucket of a few lengths."""
    config = resolve_config("tiny", ())
    return compile_bucket(step("opt", 1, LAST), range(LAST - 4, LAST + 1), config, choices=CHOICES)


@pytest.mark.parametrize("preset", ["tiny", "base"])
@pytest.mark.parametrize(("form", "rows"), [("llama", 1), ("llama", 16), ("gpt2", 1), ("opt", 5)])
def test_a_patched_program_is_the_one_that_is_compiled(preset, form, rows):
    config, contexts = resolve_config(preset, ()), range(8, LAST + 1)
    bucket = compile_bucket(step(form, rows, LAST), contexts, config, choices=CHOICES)
    assert bucket.patches
    for context in (8, 15, LAST):
        compiled = compile_graph(step(form, rows, context), config, Decide(CHOICES))
        assert bucket.program(context) == compiled.program
        assert bucket.compiled.addresses == compiled.addresses


def test_a_bucket_of_one_length_needs_no_patch():
    config = resolve_config("tiny", ())
    bucket = compile_bucket(step("opt", 1, 7), range(7, 8), config, choices=CHOICES)
    assert not bucket.patches
    assert bucket.program(7) == bucket.compiled.program


def test_other_lengths_are_refused():
    bucket = few()
    for context in (LAST - 5, LAST + 1):
        message = f"context: {context} is not in {LAST - 4}..{LAST}"
        with pytest.raises(ValueError, match=message):
            bucket.program(context)
        with pytest.raises(ValueError, match=message):
            bucket.graph(context)


@pytest.mark.parametrize("rows", [1, 16])
@pytest.mark.parametrize("form", ["llama", "gpt2"])
def test_a_graph_that_was_moved_is_the_one_of_its_length(form, rows):
    for context in (0, 8, LAST):
        found = moved(step(form, rows, LAST), context - LAST)
        assert found.ops == step(form, rows, context).ops


def test_programs_of_which_another_one_has_a_token_less_are_refused(monkeypatch):
    real = bucket_module.compile_graph

    def compiled(graph, *how):
        found = real(graph, *how)
        longest = found.graph.ops == real(step("opt", 1, LAST), *how).graph.ops
        return found if longest else replace(found, program=found.program[:-1])

    monkeypatch.setattr(bucket_module, "compile_graph", compiled)
    with pytest.raises(ValueError, match="one token less is another program"):
        compile_bucket(
            step("opt", 1, LAST), range(20, LAST + 1), resolve_config("tiny", ()), choices=CHOICES
        )


def test_a_patch_that_leaves_the_rows_of_the_tokens_is_found(monkeypatch):
    found = bucket_module._differences

    def wrong(shorter, longer):
        patches = found(shorter, longer)
        return tuple(replace(patch, step=patch.step + 1) for patch in patches)

    monkeypatch.setattr(bucket_module, "_differences", wrong)
    with pytest.raises(AssertionError, match=r"command \d+: 0x[0-9a-f]+ to 0x[0-9a-f]+ must not"):
        compile_bucket(
            step("opt", 1, LAST), range(20, LAST + 1), resolve_config("tiny", ()), choices=CHOICES
        )


def test_a_patch_says_what_it_changes():
    bucket = few()
    assert all(isinstance(patch, Patch) for patch in bucket.patches)
    changed = {patch.entry for patch in bucket.patches}
    pairs = zip(bucket.program(LAST - 4), bucket.program(LAST), strict=True)
    assert changed == {entry for entry, (one, other) in enumerate(pairs) if one != other}
