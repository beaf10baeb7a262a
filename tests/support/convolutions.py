"""Random convolutions: as commands of LOOP_CONV_WS, and in NumPy."""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EX, CONFIG_ST, Command, float_bits
from celosia.isa.encoding.gemmini_loops import LIBRARY_INSTRUCTIONS
from celosia.isa.numerics import relu, requantize

__all__ = ["Convolution", "random_convolution"]

_SCALE = 0.01
_LIBRARY = {instruction.name: instruction for instruction in LIBRARY_INSTRUCTIONS}


@dataclass(frozen=True, kw_only=True)
class Convolution:
    """One tile that is a whole convolution of square images."""

    images: int
    size: int
    channels: int
    outputs: int
    kernel: int
    stride: int = 1
    padding: int = 0
    kernel_dilation: int = 1
    input_dilated: bool = False
    rotate: bool = False
    trans_output_1203: bool = False
    trans_weight_1203: bool = False
    trans_weight_0132: bool = False
    trans_input_3120: bool = False
    downsample: bool = False
    max_pixels: int = 1
    bias: bool = True
    relu: bool = False
    pool: tuple[int, int, int] | None = None
    """Size, stride and padding."""

    @property
    def inside(self) -> int:
        """Rows of the dilated input."""
        return 2 * self.size - 1 if self.input_dilated else self.size

    @property
    def reach(self) -> int:
        """Rows of the dilated kernel."""
        return self.kernel + (self.kernel_dilation - 1) * (self.kernel - 1)

    @property
    def rows(self) -> int:
        """Of the output before pooling."""
        return (self.inside + 2 * self.padding - self.reach) // self.stride + 1

    @property
    def pooled(self) -> int:
        """Of the output."""
        if self.pool is None:
            return self.rows
        size, stride, padding = self.pool
        return (self.rows + 2 * padding - size) // stride + 1

    def local_rows(self, dim: int) -> int:
        """Rows of the accumulator."""
        return -(-self.outputs // dim) * self.images * self.rows**2

    def expected(
        self, image: NDArray[np.int8], weights: NDArray[np.int8], bias: NDArray[np.int32]
    ) -> NDArray[Any]:
        """The output in memory's order.

        `image` is (image, row, column, channel), `weights` (row, column, in, out).
        """
        wide = np.zeros((self.images, self.inside, self.inside, self.channels), np.int64)
        step = 2 if self.input_dilated else 1
        wide[:, ::step, ::step] = image
        pad = self.padding
        wide = np.pad(wide, ((0, 0), (pad, pad + self.reach), (pad, pad + self.reach), (0, 0)))
        sums = np.zeros((self.images, self.rows, self.rows, self.outputs), np.int64)
        sums += bias if self.bias else 0
        end = self.rows * self.stride
        for row in range(self.kernel):
            for col in range(self.kernel):
                turned = (self.kernel - 1 - row, self.kernel - 1 - col)
                w = weights[turned if self.rotate else (row, col)].astype(np.int64)
                y, x = row * self.kernel_dilation, col * self.kernel_dilation
                sums += wide[:, y : y + end : self.stride, x : x + end : self.stride] @ w
        result = requantize(sums, _SCALE)
        result = relu(result) if self.relu else result
        if self.pool is not None:
            return self._pool(result)
        return result.transpose(1, 2, 0, 3) if self.trans_output_1203 else result

    def _pool(self, x: NDArray[Any]) -> NDArray[Any]:
        assert self.pool is not None
        size, stride, pad = self.pool
        x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))
        return windows.max(axis=(-1, -2))[:, ::stride, ::stride]

    def arrange(
        self, image: NDArray[np.int8], weights: NDArray[np.int8]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Both as they are in memory."""
        image = image.transpose(3, 1, 2, 0) if self.trans_input_3120 else image
        if self.trans_weight_1203:
            weights = weights.transpose(2, 0, 1, 3)
        elif self.trans_weight_0132:
            weights = weights.transpose(0, 1, 3, 2)
        return image, weights

    def commands(self, at: dict[str, int]) -> list[Command]:
        """For operands at the addresses ``input``, ``weights``, ``bias`` and ``output``."""
        size, stride, padding = self.pool or (0, 0, 0)
        below = max(0, self.rows * self.stride + self.reach - 1 - self.padding - self.inside)
        if self.input_dilated and not below:
            below = int((self.rows + self.reach - 1 - self.padding) % 2 != 1)
        values = {
            "loop_conv_1": {
                "batch_size": self.images, "in_rows": self.size, "in_channels": self.channels,
                "out_channels": self.outputs, "out_rows": self.rows, "out_cols": self.rows,
                "pool_out_rows": self.pooled, "stride": self.stride, "padding": self.padding,
            },
            "loop_conv_2": {
                "pool_padding": padding, "pool_stride": stride, "pool_size": size,
                "pool_out_cols": self.pooled, "kernel_dim": self.kernel, "pochs": self.outputs,
                "pocols": self.pooled, "porows": self.pooled, "batches": self.images,
            },
            "loop_conv_3": {
                "lpad": self.padding, "upad": self.padding, "rpad": below, "dpad": below,
                "kchs": self.channels, "kcols": self.kernel, "krows": self.kernel,
                "in_cols": self.size, "plpad": padding,
            },
            "loop_conv_4": {
                "kernel_dilation": self.kernel_dilation, "pdpad": padding, "pupad": padding,
                "prpad": padding, "orows": self.rows, "ocols": self.rows,
                "out_stride": self.outputs, "weight_stride": self.outputs,
                "in_stride": self.channels,
            },
            "loop_conv_5": {"weights": at["weights"], "output": at["output"]},
            "loop_conv_6": {"bias": at["bias"], "input": at["input"]},
            "loop_conv_ws": {
                "no_bias": not self.bias, "rotate": self.rotate, "max_pixels": self.max_pixels,
                "trans_output_1203": self.trans_output_1203,
                "trans_weight_1203": self.trans_weight_1203,
                "trans_weight_0132": self.trans_weight_0132,
                "trans_input_3120": self.trans_input_3120,
                "no_pool": self.pool is None, "downsample": self.downsample,
                "input_dilated": self.input_dilated, "activation": self.relu,
            },
        }  # fmt: skip
        pixels = self.images if self.trans_output_1203 else 1
        return [
            CONFIG_EX.encode(
                a_transpose=self.trans_input_3120,
                b_transpose=self.trans_weight_0132,
                a_stride=self.stride >> self.downsample,
                c_stride=2 if self.input_dilated else 1,
            ),
            CONFIG_ST.encode(
                activation=self.relu, stride=pixels * self.outputs, scale=float_bits(_SCALE)
            ),
            *(_LIBRARY[name].encode(**fields) for name, fields in values.items()),
        ]


def random_convolution(seed: int, config: AcceleratorConfig, *, pools: bool) -> Convolution:
    """One that fits, with one of the features that exclude each other."""
    random, dim = Random(seed), config.dim
    kernel = random.randint(1, 3)
    plain = Convolution(
        images=random.randint(1, 3),
        size=random.randint(3, 8),
        channels=random.randint(1, 2 * dim),
        outputs=random.randint(1, 2 * dim),
        kernel=kernel,
        stride=random.randint(1, 2),
        padding=random.randint(0, kernel - 1),
        kernel_dilation=random.randint(1, 2),
        max_pixels=random.randint(1, 3),
        bias=random.random() < 0.5,
        relu=random.random() < 0.5,
    )
    choices: list[dict[str, Any]] = [
        {},
        {"channels": random.randint(1, 2), "kernel_dilation": 1},
        {"rotate": True},
        {"trans_output_1203": True},
        {"trans_weight_1203": True},
        {"trans_weight_0132": True},
        {"trans_input_3120": True, "images": random.randint(1, dim + 2), "size": 3},
        {"input_dilated": True, "stride": 1, "kernel_dilation": 1, "size": 4},
        {"kernel": 1, "padding": 0, "stride": 2, "downsample": True, "size": 6},
    ]
    chosen = replace(plain, **choices[seed % len(choices)])
    if pools and seed % 3 and not chosen.trans_output_1203:
        chosen = replace(chosen, pool=(random.randint(1, 3), random.randint(1, 2), 1))
    fits = chosen.rows >= 1 and chosen.pooled >= 1
    if fits and chosen.local_rows(dim) <= config.accumulator_rows // 2:
        return chosen
    return random_convolution(seed + 9_000, config, pools=pools)
