"""Plans of sums and their normalization that are refused, with the rule that they break."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder, softmax_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import PiecesOfW, SumsDrain, TailPart
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.planning.edits import with_field

TINY = resolve_config("tiny")
SHAPE = EncoderShape(layers=2, width=32, heads=2, hidden=64)
GRAPH = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [20], 0).graph
PLAN = decide_graph(GRAPH, TINY)
OPS = [stage.ops for stage in PLAN.stages]
QUERY, OUTPUT, DOWN = "stages.0.", "stages.4.", "stages.6."
SOFTMAX = softmax_case(9, 30, seed=1).graph
SOFTMAX_PLAN = decide_graph(SOFTMAX, TINY)
W = PiecesOfW(ring="weights", k_tiles=4, columns=4)


def test_the_plan_is_as_these_tests_think():
    names = [("0.query",), ("0.key",), ("0.value",)]
    assert OPS[:3] == names
    assert OPS[4:] == [("0.output", "0.attention_norm"), ("0.up",), ("0.down", "0.norm")]


@pytest.mark.parametrize(
    ("rule", "path", "value"),
    [
        ("rows", QUERY + "rows", (19,)),
        ("rows", QUERY + "rows", (21, -1)),
        ("rows", QUERY + "rows", ()),
        ("tiles", QUERY + "tiles", (7,)),
        ("operands", QUERY + "a.ring", ""),
        ("operands", QUERY + "w.ring", ""),
        ("w-pieces", QUERY + "w.pieces", 3),
        ("w-tiles", QUERY + "w.k_tiles", 0),
        ("w-tiles", QUERY + "w.columns", 17),
        ("w-fits", "rings.weights.spans", ((0, 15),)),
        ("w-tall", QUERY + "w.k_tiles", 2000),
        ("a-fits", "rings.activations.spans", ((256, 39),)),
        ("sums-fit", "rings.halves.spans", ((0, 30),)),
        ("ring", QUERY + "sums", "nowhere"),
        ("ring-space", QUERY + "sums", "words"),
        ("ring-apart", QUERY + "a.ring", "weights"),
        ("ring-apart", OUTPUT + "drain.residuals", "wide"),
        ("ring-inside", "rings.slots.spans", ((0, TINY.statistics_rows + 1),)),
        ("ring-step", "rings.slots.step", 0),
        ("ring-spans", "rings.slots.spans", ()),
        ("drain", QUERY + "drain.by", "mvout"),
        ("drain-tiles", QUERY + "drain.tiles", 0),
        ("results-fit", "rings.bytes.spans", ((128, 60),)),
        ("parameters", QUERY + "drain.parameters", ""),
        ("parameters-fit", "rings.columns.spans", ((0, 20),)),
        ("residuals", QUERY + "drain.residuals", "words"),
        ("residuals", OUTPUT + "drain.residuals", ""),
        ("residuals-fit", "rings.residuals.spans", ((3584, 16),)),
        ("slots", QUERY + "slots", "slots"),
        ("parts", QUERY + "parts", (7,)),
        ("loops", OUTPUT + "outer", "cols"),
        ("loops", OUTPUT + "parts", (4, 4)),
        ("loops", OUTPUT + "a.tiles", 1),
        ("loops", OUTPUT + "w.keep", False),
        ("slots", OUTPUT + "slots", ""),
        ("slots-fit", "rings.slots.spans", ((0, 9),)),
        ("tail", QUERY + "tail", (TailPart(rows=20, tiles=1),)),
        ("tail", DOWN + "tail", (TailPart(rows=3, tiles=1),)),
        ("norm-tiles", DOWN + "tail.0.tiles", 0),
        ("ring", DOWN + "tail.0.source", "nowhere"),
        ("norm-tiles", DOWN + "norm.tiles", 0),
        ("norm-results", DOWN + "norm.results", ("bytes",)),
        ("norm-results-fit", "rings.normalized.spans", ((0, 2),)),
        ("norm-source-fits", "rings.added.spans", ((3840, 16),)),
        ("stages", DOWN + "norm", None),
        ("affines-fit", "rings.affines.spans", ((64, 3),)),
        ("ring-apart", DOWN + "norm.source", "narrow"),
    ],
)
def test_an_illegal_plan_is_refused_with_its_rule(rule, path, value):
    with pytest.raises(PlanError, match=f"^{rule}: "):
        verify_plan(with_field(PLAN, path, value), GRAPH, TINY)


@pytest.mark.parametrize(
    ("rule", "path", "value"),
    [
        ("operands", "stages.0.a.ring", "activations"),
        ("operands", "stages.0.w", W),
        ("slots", "stages.0.slots", ""),
        ("drain", "stages.0.drain", SumsDrain(by="mvout", tiles=1)),
    ],
)
def test_a_softmax_has_neither_operands_nor_an_end_without_statistics(rule, path, value):
    with pytest.raises(PlanError, match=f"^{rule}: "):
        verify_plan(with_field(SOFTMAX_PLAN, path, value), SOFTMAX, TINY)


@pytest.mark.parametrize(
    ("ring", "rows"),
    [
        ("weights", 2 * 16 * 4),  # Two tiles of K by 16 of columns, of 4 rows each.
        ("activations", 10 * 2),  # Ten rows of two tiles of K.
        ("halves", 10 * 16),  # Sums of a block of all 64 columns.
        ("bytes", 10 * 12),  # Bytes of 12 tiles, which are drained at once.
        ("wide", 10 * 8 * 2),  # int16 of 32 columns.
        ("residuals", 10 * 8 * 2),
        ("added", 10 * 8 * 2),
        ("normalized", 10 * 8 * 2),
        ("narrow", 10 * 8),
        ("words", 2 * 8 * 2),  # The last two rows of the block.
        ("columns", 3 * 12),  # A bias and scales in a span: three shares.
        ("affines", 4 * 8),  # gamma and beta of two results.
        ("slots", 10),
        ("queries even", 2 * 10 * 2),  # 16 columns of a head in two pieces.
        ("queries odd", 2 * 10 * 2),
        ("keys", 2 * 2 * 16 * 4),
        ("values", 2 * 2 * 16 * 4),
        ("scores", 10 * 5),  # 20 keys.
        ("numerators even", 10 * 5),
        ("numerators odd", 10 * 5),
        ("contexts", 10 * 4),
        ("contexts out", 10 * 4),
    ],
)
def test_a_ring_holds_what_stands_in_it_and_one_row_less_does_not_do(ring, rows):
    """20 rows in blocks of ten, four columns in a tile: counted by hand."""
    spans = PLAN.rings[ring].spans

    def cut(most):
        parts = tuple((first, min(size, most)) for first, size in spans)
        return with_field(PLAN, f"rings.{ring}.spans", parts)

    verify_plan(cut(rows), GRAPH, TINY)
    with pytest.raises(PlanError, match="do not fit into") as refused:
        verify_plan(cut(rows - 1), GRAPH, TINY)
    assert f"a span of {rows - 1} of ring {ring}" in refused.value.text
