"""LOOP_WS and LOOP_CONV_WS become commands whose result is that of NumPy."""

from random import Random

import numpy as np
import pytest

from celosia.isa.encoding import CONFIG_BERT, CONFIG_EX, CONFIG_LD, CONFIG_ST, float_bits
from celosia.isa.encoding.gemmini_loops import LIBRARY_INSTRUCTIONS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.numerics import requantize
from celosia.isa.presets import resolve_config
from tests.support.c_host import c_host
from tests.support.convolutions import random_convolution

CONFIG = resolve_config("tiny")
DIM = CONFIG.dim
# The second one has LOOP_WS in the RTL.
PRESETS = "tiny", pytest.param("gemmini4", marks=pytest.mark.slow)
"""A preset whose host expands loops, and one whose RTL does; `test_expansion.py` has both's."""
LIBRARY = {instruction.name: instruction for instruction in LIBRARY_INSTRUCTIONS}


class Memory:
    """Arrays one behind the other, at odd addresses."""

    def __init__(self):
        self.bytes = bytearray(b"\xa5" * 7)

    def place(self, array) -> int:
        address = MEMORY_BASE + len(self.bytes)
        self.bytes += np.ascontiguousarray(array).tobytes() + b"\xa5" * 3
        return address

    def pick(self, image: bytes, address: int, like):
        start = address - MEMORY_BASE
        return np.frombuffer(image[start : start + like.nbytes], like.dtype).reshape(like.shape)


def check(memory, commands, address, wanted, host=None):
    """The result is there, and nothing else has changed."""
    before = bytes(memory.bytes)
    after = (host or c_host()).play(commands, before)
    assert np.array_equal(memory.pick(after, address, wanted), wanted)
    start, end = address - MEMORY_BASE, address - MEMORY_BASE + wanted.nbytes
    assert after[:start] + after[end:] == before[:start] + before[end:]


def product(seed):
    """Memory, commands, and where which result is to be found."""
    random, rng = Random(seed), np.random.default_rng(seed)
    m, n, k = (random.randint(1, 3 * DIM) for _ in range(3))
    transposed = random.choice([(0, 0), (1, 0), (0, 1)])
    full, low, biased = (seed >> bit & 1 for bit in range(3))
    a = rng.integers(-128, 128, (m, k), np.int8)
    b = rng.integers(-128, 128, (k, n), np.int8)
    d = rng.integers(-128, 128, (m, n)).astype(np.int8 if low else np.int32)
    sums = a.astype(np.int64) @ b + (d if biased else 0)
    wanted = sums.astype(np.int32) if full else requantize(sums, 0.01)
    memory = Memory()
    at = memory.place(a.T if transposed[0] else a), memory.place(b.T if transposed[1] else b)
    at_d, at_c = memory.place(d), memory.place(np.zeros_like(wanted))
    tiles = {name: -(-size // DIM) for name, size in (("i", m), ("j", n), ("k", k))}
    pads = {"pad_i": -m % DIM, "pad_j": -n % DIM, "pad_k": -k % DIM}
    strides = m if transposed[0] else k, k if transposed[1] else n
    commands = [
        CONFIG_EX.encode(a_transpose=transposed[0], b_transpose=transposed[1]),
        CONFIG_LD.encode(set=0, stride=strides[0], block_stride=DIM),
        CONFIG_LD.encode(set=1, stride=strides[1], block_stride=DIM),
        CONFIG_LD.encode(set=2, stride=n * d.itemsize, block_stride=DIM, shrunk=low),
        CONFIG_ST.encode(stride=n * wanted.itemsize, scale=float_bits(0.01)),
        LIBRARY["loop_ws_bounds"].encode(**tiles, **pads),
        LIBRARY["loop_ws_addresses_ab"].encode(a=at[0], b=at[1]),
        LIBRARY["loop_ws_addresses_dc"].encode(d=at_d if biased else 0, c=at_c),
        LIBRARY["loop_ws_strides_ab"].encode(a_stride=strides[0], b_stride=strides[1]),
        LIBRARY["loop_ws_strides_dc"].encode(d_stride=n, c_stride=n),
        LIBRARY["loop_ws"].encode(
            accumulate=biased,
            full_c=full,
            low_d=low,
            a_transpose=transposed[0],
            b_transpose=transposed[1],
        ),
    ]
    return memory, commands, at_c, wanted


@pytest.mark.parametrize("preset", PRESETS)
def test_products(preset):
    for seed in range(24):
        memory, commands, address, wanted = product(seed)
        check(memory, commands, address, wanted, c_host(preset))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_product_in_two_loops_that_share_a(preset):
    """The second loop loads no A, and the result of the first one stays where it is."""
    rng = np.random.default_rng(0)
    a, b, more = (rng.integers(-128, 128, (DIM, DIM), np.int8) for _ in range(3))
    sums = a.astype(np.int64) @ b.astype(np.int64) + a.astype(np.int64) @ more.astype(np.int64)
    memory = Memory()
    at_a, at_b, at_more = (memory.place(x) for x in (a, b, more))
    wanted = sums.astype(np.int32)
    at_c = memory.place(np.zeros_like(wanted))
    shared = [
        CONFIG_EX.encode(),
        *(CONFIG_LD.encode(set=number, stride=DIM, block_stride=DIM) for number in (0, 1)),
        CONFIG_ST.encode(stride=4 * DIM),
        LIBRARY["loop_ws_bounds"].encode(i=1, j=1, k=1),
        LIBRARY["loop_ws_strides_ab"].encode(a_stride=DIM, b_stride=DIM),
        LIBRARY["loop_ws_strides_dc"].encode(d_stride=DIM, c_stride=DIM),
    ]
    commands = [
        *shared,
        LIBRARY["loop_ws_addresses_ab"].encode(a=at_a, b=at_b),
        LIBRARY["loop_ws_addresses_dc"].encode(),
        LIBRARY["loop_ws"].encode(a_half=2),
        LIBRARY["loop_ws_addresses_ab"].encode(b=at_more),
        LIBRARY["loop_ws_addresses_dc"].encode(c=at_c),
        LIBRARY["loop_ws"].encode(a_half=2, accumulate=1, full_c=1),
    ]
    check(memory, commands, at_c, wanted, c_host(preset))


@pytest.mark.parametrize("preset", PRESETS)
def test_residuals(preset):
    rng = np.random.default_rng(1)
    rows, cols = 2 * DIM + 1, 3 * DIM - 1
    a, b = (rng.integers(-128, 128, (rows, cols), np.int8) for _ in range(2))
    scales = 0.3, 1.7
    sums = requantize(a, scales[0]).astype(np.int32) + requantize(b, scales[1])
    wanted = np.maximum(requantize(sums, 0.5), 0).astype(np.int8)
    memory = Memory()
    at_a, at_b, at_c = (memory.place(x) for x in (a, b, wanted * 0))
    commands = [
        *(
            CONFIG_LD.encode(
                set=number,
                stride=cols,
                block_stride=DIM,
                shrunk=1,
                scale=float_bits(scales[number]),
            )
            for number in (0, 1)
        ),
        CONFIG_ST.encode(stride=cols, activation=1, scale=float_bits(0.5)),
        LIBRARY["loop_ws_bounds"].encode(i=3, j=3, pad_i=-rows % DIM, pad_j=-cols % DIM),
        LIBRARY["loop_ws_addresses_ab"].encode(a=at_a, b=at_b),
        LIBRARY["loop_ws_addresses_dc"].encode(c=at_c),
        LIBRARY["loop_ws_strides_ab"].encode(a_stride=cols, b_stride=cols),
        LIBRARY["loop_ws_strides_dc"].encode(c_stride=cols),
        LIBRARY["loop_ws"].encode(residual=1),
    ]
    check(memory, commands, at_c, wanted, c_host(preset))


@pytest.mark.parametrize("preset", PRESETS)
def test_convolutions(preset):
    """The second one packs pixels, and pools."""
    config, host = resolve_config(preset), c_host(preset)
    for seed in range(27):
        convolution = random_convolution(seed, config, pools=config.convolution)
        image, weights, bias = operands(convolution, seed)
        wanted = np.ascontiguousarray(convolution.expected(image, weights, bias))
        memory = Memory()
        stored = convolution.arrange(image, weights)
        at = {
            "input": memory.place(stored[0]),
            "weights": memory.place(stored[1]),
            "bias": memory.place(bias),
            "output": memory.place(wanted * 0),
        }
        check(memory, convolution.commands(at), at["output"], wanted, host)


def operands(convolution, seed):
    rng = np.random.default_rng(seed)
    images, size, kernel = convolution.images, convolution.size, convolution.kernel
    channels, outputs = convolution.channels, convolution.outputs
    return (
        rng.integers(-128, 128, (images, size, size, channels), np.int8),
        rng.integers(-128, 128, (kernel, kernel, channels, outputs), np.int8),
        rng.integers(-2000, 2000, outputs).astype(np.int32),
    )


@pytest.mark.slow
@pytest.mark.parametrize("activation", [2, 4])
def test_rows_are_normalized_over_all_their_tiles(activation):
    """LayerNorm and softmax; more columns than one MVOUT moves."""
    host, rng, rows, cols, inner = c_host("gemmini4"), np.random.default_rng(3), 7, 70, 6
    a = rng.integers(-20, 20, (rows, inner), np.int8)
    b = rng.integers(-20, 20, (inner, cols), np.int8)
    memory = Memory()
    at_a, at_b, at_c = memory.place(a), memory.place(b), memory.place(np.zeros((rows, cols), "i1"))
    softmax = activation == 4
    constants = {"constant": 40, "qb": 77, "qc": 2000}, {"constant": 1638, "second_constant": 1}
    bert = [CONFIG_BERT.encode(softmax=1, **{**constants[0], **some}) for some in constants]
    commands = [
        CONFIG_EX.encode(),
        CONFIG_LD.encode(set=0, stride=inner, block_stride=DIM),
        CONFIG_LD.encode(set=1, stride=cols, block_stride=DIM),
        CONFIG_ST.encode(
            stride=cols,
            activation=0 if softmax else activation,
            scale=float_bits(1.0 if softmax else 40.0),
        ),
        *(bert if softmax else []),
        LIBRARY["loop_ws_bounds"].encode(i=2, j=18, k=2, pad_i=1, pad_j=2, pad_k=2),
        LIBRARY["loop_ws_addresses_ab"].encode(a=at_a, b=at_b),
        LIBRARY["loop_ws_addresses_dc"].encode(c=at_c),
        LIBRARY["loop_ws_strides_ab"].encode(a_stride=inner, b_stride=cols),
        LIBRARY["loop_ws_strides_dc"].encode(c_stride=cols),
        LIBRARY["loop_ws"].encode(activation=activation),
    ]
    image = host.play(commands, bytes(memory.bytes))
    got = memory.pick(image, at_c, np.zeros((rows, cols), np.int8)).astype(int)
    if softmax:
        assert (abs(got.sum(axis=1) - 127) <= 3).all()
        return
    sums = a.astype(int) @ b.astype(int)
    distances = sums - np.trunc(sums.mean(axis=1, keepdims=True))
    deviations = np.floor(np.sqrt((distances**2).sum(axis=1, keepdims=True) // cols))
    wanted = np.clip(np.rint(distances / deviations * 40), -128, 127)
    assert (got == wanted).all()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "bad",
    [
        LIBRARY["loop_ws_bounds"].encode(i=1, j=1, k=1, pad_j=DIM + 1),
        LIBRARY["loop_ws_addresses_dc"].encode(c=64),
        LIBRARY["loop_ws"].encode()._replace(rs2=1 << 8),
    ],
    ids=["pads", "address", "scratchpad"],
)
def test_an_error_names_the_command_that_a_loop_stands_for(bad, preset):
    """Also where the RTL has made it."""
    memory, commands, _, _ = product(3)
    other = [bad if command.funct == bad.funct else command for command in commands]
    with pytest.raises(AssertionError, match="  command "):
        c_host(preset).play(commands + other, bytes(memory.bytes))
