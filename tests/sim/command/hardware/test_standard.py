"""What standard workloads are expected to take."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.command.hardware import standard
from celosia.sim.command.hardware.standard import WORKLOADS, predict_standard
from celosia.sim.support.progress import silent

WEIGHTS = 12 * 768**2
"""The weights of a layer of BERT-base, and of one of GPT-2 small."""
LAYER, STEP, PRODUCT = WORKLOADS


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        # 2 products of 128x128x64 in each head.  By day the product alone is the array's.
        pytest.param(LAYER, 128 * (WEIGHTS + 2 * 128 * 768) // 256, 1.01, marks=pytest.mark.slow),
        (STEP, WEIGHTS // 16, 1.06),
        (PRODUCT, 512 * 768 * 768 // 256, 1.001),
    ],
)
def test_prefill_decoding_and_a_product(name, least, most, monkeypatch):
    """Each near its own bound: of the array, or of the bus (a step's weights, 16 bytes a cycle)."""
    monkeypatch.setattr(standard, "WORKLOADS", {name: WORKLOADS[name]})
    (found,) = predict_standard(resolve_config("base"), silent)
    assert found.name == name
    assert least < found.cycles < most * least


def test_what_a_configuration_cannot_compute_is_left_out():
    found = predict_standard(resolve_config("gemmini"), silent)
    assert [each.name for each in found] == ["product of 512x768x768"]
