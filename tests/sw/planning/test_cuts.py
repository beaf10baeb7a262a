"""The ways to cut a product."""

from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.presets import PRESETS
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.cuts import cuts
from celosia.sw.planning.decisions.decide import only_product
from celosia.sw.planning.problems import graph_of
from tests.sw.strategies import configs, problems

BASE = PRESETS["base"]


def ways_of(problem, config=BASE):
    return list(cuts(only_product(graph_of("product", problem)), config))


@given(st.data())
def test_there_is_always_one_and_blocks_fit_half_the_accumulator(data):
    config = data.draw(configs())
    problem = data.draw(problems(config.dim))
    ways = ways_of(problem, config)
    assert ways
    for cut in ways:
        assert sum(cut.rows) == problem.m
        assert sum(cut.tiles) == -(-problem.n // config.dim)
        assert max(cut.rows) - min(cut.rows) <= 1
        assert min(cut.tiles) >= 1
        assert max(cut.rows) * max(cut.tiles) <= config.accumulator_rows // 2


@given(st.data())
def test_two_pieces_of_an_operand_fit_a_bank(data):
    config = data.draw(configs())
    for cut in ways_of(data.draw(problems(config.dim)), config):
        assert 2 * cut.a_rows <= config.scratchpad_bank_rows or cut.a_tiles == 1
        assert 2 * cut.b_rows <= config.scratchpad_bank_rows or cut.b_rows == config.dim


def test_a_height_just_above_the_array_is_one_block():
    heights = {cut.rows for cut in ways_of(MatMul(m=17, n=16, k=16))}
    assert heights == {(9, 8), (17,)}


def test_columns_are_cut_in_whole_pieces_and_into_a_small_last_block():
    ways = ways_of(MatMul(m=64, n=16 * 20, k=64))
    columns = {cut.tiles for cut in ways if cut.rows == (64,)}
    assert columns == {(8, 8, 4), (4, 4, 4, 4, 4)}


def test_pieces_are_counted():
    cut = ways_of(MatMul(m=16, n=16 * 8, k=16 * 10))[0]
    assert (cut.a_tiles, cut.b_k_tiles, cut.b_n_tiles) == (4, 1, 4)
    assert cut.a_pieces == 3
    assert cut.b_pieces(8) == 10 * 2


def test_biases_of_all_columns_stay_where_there_is_a_row_for_each_tile():
    """Else those of a block share the rows with those of the next one."""
    config = BASE.with_values({"parameter_rows": 8})
    for tiles, most in ((8, 8), (9, 4)):
        ways = ways_of(MatMul(m=16, n=16 * tiles, k=16, bias=True), config)
        assert max(max(cut.tiles) for cut in ways) == most


def test_blocks_of_one_to_four_tiles_of_rows_are_tried_and_some_of_more():
    heights = {max(cut.rows) // 16 for cut in ways_of(MatMul(m=16 * 96, n=16, k=16))}
    assert heights >= {1, 2, 3, 4, 6, 8, 12, 16}
