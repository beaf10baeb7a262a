"""Units run in the first segment in which all that they read is there."""

from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Product
from celosia.sw.quantize.units.values import Form
from tests.support.quantized_exports import recognized


def segments(name):
    graph = recognized(name)
    return plan_segments(graph, find_units(graph))


def test_what_the_host_does_between_cuts_a_model_in_segments():
    found = segments("vit")
    assert found.count == 2  # The class token is put before the patches.
    assert [[node.op for node in level][-2:] for level in found.host] == [
        ["transpose", "reshape"],
        ["concat"],
        [],
    ]
    assert sorted(set(found.segment_of.values())) == [0, 1]


def test_a_norm_is_made_in_the_forms_that_are_read():
    found = segments("bert-17")
    made = [found.made[name] for name in found.segment_of if "LayerNorm" in name or "last" in name]
    assert made == [("small", "wide")] * 4 + [("wide",)]
    # Words, types and positions.
    assert [form.role for form in found.converted] == ["wide"] * 3


def test_the_host_reads_sums_of_products_that_are_to_stay_sums():
    graph = recognized("gpt2")
    (name,) = graph.outputs.values()
    wide = plan_segments(graph, find_units(graph))
    sums = plan_segments(graph, find_units(graph), {name})
    assert (wide.made[name], sums.made[name]) == (("wide",), ("sums",))
    assert (wide.host_alone(name), sums.host_alone(name)) == (False, True)
    assert wide.host_reads == sums.host_reads == {name}
    assert sums.host_form(name).role == "sums"
    assert set(sums.forms) == set(wide.forms) - {wide.host_form(name)}


def test_products_are_fused_with_their_only_finish():
    found = segments("bert-17")
    assert len(found.fused) == 6
    assert all(found.made[name] == () for name in found.fused)
    up = next(name for name in found.fused if "intermediate" in name)
    product = found.units.units[up]
    assert isinstance(product, Product)
    assert found.users(Form(product.x.tensor, "small")) == [product]
