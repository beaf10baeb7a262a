"""Forms of scores by predicted cycles of heads alone."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.compiler import scores
from celosia.sw.compiler.choose import choose
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.scores import FORMS, choose_scores, forms, scores_cycles
from celosia.sw.ir.graph import Mask, MatMul
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import head_groups
from celosia.sw.reference.encoder import EncoderShape

BASE = resolve_config("base")
LARGE = replace(BASE, accumulator_kib=128)


def attention(rows, heads=1, *, causal=False):
    return attention_case(heads, rows, 64, 0, mask=Mask(causal=causal)).graph


def test_scores_go_through_memory_where_few_rows_of_all_keys_would_fit():
    # Half of 128 KiB are 1,024 rows of 16 sums: 16 rows of 1,024 keys, a tile of weights for each
    # 16 rows.  Blocks of 64 rows, in parts, take two thirds as long.
    graph = attention(1024)
    chosen = choose(graph, LARGE)
    assert chosen == replace(DEFAULT, whole_scores=False)
    (group,) = head_groups(decide_graph(graph, LARGE, chosen))
    assert (set(group.rows), set(group.keys)) == ({64}, {128})
    ours, rule = (predict(graph, LARGE, each).cycles for each in (chosen, DEFAULT))
    assert ours < 0.7 * rule


def test_what_gains_less_than_the_threshold_stays():
    # 32 rows of 512 keys at once take 0.9 % more than 64 rows of parts.
    graph = attention(512)
    assert choose_scores(graph, LARGE, None, DEFAULT, 0.01) == DEFAULT
    other = choose_scores(graph, LARGE, None, DEFAULT, 0.005)
    assert other == replace(DEFAULT, whole_scores=False)
    ours, rule = (predict(graph, LARGE, each).cycles for each in (other, DEFAULT))
    assert 0.99 * rule < ours < 0.995 * rule


def test_forms_that_come_to_the_same_are_compared_once():
    found = scores_cycles(attention(64), BASE, None, DEFAULT)
    assert list(found) == ["as by rule", "twice"]
    assert found["twice"].cycles > found["as by rule"].cycles


def test_nothing_is_compared_where_all_stays_on_the_chip_or_no_head_is():
    assert scores_cycles(attention(32), BASE, None, DEFAULT) == {}
    assert scores_cycles(replace(attention(64), ops=()), BASE, None, DEFAULT) == {}


def test_a_part_of_long_rows_costs_like_its_share(monkeypatch):
    graph = attention(512, heads=2)
    whole = scores_cycles(graph, BASE, None, DEFAULT)
    monkeypatch.setattr(scores, "_TILES", 512)
    part = scores_cycles(graph, BASE, None, DEFAULT)
    assert part.keys() == whole.keys()
    for name, form in part.items():
        assert form.cycles == pytest.approx(whole[name].cycles, rel=0.04)
        assert form.cycles != whole[name].cycles


def test_heads_of_a_layer_are_compared_without_what_is_around_them():
    shape = EncoderShape(layers=2, width=64, heads=2, hidden=64)
    layer = encoder_layer_case(random_quantized_encoder(shape, 0), (80,), 0).graph
    found = scores_cycles(layer, BASE, None, DEFAULT)
    assert 0 < found["as by rule"].cycles < predict(layer, BASE, DEFAULT).cycles / 2


def test_a_form_keeps_all_other_choices():
    other = replace(DEFAULT, piece_tiles=1)
    for each in forms(other).values():
        assert each.piece_tiles == 1
    assert len(set(forms(other).values())) == len(FORMS)


def test_causal_rows_are_taken_from_the_middle_where_they_see_half_of_the_keys(monkeypatch):
    """Of 512 rows 256 are enough, or 64: 16 tiles of rows at least, or as many as there are."""
    graph = attention(512, causal=True)
    for tiles, first, rows in ((1, 128, 256), (32 * 24, 64, 384), (10**6, 0, 512)):
        monkeypatch.setattr(scores, "_TILES", tiles)
        ((part, share),) = scores._probes(graph, BASE, DEFAULT)
        found = {(op.out.row, op.out.rows) for op in part.ops if isinstance(op, MatMul)}
        assert found == {(first, rows)}
        assert share == 512 / rows


def test_without_the_form_of_the_rule_nothing_is_compared_and_any_other_may_be_left_out(
    monkeypatch,
):
    ways = forms(DEFAULT)

    def decided(impossible):
        def decide(graph, config, choices):
            if choices == ways[impossible]:
                raise ValueError("too small")
            return SimpleNamespace(stages=(choices,))

        return decide

    monkeypatch.setattr(scores, "predict", lambda *_: SimpleNamespace(cycles=5))
    monkeypatch.setattr(scores, "decide_graph", decided("as by rule"))
    assert scores_cycles(attention(64), BASE, None, DEFAULT) == {}
    for name in [*FORMS][1:]:
        monkeypatch.setattr(scores, "decide_graph", decided(name))
        found = scores_cycles(attention(64), BASE, None, DEFAULT)
        assert [*found] == [form for form in FORMS if form != name]


@pytest.mark.parametrize("causal", [False, True])
def test_scores_that_are_made_at_once_in_tall_blocks_are_not_compared(monkeypatch, causal):
    """Half of 64 KiB has 64 rows of 128 keys; a comparison would say the same, and takes long."""
    graph = attention(128, causal=causal)
    found = scores_cycles(graph, BASE, None, DEFAULT)
    assert len(found) > 1
    assert min(found.values(), key=lambda form: form.cycles) is found["as by rule"]
    monkeypatch.delattr(scores, "predict")
    assert choose_scores(graph, BASE, None, DEFAULT, 0.0) == DEFAULT


def test_scores_in_more_blocks_than_rows_need_are_compared(monkeypatch):
    """Of 512 keys, 16 rows are in half of 64 KiB: four times the blocks."""
    compared = []
    monkeypatch.setattr(scores, "scores_cycles", lambda *given: compared.append(given) or {})
    assert choose_scores(attention(512), BASE, None, DEFAULT, 0.01) == DEFAULT
    assert len(compared) == 1


@pytest.mark.parametrize(("keys", "waits"), [(256, False), (384, True)])
def test_many_keys_wait_in_memory_even_where_there_is_room_for_all(keys, waits):
    """On the RTL, with 256 KiB and 12 heads of 512: 1,574,986 cycles, at once 1,603,365."""
    config = resolve_config("base", ("accumulator_kib=256",))
    graph = attention(keys, heads=2)
    chosen = choose_scores(graph, config, MemoryTiming(), DEFAULT, 0.01)
    assert chosen == replace(DEFAULT, whole_scores=not waits)
