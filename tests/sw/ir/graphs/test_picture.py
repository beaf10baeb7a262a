"""Pictures of graphs: a box for each operator, arrows between those that share elements."""

from dataclasses import replace
from xml.etree import ElementTree

from celosia.sw.models.cases import attention_case, matmul_case

SVG = "{http://www.w3.org/2000/svg}"


def texts(graph) -> list[str]:
    root = ElementTree.fromstring(str(graph.drawing))
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def arrows(graph) -> list[tuple[float, ...]]:
    """Where each arrow begins and ends."""
    root = ElementTree.fromstring(str(graph.drawing))
    lines = [each.get("points", "") for each in root.iter(f"{SVG}polyline")]
    return [tuple(float(x) for x in line.replace(",", " ").split()) for line in lines]


def test_every_input_and_operator_is_a_box():
    graph = attention_case(2, 16, 8, 0).graph
    found = texts(graph)
    assert found[0] == f"graph {graph.name}"
    for op in graph.ops:
        assert op.name in found
    for name in graph.inputs:
        assert name in found
        assert f"{graph.tensors[name].type} 16x16" in found
    root = ElementTree.fromstring(graph._repr_html_())
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    assert len(titles) == len(graph.inputs) + len(graph.ops)
    assert any("context.head1: reads" in title and "value" in title for title in titles)


def test_arrows_lead_down_and_only_to_who_reads_what_was_written():
    found = arrows(attention_case(2, 16, 8, 0).graph)
    assert len(found) == 2 * (2 + 2)  # Of each head: query, key; its numerators, and value.
    assert all(end > begin for _, begin, _, end in found)
    assert len(arrows(matmul_case(2, 3, 4, 0).graph)) == 1


def test_a_name_may_hold_anything_and_a_long_one_is_cut():
    graph = matmul_case(2, 3, 4, 0).graph
    (op,) = graph.ops
    odd = replace(graph, name="<&>", ops=(replace(op, name="<" + 60 * "x"),))
    found = texts(odd)
    assert "graph <&>" in found
    assert 60 * "x" not in "".join(found)
    assert f"<{12 * 'x'}...{12 * 'x'}" in found
