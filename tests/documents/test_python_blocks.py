"""The Python of pages that says what it computes runs as it stands there."""

import re

import pytest

from tests.test_references import ROOT

PAGES = ["docs/tensor-expressions.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_python_run_and_are_right(page, capsys):
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})
    printed = capsys.readouterr().out
    assert printed.count("cycles, 0 wrong") == 2
