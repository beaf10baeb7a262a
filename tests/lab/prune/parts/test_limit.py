"""What skipping tiles of zeros would gain at best."""

import numpy as np

from celosia.lab.prune.parts.limit import skipped
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType


def graph(rows, *matrices):
    build = GraphBuilder("g")
    x = build.input("x", TensorType("float32", (rows, matrices[0].shape[0])))
    outputs = {}
    for index, matrix in enumerate(matrices):
        outputs[f"y{index}"] = build.op("matmul", x, build.constant(matrix), name=f"y{index}")
    return build.finish(outputs)


def test_tiles_take_the_rows_that_are_multiplied_or_as_many_as_the_array_has():
    matrix = np.ones((8, 6), np.float32)
    matrix[:4, :4] = matrix[4:, 4:] = 0
    for rows, cycles in ((1, 8), (4, 8), (5, 16), (9, 24)):
        found = skipped(graph(rows, matrix), 4)
        assert found is not None
        assert (found.cycles, found.shares) == (cycles, {(8, 6): 0.5})


def test_shares_are_those_of_all_matrices_of_a_size():
    full, empty = np.ones((8, 4), np.float32), np.ones((8, 4), np.float32)
    empty[4:] = 0
    found = skipped(graph(4, full, empty, np.ones((8, 8), np.float32)), 4)
    assert found is not None
    assert found.shares == {(8, 4): 0.25, (8, 8): 0.0}


def test_a_zero_beside_another_number_is_no_tile_of_zeros():
    matrix = np.zeros((4, 4), np.float32)
    matrix[3, 3] = 1e-9
    assert skipped(graph(4, matrix), 4) is None
