"""What becomes of finished sums: chunks that fit, their parameters and their settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.encoding import ElementType, Function, float_bits
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DivideBySums,
    LayerNorm,
    Mask,
    Requantize,
    Softmax,
    Sums,
    Tensor,
    View,
)
from celosia.sw.ir.program import Load, LoadParameters, LocalRows, Settings, Space, Store, Transform
from celosia.sw.lowering.finish import FinishedSums, Finisher, mask_settings, norm_settings
from celosia.sw.lowering.places import Places
from celosia.sw.lowering.writer import ProgramWriter
from tests.support.levels import CONFIGS

KINDS = ("int8", "uint8", "int16", "int32")


class Bench:
    """A finisher of sums of some rows and columns."""

    def __init__(self, config, rows: int, cols: int, kind: str = "int8"):
        tensors = (
            Tensor("out", kind, rows, cols),
            Tensor("stream", "int16", rows, cols),
            Tensor("bias", "int32", 1, cols),
            Tensor("scale", "float32", 1, cols),
        )
        self.out, self.stream, self.bias, self.scale = (t.view() for t in tensors)
        self.writer = ProgramWriter(config, {t.name: t for t in tensors})
        self.places = Places(config)
        self.finisher = Finisher(self.writer, self.places)
        blocks = -(-cols // config.dim)
        self.rows = LocalRows(Space.ACCUMULATOR, 0, rows, blocks, rows)

    def sums(self, **values) -> FinishedSums:
        return FinishedSums(rows=self.rows, out=self.out, **values)

    def finished(self, how, *, norm: Settings | None = None, **values) -> list:
        self.finisher.finish(how, self.sums(**values), norm=norm)
        return [one.op for one in self.writer.finish()]


def transforms(ops: list) -> list[Transform]:
    return [op for op in ops if isinstance(op, Transform)]


@given(
    st.sampled_from(list(CONFIGS.values())),
    st.integers(1, 400),
    st.sampled_from(KINDS),
    st.booleans(),
    st.data(),
)
def test_chunks_are_of_whole_tiles_and_fit(config, cols, kind, residual, data):
    rows = data.draw(st.integers(1, Places(config).block_rows))
    bench = Bench(config, rows, cols, "int16" if residual else kind)
    ring = bench.places.results(bench.writer.element_bytes(bench.out))
    stream = bench.stream if residual else None
    sums = bench.sums(residual=stream, bias=bench.bias, scale=bench.scale)
    parts, position = list(bench.finisher.chunks(sums, ring)), 0
    for part in parts:
        assert part.out.col == position
        assert part.first == (position == 0)
        position += part.out.cols
        assert part.last == (position == cols)
        assert part.rows.row == bench.rows.row + part.out.col // config.dim * rows
        assert part.rows.blocks == -(-part.out.cols // config.dim) <= config.parameter_rows
        columns = {"col": part.out.col, "cols": part.out.cols}
        assert (part.bias, part.scale) == (bench.bias.part(**columns), bench.scale.part(**columns))
        assert part.residual == (stream and stream.part(**columns))
        assert bench.finisher.target(part.out, ring).end <= config.scratchpad_rows
    assert position == cols


def test_sums_without_bias_are_stored_as_they_are():
    bench = Bench(CONFIGS["base"], 5, 40, "int32")
    assert bench.finished(Sums()) == [
        Store(bench.out.part(col=16 * n, cols=min(16, 40 - 16 * n)), bench.rows.block(n))
        for n in range(3)
    ]


def test_sums_with_bias_are_int32():
    ops = Bench(CONFIGS["base"], 5, 40, "int32").finished(Sums(), bias=View("bias", 0, 0, 1, 40))
    transform = transforms(ops)[0]
    assert transform.function is Function.REQUANTIZE
    assert transform.settings["type"] == ElementType.INT32
    assert transform.settings["bias"] == 1
    assert transform.targets[0].blocks == 10


@pytest.mark.parametrize(
    ("how", "kind", "function", "settings"),
    [
        (
            Requantize(0.5, 7, relu=True),
            "uint8",
            Function.REQUANTIZE,
            {"type": ElementType.UINT8, "zero_point": 7, "relu": 1, "scale": float_bits(0.5)},
        ),
        (
            Activation("gelu", 0.5, 0.25, 9),
            "uint8",
            Function.GELU,
            {
                "type": ElementType.UINT8,
                "zero_point": 9,
                "scale": float_bits(0.5),
                "scale2": float_bits(0.25),
            },
        ),
        (
            DivideBySums(View("out", 0, 0, 1, 1), 0.5),
            "int16",
            Function.CONTEXT,
            {"type": ElementType.INT16, "statistics": 3, "scale": float_bits(0.5)},
        ),
    ],
)
def test_settings(how, kind, function, settings):
    bench = Bench(CONFIGS["base"], 5, 16, kind)
    begin = Transform(Function.MAXIMUM, bench.rows, 16, settings={"statistics": 3, "start": 1})
    bench.writer.write(begin, bench.out)
    _, transform = transforms(bench.finished(how, scale=how.scale, slot=3))
    assert transform.function is function
    assert transform.settings == settings
    assert not transform.parameters


def test_scales_and_bias_per_column_are_parameters():
    bench = Bench(CONFIGS["base"], 5, 40)
    ops = bench.finished(Requantize(bench.scale), scale=bench.scale, bias=bench.bias)
    loads = [op for op in ops if isinstance(op, LoadParameters)]
    (transform,) = transforms(ops)
    assert [op.view.tensor for op in loads] == ["bias", "scale"]
    rows = {"bias_row": loads[0].to.row, "scale_row": loads[1].to.row}
    assert transform.parameters == rows == {"bias_row": 0, "scale_row": 3}
    assert transform.settings["column_scale"] == transform.settings["bias"] == 1
    assert "scale" not in transform.settings


def test_a_residual_is_loaded_and_counted():
    bench = Bench(CONFIGS["tiny"], 16, 400, "int16")
    how = AddResidual(0.5, bench.stream, 0.25)
    norm = {"channels": 400, "rms": 1}
    ops = bench.finished(how, scale=0.5, residual=bench.stream, norm=norm, slot=8)
    parts = transforms(ops)
    assert len(parts) > 1
    for part in parts:
        assert part.residual is not None
        assert part.settings["start"] == (part is parts[0])
        assert part.settings["finish"] == (part is parts[-1])
        assert part.settings["moments"] == 1
        assert part.settings["statistics"] == 8
        assert part.norm == norm
    loaded = np.zeros(400)
    for op in ops:
        if isinstance(op, Load):
            loaded[op.view.col : op.view.col + op.view.cols] += 1
    assert (loaded == 1).all()


def test_softmax_is_not_of_elements():
    bench = Bench(CONFIGS["tiny"], 4, 4)
    with pytest.raises(ValueError, match="is no transform of elements"):
        bench.finished(Softmax(0.5))


@pytest.mark.parametrize(
    ("mask", "settings"),
    [
        (Mask(), {"causal": 0, "first_row": 5, "first_key": 32}),
        (Mask(keys=0), {"causal": 0, "first_row": 5, "first_key": 32, "keys": 0}),
        (Mask(causal=True), {"causal": 1, "first_row": 5, "first_key": 32}),
    ],
)
def test_masks(mask, settings):
    assert mask_settings(mask, 5, 32) == settings


@pytest.mark.parametrize(
    ("options", "settings"),
    [({}, {}), ({"epsilon": 7}, {"epsilon": 7}), ({"rms": True}, {"rms": 1})],
)
def test_settings_of_a_normalization_leave_out_what_it_has_not(options, settings):
    norm = LayerNorm(name="norm", source=View("x", 0, 0, 3, 40), outputs=(), **options)
    assert norm_settings(norm) == {"channels": 40} | settings
