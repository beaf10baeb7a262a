"""Products with weights of few bits, compared with ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper

from celosia.sw.frontend.nn.interpret import interpret
from tests.support.onnx_runtime import run_session, runtime_session
from tests.sw.frontend.importer.models import floats, imported, model

RANDOM = np.random.default_rng(0)


def proto_of(depth, columns, size, *, bits=4, zeros=None, bias=None, **more):
    """A model of one product of rows of `depth` with `columns` rows of weights, in blocks."""
    blocks = -(-depth // size)
    constants = {
        "weights": RANDOM.integers(0, 256, (columns, blocks, size * bits // 8), np.uint8),
        "scales": RANDOM.uniform(0.01, 0.1, columns * blocks).astype(np.float32),
    }
    if zeros == "packed":
        constants["zeros"] = RANDOM.integers(0, 256, columns * -(-blocks * bits // 8), np.uint8)
    elif zeros == "floats":
        constants["zeros"] = RANDOM.uniform(3, 12, columns * blocks).astype(np.float32)
    if bias:
        constants["bias"] = floats(columns)
    names = ["x", "weights", "scales", "zeros", "", "bias"]
    node = helper.make_node(
        "MatMulNBits",
        [name if name == "x" or name in constants else "" for name in names],
        ["y"],
        domain="com.microsoft",
        K=depth,
        N=columns,
        bits=bits,
        block_size=size,
        **more,
    )
    return model([node], {"x": [2, 3, depth]}, ["y"], constants)


@pytest.mark.parametrize(
    ("depth", "columns", "size", "form"),
    [
        (64, 24, 32, {}),
        (64, 24, 32, {"zeros": "packed", "accuracy_level": 1}),
        (80, 8, 32, {"zeros": "packed", "bias": True}),
        (48, 5, 16, {"zeros": "floats"}),
        (96, 12, 32, {"bits": 8, "zeros": "packed"}),
        (64, 7, 64, {"bits": 8, "bias": True}),
    ],
)
def test_products_are_those_of_onnx_runtime(depth, columns, size, form):
    proto = proto_of(depth, columns, size, **form)
    found = imported(proto)
    assert not found.lost, found.refused
    x = {"x": floats(2, 3, depth, seed=1)}
    (wanted,) = run_session(runtime_session(proto), x)
    assert "matmul" in {node.op for node in found.graph.nodes}
    np.testing.assert_allclose(interpret(found.graph, x)["y"], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("K", 96, "48 scales of 24 x 3 blocks"),
        ("N", 0, "N 0, K 64 or block_size 32 is below 1"),
        ("block_size", -32, "block_size -32 is below 1"),
        ("bits", 5, "768 bytes for 24 rows of 64 numbers of 5 bits"),
        ("bits", 9, "numbers of 9 bits: 2 to 8 are possible"),
    ],
)
def test_what_is_no_such_product_is_refused(attribute, value, message):
    proto = proto_of(64, 24, 32)
    (found,) = [each for each in proto.graph.node[0].attribute if each.name == attribute]
    found.i = value
    (refused,) = imported(proto).refused.values()
    assert message in str(refused)
