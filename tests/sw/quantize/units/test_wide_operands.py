"""Which products may read int16, and which units read what then."""

import re

import pytest

from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.units import Finishing, Product
from celosia.sw.quantize.units.wide_operands import may_be_wide, widened
from tests.support.quantized_exports import recognized

LLAMA = {"q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj", "logits"}


def kinds(name: str) -> set[str]:
    graph = recognized(name)
    return {
        re.sub(r".*/(\w+)/MatMul.*", r"\1", each) for each in may_be_wide(graph, units_of(graph))
    }


def test_all_products_of_a_llama_may_but_gates():
    assert kinds("llama") == LLAMA


@pytest.mark.parametrize("name", ["bert-17", "gpt2"])
def test_what_is_a_residual_too_or_is_behind_a_curve_has_no_operand_of_int16(name):
    graph = recognized(name)
    units = units_of(graph)
    read = {form.key for u in units.of(Finishing) if u.residual is not None for form in u.reads()}
    for tensor in may_be_wide(graph, units):
        product = units.units[tensor]
        assert isinstance(product, Product)
        assert product.x.tensor not in read


def test_no_segment_is_cut_by_operands_of_int16():
    graph = recognized("llama")
    units = units_of(graph)
    names = may_be_wide(graph, units)
    for some in (names, *((name,) for name in names)):
        found = plan_segments(graph, units_of(graph, wide=some))
        assert found.count == plan_segments(graph, units).count
        assert found.converted == plan_segments(graph, units).converted


def test_products_that_are_finished_read_int16_where_they_are_finished():
    graph = recognized("llama")
    names = may_be_wide(graph, units_of(graph))
    units = widened(units_of(graph), names[:4], graph)
    for unit in (*units.of(Product), *(each.product for each in units.of(Finishing))):
        (form,) = unit.reads()
        wide = unit.value.tensor in names[:4]
        assert form.role == ("wide" if wide else "small")
