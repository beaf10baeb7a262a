"""Pictures of device memory: each tensor's bytes, where they are."""

from xml.etree import ElementTree

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.sw.compiler.reuse import Reuse
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import encoder_case, matmul_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.scheduling.memory.picture import memory_drawing

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(str(drawing)).iter(f"{SVG}text")]


def test_the_tensors_of_a_product_stand_one_behind_the_other():
    """A of 8x20 elements, B of 20x12 and C of 8x12."""
    compiled = compile_graph(matmul_case(8, 12, 20, 0).graph, resolve_config("tiny"))
    drawing = memory_drawing(compiled.graph, compiled.addresses, compiled.end)
    sizes = {"a": "160 bytes, int8 8x20", "b": "240 bytes, int8 20x12"}
    sizes |= {"out": "96 bytes, int8 8x12"}
    shown = texts(drawing)
    for name, size in sizes.items():
        assert name in shown
        begin = compiled.addresses[name]
        count = int(size.split()[0])
        assert f"{begin:#x}..{begin + count - 1:#x}  {size}" in shown
    assert [each for each in shown if each in compiled.addresses] == sorted(
        compiled.addresses, key=compiled.addresses.__getitem__
    )


@pytest.fixture(scope="module")
def reusing():
    shape = EncoderShape(layers=2, width=24, heads=2, hidden=40)
    case = encoder_case(random_quantized_encoder(shape, 0), (5,), 0)
    return compile_graph(case.graph, resolve_config("tiny"), Reuse())


def test_each_bar_is_where_its_bytes_are(reusing):
    drawing = memory_drawing(reusing.graph, reusing.addresses, reusing.end)
    root = ElementTree.fromstring(str(drawing))
    bars = {
        title.split(": ")[0]: each
        for each in root.iter(f"{SVG}rect")
        if (title := each.findtext(f"{SVG}title"))
    }
    assert set(bars) == set(reusing.addresses)
    left = min(float(each.get("x", "")) for each in bars.values())
    scale = 560 / (reusing.end - MEMORY_BASE)
    for name, address in reusing.addresses.items():
        begin = float(bars[name].get("x", "")) - left
        assert begin == pytest.approx((address - MEMORY_BASE) * scale, abs=0.01)
        wide = max(1, reusing.graph.tensors[name].bytes * scale)  # None is too short to be seen.
        assert float(bars[name].get("width", "")) == pytest.approx(wide, rel=1e-4)


def test_what_others_have_overwritten_is_said(reusing):
    gone = reusing.memory.gone
    assert gone
    page = str(memory_drawing(reusing.graph, reusing.addresses, reusing.end, gone))
    said = [each for each in texts(reusing.drawing) if each.endswith(", overwritten")]
    assert len(said) == len(gone) == page.count(", overwritten</text>")


def test_colors_tell_what_a_tensor_is_in_memory_for(reusing):
    kinds = ("constant", "input", "cache", "output", "between")
    shown = texts(memory_drawing(reusing.graph, reusing.addresses, reusing.end))
    assert [each for each in shown if each in kinds] == ["constant", "input", "output", "between"]


def test_a_graph_without_addresses_has_no_picture(reusing):
    assert not memory_drawing(reusing.graph, {}, MEMORY_BASE).pieces
