"""Compile, load, run, read back."""

import re

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver import runtime
from celosia.sw.driver.buffers import BufferRuleError, Buffers
from celosia.sw.driver.device import RunResult
from celosia.sw.driver.runtime import compile_product, describe_product, matmul
from celosia.sw.ir.matmul import MatMul
from celosia.sw.reference.matmul import matmul_reference
from tests.sw.strategies import operands


@pytest.fixture
def device():
    device = FunctionalDevice(PRESETS["tiny"], memory_bytes=1 << 20)
    yield device
    device.close()


FORMS = [
    MatMul(m=10, n=7, k=9),
    MatMul(m=10, n=7, k=9, bias=True, a_unsigned=True),
    MatMul(m=3, n=20, k=5, b_transposed=True, scale=0.01),
    MatMul(m=1, n=1, k=1, bias=True, scale=-0.5, relu=True),
]


@pytest.mark.parametrize("problem", FORMS, ids=str)
def test_a_product_is_what_its_definition_says(device, problem):
    a, b, bias = operands(problem)
    form = {"scale": problem.scale, "relu": problem.relu}
    c, result = matmul(device, a, b, bias, transpose_b=problem.b_transposed, **form)
    expected = matmul_reference(a, b.T if problem.b_transposed else b, bias, **form)
    assert c.dtype == expected.dtype
    assert np.array_equal(c, expected)
    assert result.cycles is None


def test_a_compiled_product_runs_again_with_other_operands(device):
    problem = MatMul(m=6, n=6, k=6, bias=True)
    compiled = compile_product(device, problem)
    for seed in (1, 2):
        a, b, bias = operands(problem, seed)
        compiled.load(a, b, bias)
        compiled.run()
        assert np.array_equal(compiled.result(), matmul_reference(a, b, bias))


def test_two_products_share_a_device(device):
    buffers = Buffers(device)
    buffers.allocate("other", (100,), np.int8)
    compiled = compile_product(device, MatMul(m=2, n=2, k=2), buffers=buffers)
    assert compiled.a.address >= buffers["other"].end


def test_a_missing_and_a_needless_bias_are_errors(device):
    for problem, given in ((MatMul(m=2, n=2, k=2, bias=True), None), (MatMul(m=2, n=2, k=2), 1)):
        a, b, bias = operands(MatMul(m=2, n=2, k=2, bias=True))
        with pytest.raises(BufferRuleError, match=r"bias: (missing|not expected) in matmul 2x2x2"):
            compile_product(FunctionalDevice(device.config), problem).load(
                a, b, bias if given else None
            )


def test_a_product_that_does_not_fit_memory_is_an_error():
    device = FunctionalDevice(PRESETS["tiny"], memory_bytes=1024)
    with pytest.raises(BufferRuleError, match=r"b: int8 40x30 at .*not inside the device's memory"):
        compile_product(device, MatMul(m=8, n=30, k=40))


BYTES = np.ones((4, 4), np.int8)


@pytest.mark.parametrize(
    ("arguments", "form", "message"),
    [
        ((BYTES.astype(np.float32), BYTES), {}, "a: elements are float32, not int8 or uint8"),
        ((BYTES, BYTES.astype(np.uint8)), {}, "b: elements are uint8, not int8"),
        ((BYTES[0], BYTES), {}, "a: shape (4,) has not 2 dimensions"),
        ((BYTES, BYTES[:0]), {}, "b: shape (0, 4) has not 2 dimensions of 1 or more"),
        ((BYTES, BYTES[:3]), {}, "b: (3, 4) is not K x N with K = 4, the columns of a (4, 4)"),
        ((BYTES, BYTES[:, :3]), {"transpose_b": True}, "b: (4, 3) is not N x K with K = 4"),
        ((BYTES, BYTES, BYTES[0]), {}, "bias: elements are int8, not int32"),
        ((BYTES, BYTES, np.ones(3, np.int32)), {}, "bias: (3,) is not one element for each of 4"),
        ((BYTES, BYTES), {"relu": True}, "relu: an int32 result is not activated"),
        ((BYTES, BYTES), {"scale": np.nan}, "scale: nan is not a finite float32"),
        ((BYTES, BYTES), {"scale": 1e39}, "scale: 1e+39 is not a finite float32"),
    ],
)
def test_an_operand_that_breaks_a_rule_is_named(arguments, form, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        describe_product(*arguments, **form)


def test_the_example_in_the_documentation_runs(capsys):
    text = runtime.__doc__ or ""
    example = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    exec(compile(example, "example", "exec"), {})
    assert capsys.readouterr().out == "(100, 40) int8 None\n"


def test_a_notebook_shows_the_counters_that_are_not_zero():
    table = RunResult(1_234, {"cycles": 1_234, "a<b": 5, "none": 0})._repr_html_()
    assert "<td>cycles of the run</td><td style='text-align: right'>1,234</td>" in table
    assert "<td>a&lt;b</td><td style='text-align: right'>5</td>" in table
    assert "none" not in table
    assert "<td>-</td>" in RunResult(None)._repr_html_()
