"""The ways to cut a product."""

from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.matmul.cuts import cuts
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


@given(st.data())
def test_there_is_always_one_and_blocks_fit_half_the_accumulator(data):
    config = data.draw(configs())
    problem = data.draw(problems(config.dim))
    ways = list(cuts(problem, config))
    assert ways
    for cut in ways:
        assert sum(cut.rows) == problem.m
        assert sum(cut.cols) == -(-problem.n // config.dim)
        assert max(cut.rows) - min(cut.rows) <= 1
        assert min(cut.cols) >= 1
        assert max(cut.rows) * max(cut.cols) <= config.accumulator_rows // 2


@given(st.data())
def test_two_pieces_of_an_operand_fit_a_bank(data):
    config = data.draw(configs())
    for cut in cuts(data.draw(problems(config.dim)), config):
        assert 2 * cut.a_rows <= config.scratchpad_bank_rows or cut.a_tiles == 1
        assert 2 * cut.b_rows <= config.scratchpad_bank_rows or cut.b_rows == config.dim


def test_a_height_just_above_the_array_is_one_block():
    heights = {cut.rows for cut in cuts(MatMul(m=17, n=16, k=16), BASE)}
    assert heights == {(9, 8), (17,)}


def test_columns_are_cut_in_whole_pieces_and_into_a_small_last_block():
    columns = {cut.cols for cut in cuts(MatMul(m=64, n=16 * 20, k=64), BASE) if cut.rows == (64,)}
    assert columns == {(8, 8, 4), (4, 4, 4, 4, 4)}


def test_pieces_are_counted():
    cut = next(cuts(MatMul(m=16, n=16 * 8, k=16 * 10), BASE))
    assert (cut.a_tiles, cut.b_k_tiles, cut.b_n_tiles) == (4, 1, 4)
    assert cut.a_pieces == 3
    assert cut.b_pieces(8) == 10 * 2
