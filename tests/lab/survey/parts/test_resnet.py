"""ResNet-50 against its published sizes, and against the survey's number."""

import pytest

from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.resnet import Layer, Pool, resnet_layers


def test_it_has_its_layers_weights_and_operations():
    """Its first version has 3.8e9 products by its authors, and 25.5 million weights."""
    layers = resnet_layers()
    convolutions = [layer for layer in layers if isinstance(layer, Layer)]
    assert len(convolutions) == 54
    assert len(layers) == 54 + 2
    assert 25.4e6 < sum(layer.weights for layer in convolutions) < 25.6e6
    assert 3.85e9 < sum(layer.macs for layer in convolutions) < 3.87e9
    assert sum(layer.residual for layer in convolutions) == 16
    assert {layer.kernel for layer in convolutions if layer.stride == 2} == {1, 7}


def test_a_layer_moves_each_tensor_once():
    layer = Layer(kernel=3, channels=2, filters=5, size=4, stride=2)
    assert layer.bytes == 2 * 8 * 8 + 9 * 2 * 5 + 5 * 16
    assert layer.unfused_bytes == 4 * 5 * 16
    assert layer.flops == 2 * 9 * 2 * 5 * 16 + 3 * 5 * 16
    added = Layer(kernel=1, channels=2, filters=5, size=4, residual=True)
    assert added.bytes == 2 * 16 + 10 + 80 + 3 * 80
    assert added.flops == 2 * 2 * 80 + 4 * 80


def test_a_pooling_reads_all_and_writes_what_is_left():
    pool = Pool(channels=2, size=3, stride=2, window=3)
    assert pool.bytes == 2 * 36 + 2 * 9
    assert pool.flops == 2 * 9 * 9
    assert pool.unfused_bytes == 0


def test_fused_it_is_what_the_survey_prints():
    layers = resnet_layers()
    ours = sum(layer.flops for layer in layers) / sum(layer.bytes for layer in layers)
    assert ours == pytest.approx(paper().value("tab4", "ResNet-50 intensity, fused"), rel=0.001)
