"""onnx's node tests that must run on the accelerator do, with every element as it must be."""

import pytest

from tests.sw.frontend.importer.node_cases import cases
from tests.sw.quantize.graphs.node_cases import LEAST_DB, LIST, MODULES, accelerated, noise_of

NAMES = LIST.read_text().split()
FEW = {"test_attention_4d_attn_mask", "test_gemm_all_attributes", "test_gelu_tanh_1"}
FEW |= {"test_layer_normalization_2d_axis1", "test_matmul_2d", "test_relu", "test_swish"}
FEW |= {"test_hardswish", "test_rms_normalization_2d_axis1", "test_softmax_default_axis"}


def wrong(names):
    found = {case.name: case for case in cases(MODULES)}
    noises = {name: noise_of(found[name], to_the_bit=True) for name in names}
    return {name: noise for name, noise in noises.items() if noise is None or noise < LEAST_DB}


def test_one_of_each_operator_is_computed_to_the_bit():
    assert set(NAMES) >= FEW
    assert wrong(FEW) == {}


@pytest.mark.slow
def test_every_case_of_the_list_is_computed_to_the_bit():
    assert wrong(NAMES) == {}


@pytest.mark.slow
def test_the_list_has_all_that_the_accelerator_computes():
    assert accelerated() == NAMES, "run python -m tests.sw.quantize.graphs.node_cases"
