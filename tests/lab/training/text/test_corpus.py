"""The text that is learned."""

from collections import Counter
from itertools import pairwise

import pytest

from celosia.lab.training.text.corpus import (
    Document,
    corpus_key,
    documents,
    part_of,
    shingles,
    training_texts,
    without_near_duplicates,
)
from celosia.lab.training.text.held_out import held_out_texts

SOURCE = '''"""What the module is for, in a sentence."""

class Thing:
    """A thing that has methods,
    and a second line.

        indented
    """

    def act(self):
        """Act in some way or another."""

async def late():
    """Come late, but come in the end."""

def short():
    """Too short."""
'''.replace("methods,", "methods,   ")


def texts_of(folder) -> list[tuple[str, str]]:
    return [(document.module, document.text) for document in documents(folder)]


def test_docstrings_come_in_their_order_and_clean(tmp_path):
    (tmp_path / "thing.py").write_text(SOURCE)
    assert texts_of(tmp_path) == [
        ("thing", "What the module is for, in a sentence."),
        ("thing", "A thing that has methods,\nand a second line.\n\n    indented"),
        ("thing", "Act in some way or another."),
        ("thing", "Come late, but come in the end."),
    ]


def test_tests_and_files_with_a_licence_of_their_own_are_left_out(tmp_path):
    for name in ("a.py", "test/b.py", "pack/tests/c.py", "pack/inner/d.py", "pack/e.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""What {name} is for, in a sentence."""\n')
    with (tmp_path / "pack/e.py").open("a") as file:
        file.write("# Permission to  use, copy and sell this is hereby\n# granted.\n")
    assert [module for module, _ in texts_of(tmp_path)] == ["a", "pack"]


def test_a_module_and_its_inner_half_are_of_one_part():
    assert part_of("io") == part_of("_io")
    parts = Counter(part_of(f"module{number}") for number in range(4000))
    assert 200 < parts["held-out"] < 300
    assert 200 < parts["validation"] < 300


def test_shingles_are_runs_of_words():
    assert shingles("One, two: three four FIVE six") == {
        ("one", "two", "three", "four", "five"),
        ("two", "three", "four", "five", "six"),
    }
    assert shingles("Only two.") == {("only", "two")}


def test_of_near_duplicates_the_training_text_gives_way():
    held_out = next(name for name in map(str, range(99)) if part_of(name) == "held-out")
    training = next(name for name in map(str, range(99)) if part_of(name) == "training")
    text = "Return the name of the file that is next in line, or none if there is no more."
    near, far = text.replace("file", "folder", 1), "Say hello to each of the guests in turn."
    order = [(training, text), (training, near), (training, far), (held_out, text)]
    kept = without_near_duplicates(Document(*each) for each in order)
    assert [(document.module, document.text) for document in kept] == [
        (held_out, text),
        (training, far),
    ]


def test_the_key_is_that_of_texts_in_their_order():
    keys = [corpus_key(texts) for texts in (["ab", "c"], ["a", "bc"], ["c", "ab"], [])]
    assert len(set(keys)) == 4
    assert keys[0] == corpus_key(["ab", "c"])


@pytest.fixture(scope="module")
def learned():
    return training_texts()


def test_there_is_enough_to_learn(learned):
    assert sum(map(len, learned)) > 1_000_000
    assert any(text.startswith("Boolean operations\n****") for text in learned)


def test_hardly_any_run_of_words_is_both_learned_and_held_out(learned):
    known = set().union(*map(shingles, learned))
    held_out = [shingles(text) for _, text in held_out_texts()]
    assert all(len(each & known) <= 0.3 * len(each) for each in held_out)
    runs = set().union(*held_out)
    assert len(runs & known) < 0.05 * len(runs)


def test_no_module_is_in_two_parts():
    assert {part_of(module) for module, _ in held_out_texts()} == {"held-out"}
    assert all(a != b for a, b in pairwise(held_out_texts()))
