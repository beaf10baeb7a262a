"""`celosia opt` on texts, with what it must print in their comments (LLVM's FileCheck).

The first line of a text has the options.  Constants are random.
"""

from pathlib import Path

import numpy as np
import pytest
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options

from celosia.lab.substitute.graph_file import save_text
from celosia.sw.frontend.nn.text import blank_constants as blank_floats
from celosia.sw.mlir.read_graph import blank_constants
from celosia.sw.models.dialects.levels import parse_level
from tests.support.command_line import invoke

TEXTS = sorted((Path(__file__).parent / "filecheck").glob("*.mlir"))


def constants_of(text):
    operation = parse_level(text)
    found = blank_constants(operation) or blank_floats(operation)
    for name, value in found.items():
        random = np.random.default_rng([ord(letter) for letter in name])
        found[name] = random.uniform(1, 90, value.shape).astype(value.dtype)
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_passes_print_what_the_comments_of_a_text_say(path, tmp_path, capsys):
    text = path.read_text()
    first, _, _ = text.partition("\n")
    words = first.removeprefix("// RUN: opt ").split()
    assert words != first.split()
    copy = tmp_path / path.name
    save_text(text, constants_of(text), copy)
    result = invoke("opt", copy, *words)
    assert result.exit_code == 0, result.output
    printed = tmp_path / "printed"
    printed.write_text(result.stdout)
    options = parse_argv_options(["filecheck", str(path), "--input-file", str(printed)])
    assert Matcher.from_opts(options).run() == 0, result.stdout + "".join(capsys.readouterr())
