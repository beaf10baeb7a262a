"""ResNet-50 against its published sizes."""

from celosia.sim.bench.survey.parts.resnet import Layer, resnet_layers


def test_it_has_its_layers_weights_and_operations():
    layers = resnet_layers()
    assert len(layers) == 54
    assert 25.4e6 < sum(layer.weights for layer in layers) < 25.6e6
    assert 4.08e9 < sum(layer.flops for layer in layers) / 2 < 4.10e9
    assert sum(layer.residual for layer in layers) == 16


def test_a_layer_moves_each_tensor_once():
    layer = Layer(kernel=3, channels=2, filters=5, size=4, stride=2)
    assert layer.bytes == 2 * 8 * 8 + 9 * 2 * 5 + 5 * 16
    assert layer.unfused_bytes == 4 * 5 * 16
