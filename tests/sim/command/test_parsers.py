"""Whatever a file holds: it is taken, or refused with a message, by all that read files."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from celosia.sim.support.checkout import checkout_root
from tests.support.parsers import PARSERS

DEEP = b"[" * 20_000
LONG = b"9" * 5_000


@st.composite
def spliced(draw, good: bytes) -> bytes:
    """Something good in which parts are replaced."""
    data = good
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(0, len(data)))
        last = draw(st.integers(first, min(len(data), first + 12)))
        middle = draw(st.one_of(st.binary(max_size=8), st.sampled_from([LONG, DEEP, b"\n", b"="])))
        data = data[:first] + middle + data[last:]
    return data


@pytest.mark.parametrize("name", PARSERS)
def test_a_file_is_taken_or_refused(name, tmp_path):
    parser, path = PARSERS[name], tmp_path / f"file{PARSERS[name].suffix}"

    @settings(max_examples=40)
    @example(DEEP)
    @example(LONG)
    @example(b'{"a":' + LONG + b"}")
    @example(b"a = " + LONG)
    @example(b"a = " + DEEP)
    @example(parser.good.replace(b"4", LONG))
    @given(st.one_of(spliced(parser.good), st.binary(max_size=60)))
    def check(data):
        path.write_bytes(data)
        parser.accepts(path)

    check()


@pytest.mark.parametrize("name", PARSERS)
def test_what_the_others_are_made_from_is_taken(name, tmp_path):
    path = tmp_path / f"file{PARSERS[name].suffix}"
    path.write_bytes(PARSERS[name].good)
    assert PARSERS[name].accepts(path)


@pytest.mark.nightly
@pytest.mark.skipif(not find_spec("atheris"), reason="not installed (extra `fuzzing`)")
@pytest.mark.parametrize("name", PARSERS)
def test_atheris_finds_nothing(name, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "good").write_bytes(PARSERS[name].good)
    words = ["-m", "tests.support.parsers", name, str(tmp_path), str(corpus)]
    limits = ["-max_total_time=60", "-timeout=20", f"-artifact_prefix={tmp_path}/", "-seed=1"]
    done = subprocess.run(
        [sys.executable, *words, *limits],
        cwd=checkout_root(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert not [*Path(tmp_path).glob("crash-*")]
