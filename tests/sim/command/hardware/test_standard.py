"""What standard workloads are expected to take."""

from celosia.isa.presets import resolve_config
from celosia.sim.command.hardware.standard import predict_standard
from celosia.sim.support.progress import silent


def test_prefill_decoding_and_a_product():
    """Each near its own bound: of the array, or of the bus (a step's weights, 16 bytes a cycle)."""
    found = {each.name: each.cycles for each in predict_standard(resolve_config("base"), silent)}
    layer, step, product = found.values()
    # A layer of BERT-base has 12 * 768^2 weights, and 2 products of 128x128x64 in each head.
    least = 128 * (12 * 768**2 + 2 * 128 * 768) // 256
    assert least < layer < 1.01 * least
    weights = 12 * 768**2
    assert weights // 16 < step < 1.06 * weights // 16
    assert 512 * 768 * 768 // 256 < product < 1.001 * 512 * 768 * 768 // 256


def test_what_a_configuration_cannot_compute_is_left_out():
    found = predict_standard(resolve_config("gemmini"), silent)
    assert [each.name for each in found] == ["product of 512x768x768"]
