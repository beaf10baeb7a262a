"""Graphs, their programs and their commands give the same elements of every tensor in memory."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from celosia.isa.encoding import Function
from celosia.isa.memory import MEMORY_BASE
from celosia.lab.fuzz.graphs.levels import check_levels
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.ir.graph import NO_MASK, DeferredSoftmax, DivideBySums, Mask, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.program import Load, Products, Space
from celosia.sw.models.cases import (
    Case,
    activation_case,
    attention_case,
    encoder_case,
    encoder_layer_case,
    layernorm_case,
    matmul_case,
    multiply_case,
    random_quantized_encoder,
    residual_case,
    rmsnorm_case,
    softmax_case,
)
from celosia.sw.planning.extents import tiles
from celosia.sw.reference.encoder import EncoderShape
from tests.support.levels import CONFIGS, configured

SHAPE = EncoderShape(layers=2, width=24, heads=2, hidden=40)

OPERATORS = {
    "matmul": matmul_case,
    "softmax": softmax_case,
    "gelu": partial(activation_case, "gelu"),
    "silu": partial(activation_case, "silu"),
    "residual": residual_case,
    "layernorm": layernorm_case,
    "rmsnorm": rmsnorm_case,
    "multiply": multiply_case,
    "attention": attention_case,
}
SHAPES = ((1, 1, 1), (1, 5, 3), (5, 1, 2), (19, 17, 21), (3, 130, 9))
LONG = 4096
SOME = {name: CONFIGS[name] for name in ("tiny", "base", "dim 2", "dim 64", "least")}


@pytest.mark.parametrize("config", SOME.values(), ids=SOME)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "operator",
    ["matmul", "softmax", "gelu", "silu", "residual", "layernorm", "rmsnorm", "multiply"],
)
def test_an_operator_of_every_shape(operator, shape, config):
    make, extents = OPERATORS[operator], shape if operator == "matmul" else shape[:2]
    check_levels(make(*extents, seed=1), config)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 9, 3), (3, 20, 6)], ids=str)
def test_attention_of_every_shape(shape, config):
    check_levels(attention_case(*shape, seed=1), config)


@pytest.mark.parametrize("shape", [(2, 13, 17), (1, 11, 33)], ids=str)
def test_attention_whose_last_block_of_rows_is_the_smallest(shape):
    """Its sums end before those of another block whose last columns are still to be divided."""
    check_levels(attention_case(*shape, seed=1), CONFIGS["least"])


def test_a_narrow_head_behind_wide_ones():
    wide, narrow = (HeadShape(rows=16, keys=9, depth=4, width=width) for width in (80, 4))
    for shapes in ((wide, narrow, narrow), (wide, wide, narrow)):
        check_levels(heads_case(shapes), CONFIGS["tiny"])


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16"])
@pytest.mark.parametrize(
    "mask",
    [Mask(keys=13), Mask(keys=0), Mask(causal=True), Mask(keys=7, causal=True), Mask(keys=40)],
    ids=str,
)
def test_masked_softmax(mask, kind):
    for name in ("tiny", "base"):
        check_levels(softmax_case(21, 40, 2, kind=kind, mask=mask), CONFIGS[name])


@pytest.mark.parametrize(
    "mask", [Mask(keys=11), Mask(keys=0), Mask(causal=True), Mask(keys=5, causal=True)], ids=str
)
def test_masked_attention(mask):
    for name in ("tiny", "base"):
        check_levels(attention_case(2, 35, 12, seed=3, mask=mask), CONFIGS[name])


@pytest.mark.parametrize("dithered", [False, True])
@pytest.mark.parametrize(
    "mask",
    [
        Mask(causal=True, window=1),
        Mask(causal=True, window=16),
        Mask(causal=True, first_row=4, window=9),
        Mask(keys=30, causal=True, window=7),
        Mask(causal=True, window=9, ring=35),
        Mask(causal=True, window=9, ring=35, first_row=20),
    ],
    ids=str,
)
def test_attention_to_a_window_of_keys(mask, dithered):
    for name in ("tiny", "base"):
        case = attention_case(2, 35, 12, seed=3, mask=mask, dithered=dithered)
        check_levels(case, CONFIGS[name])


@pytest.mark.parametrize(("window", "first_row"), [(20, 0), (60, 3)])
def test_a_window_whose_scores_do_not_fit(window, first_row):
    mask = Mask(causal=True, first_row=first_row, window=window)
    check_levels(
        attention_case(1, 90, 12, seed=3, mask=mask), configured("tiny", accumulator_kib=1)
    )


def test_tiles_of_keys_outside_of_a_window_are_not_loaded_or_multiplied():
    """A tile of rows sees a tile of its own keys and two before it."""
    mask, rows = Mask(causal=True, window=33), 160
    case = attention_case(1, rows, 16, seed=3, mask=mask)
    scores = [
        w.op
        for w in check_levels(case, CONFIGS["base"]).ops
        if isinstance(w.op, Products) and w.op.w_transposed
    ]
    assert sum(op.rows * op.columns for op in scores) == 16 * (1 + 2 + 8 * 3)

    ops = [w.op for w in check_levels(case, configured("base", accumulator_kib=4)).ops]
    blocks = [op for op in ops if getattr(op, "function", 0) is Function.MAXIMUM]
    assert len(blocks) > 1
    keys = [op.view.rows for op in ops if isinstance(op, Load) and op.view.tensor == "key"]
    assert sum(keys) <= rows + 32 * len(blocks)


@pytest.mark.parametrize(
    ("mask", "seen"),
    [
        (Mask(), 140),
        (Mask(keys=90, causal=True, first_row=60), 63),
        (Mask(keys=90, causal=True), 3),
    ],
    ids=str,
)
def test_attention_whose_scores_do_not_fit(mask, seen):
    config = configured("tiny", accumulator_kib=1)
    compiled = check_levels(
        heads_case([HeadShape(rows=3, keys=140, depth=4, width=4)], mask), config
    )
    maxima = [w.op for w in compiled.ops if getattr(w.op, "function", 0) is Function.MAXIMUM]
    # Three rows at a time, and as many keys of them as half the accumulator holds twice: of those
    # that a row sees.
    assert len(maxima) == tiles(seen, 5 * config.dim), "keys are not taken block by block"


@pytest.mark.parametrize("mask", [Mask(), Mask(keys=90, causal=True, first_row=60)], ids=str)
def test_scores_that_begin_with_something(mask):
    shapes = [HeadShape(rows=rows, keys=140, depth=4, width=4) for rows in (3, 21, 21)]
    case = heads_case(shapes, mask, onto=True)
    check_levels(case, configured("tiny", accumulator_kib=1))
    loads = [
        w.op
        for w in check_levels(case, CONFIGS["base"]).ops
        if isinstance(w.op, Load) and w.op.to.space is Space.ACCUMULATOR
    ]
    assert {load.view.tensor for load in loads} == {"onto0", "onto1", "onto2"}
    first, second = (
        {load.to.row for load in loads if load.view.tensor == name} for name in ("onto1", "onto2")
    )
    assert not first & second, "what comes next waits until these scores have left"


class HeadShape(NamedTuple):
    """Extents of a head, in elements."""

    rows: int
    keys: int
    depth: int
    width: int


def heads_case(shapes: Iterable[HeadShape], mask: Mask = NO_MASK, *, onto: bool = False) -> Case:
    """Heads of attention, each with operands of its own; with `onto`, scores begin with numbers."""
    random, builder = np.random.default_rng(3), GraphBuilder("heads")
    inputs, outputs = {}, []
    for index, shape in enumerate(shapes):
        extents = (shape.rows, shape.depth), (shape.keys, shape.depth), (shape.keys, shape.width)
        q, k, v = (
            builder.input(Tensor(f"{name}{index}", "int8", *extent))
            for name, extent in zip("qkv", extents, strict=True)
        )
        inputs |= {x.tensor: random.integers(-128, 128, x.shape, np.int8) for x in (q, k, v)}
        p = builder.tensor(Tensor(f"p{index}", "uint8", shape.rows, shape.keys))
        sums = builder.tensor(Tensor(f"sums{index}", "int32", shape.rows, 1))
        out = builder.tensor(Tensor(f"out{index}", "int8", shape.rows, shape.width))
        how = DeferredSoftmax(0.1, sums, mask)
        begun = builder.input(Tensor(f"onto{index}", "int32", *p.shape)) if onto else None
        if begun:
            inputs[begun.tensor] = random.integers(-60_000, 60_000, p.shape, np.int32)
        builder.matmul(f"scores{index}", p, q, k, how, onto=begun, b_transposed=True)
        builder.matmul(f"context{index}", out, p, v, DivideBySums(sums, 2.0**-15))
        outputs.append(out.tensor)
    return Case(builder.finish(*outputs), inputs)


@pytest.mark.parametrize("operator", ["softmax", "layernorm", "gelu"])
def test_the_longest_rows(operator):
    for config in (configured("base"), configured("small", accumulator_kib=2)):
        check_levels(OPERATORS[operator](2, LONG, seed=5), config)


@pytest.mark.parametrize("operator", ["softmax", "layernorm"])
def test_longer_rows_are_refused(operator):
    with pytest.raises(ValueError, match="4097 columns are longer than the 4096 supported"):
        OPERATORS[operator](1, LONG + 1, seed=5)


@pytest.fixture(scope="module")
def encoder() -> Case:
    return encoder_case(random_quantized_encoder(SHAPE, 6), [4, 1, 19], seed=6)


@pytest.mark.parametrize(
    "name", ["base", *(pytest.param(n, marks=pytest.mark.slow) for n in ("tiny", "rebalanced"))]
)
def test_an_encoder_of_two_layers_for_ragged_texts(encoder, name):
    check_levels(encoder, CONFIGS[name])


@pytest.mark.slow
def test_a_layer_of_an_encoder():
    check_levels(
        encoder_layer_case(random_quantized_encoder(SHAPE, 7), [9, 30], seed=7), CONFIGS["small"]
    )


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_random_graphs(config):
    for seed in range(3):
        check_levels(random_case(config.dim + seed), config)


def test_two_results_of_a_normalization_fill_a_ring_each():
    check_levels(random_case(133, ops=8, extent=20), CONFIGS["dim 2"])


@pytest.mark.nightly
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_many_random_graphs(config):
    for seed in range(100, 200):
        check_levels(random_case(seed, ops=3 + seed % 8, extent=(9, 20, 50)[seed % 3]), config)


def test_the_whole_memory_is_written_by_stores_alone():
    """Poison that the graph does not overwrite stays, and nothing else is touched."""
    case, config = matmul_case(5, 6, 7, seed=8), configured("tiny")
    compiled = compile_graph(case.graph, config)
    size = compiled.end - MEMORY_BASE
    device = FunctionalDevice(config, memory_bytes=size + 64)
    run = GraphRun(device, compiled)
    run.load(case.inputs)
    before = bytearray(device.read(MEMORY_BASE, size + 64))
    run.run()
    result = interpret(case.graph, case.inputs)["out"].tobytes()
    start = compiled.addresses["out"] - MEMORY_BASE
    before[start : start + len(result)] = result
    assert device.read(MEMORY_BASE, size + 64) == bytes(before)


def test_inputs_are_checked():
    case, config = activation_case("gelu", 3, 4, seed=9), configured("tiny")
    compiled = compile_graph(case.graph, config)
    run = GraphRun(FunctionalDevice(config, memory_bytes=1 << 12), compiled)
    with pytest.raises(ValueError, match="input source is missing"):
        run.load({})
    with pytest.raises(ValueError, match=r"input source is int32 of \(3, 3\), not int32 of \(3, 4"):
        run.load({"source": np.zeros((3, 3), np.int32)})
    with pytest.raises(ValueError, match="input source is int64"):
        run.load({"source": np.zeros((3, 4), np.int64)})


def test_a_memory_that_is_too_small_is_refused():
    case, config = activation_case("gelu", 30, 40, seed=9), configured("tiny")
    device = FunctionalDevice(config, memory_bytes=1 << 10)
    with pytest.raises(ValueError, match="more than the 1,024 of the device's memory"):
        GraphRun(device, compile_graph(case.graph, config))


def test_what_stays_on_the_chip_cannot_be_read():
    case, config = attention_case(1, 5, 4, seed=1), configured("tiny")
    run = GraphRun(
        FunctionalDevice(config, memory_bytes=1 << 12), compile_graph(case.graph, config)
    )
    with pytest.raises(ValueError, match="numerators is never in memory"):
        run.read("numerators")
