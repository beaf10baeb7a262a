"""onnx's node tests are right, or refused with a reason that is written down."""

import pytest

from tests.sw.frontend.importer.node_cases import PAGE, cases, judge, operator, page

TRANSFORMERS = (
    "attention",
    "gelu",
    "gemm",
    "layernormalization",
    "matmul",
    "relu",
    "rmsnormalization",
    "rotaryembedding",
    "softmax",
    "swish",
)
"""Modules of cases of which transformers consist: all of them are right."""


@pytest.mark.parametrize("module", TRANSFORMERS)
def test_what_transformers_consist_of_is_right(module):
    found = cases([module])
    assert found
    assert {case.name: judge(case) for case in found if judge(case)} == {}


@pytest.mark.slow
def test_every_case_is_right_or_refused_as_the_page_says():
    assert len(cases()) == 1884
    assert page() == PAGE.read_text(), "run python -m tests.sw.frontend.importer.node_cases"


def test_expansions_belong_to_the_operator_that_they_expand():
    names = {operator(case) for case in cases(["softmax"])}
    assert names == {"Softmax"}
