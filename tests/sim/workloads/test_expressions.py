"""Operators of one's own in files: they run like any workload, and bad ones are told where."""

import inspect
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.compilers.expressions import product_of
from celosia.lab.graphs import expressions as operators
from celosia.lab.graphs.expressions import SIX
from celosia.sim.cli import app
from celosia.sim.devices.devices import open_device
from celosia.sim.run.checks import checked_product
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import ExpressionFile
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator, device_bytes
from celosia.sim.workloads.workloads import workload_of
from celosia.sw.frontend.expressions.tensorize import tensorize

IMPORTS = """
from celosia.sw.frontend.expressions.language import (
    compute, constant, placeholder, reduce_axis, requantize, total)
"""
GRAM = (
    IMPORTS
    + """
x, k = placeholder("x", (6, 5)), reduce_axis(5)
operator = compute("g", (6, 6), lambda i, j: total(x[i, k] * x[j, k], k))
"""
)
TURNED = GRAM.replace("(6, 5)", "(5, 6)").replace("x[i, k] * x[j, k]", "x[k, i] * x[k, j]")


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "gram.py"
        path.write_text(text)
        return path

    return written


def run(path, details=None, preset="tiny", simulator="functional"):
    target = Target(preset=preset, simulator=simulator)
    return run_workload(RunOptions(workload=str(path), details=details, target=target))


def test_an_operator_of_a_file_is_compared_and_its_result_is_the_tensor(file, tmp_path):
    given = np.random.default_rng(5).integers(-128, 128, (5, 6), np.int8)
    np.savez(tmp_path / "x.npz", x=given)
    outcome = run(file(TURNED), ExpressionFile(input=tmp_path / "x.npz"))
    total = outcome.report.total
    assert (total.mismatches, total.elements_checked) == (0, 36)
    assert outcome.result is not None
    assert np.array_equal(np.asarray(outcome.result), given.T.astype(int) @ given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("operator = 3", r"it sets int as `operator`"),
        ("", "it sets no `operator`"),
        ("x = 1 / 0", r"gram\.py:1: ZeroDivisionError"),
        ("def f(:", "gram.py: SyntaxError"),
        ("import sys\nsys.exit(0)", r"gram\.py:2: SystemExit: 0"),
        (GRAM.replace("(6, 6)", "(7, 6)"), r"gram\.py:6: g: x\[i, k\]: index i is 0\.\.6"),
        (GRAM.replace("x[i, k] *", "x[i, k] * x[i, k] * 9 *"), "gram.py: g: no intrinsic computes"),
    ],
)
def test_a_file_without_an_operator_is_refused(file, text, said):
    with pytest.raises(InputError, match=said):
        run(file(text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.py: No such file"):
        run(tmp_path / "gone.py")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y": np.zeros((6, 5), np.int8)}, r"x\.npz: y is no input; there are x"),
        ({"x": np.zeros((6, 4), np.int8)}, r"x\.npz: x is int8 of \(6, 4\)"),
    ],
)
def test_inputs_that_are_not_the_operators_are_refused(file, tmp_path, arrays, said):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InputError, match=said):
        run(file(GRAM), ExpressionFile(input=tmp_path / "x.npz"))


def test_the_command_writes_the_result_takes_a_schedule_and_says_what_the_host_does(file, tmp_path):
    schedule, result = tmp_path / "s.toml", tmp_path / "g.npy"
    schedule.write_text('start = "plain"\n[[steps]]\nkind = "tensorize"\nop = "g"\ntimes = 2\n')
    words = ["run", str(file(TURNED)), "--sim", "functional", "--preset", "tiny", "--seed", "3"]
    words += ["--schedule", str(schedule), "--out", str(result)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "the host lays out g.a" in done.output
    given = np.random.default_rng(3).integers(-128, 127, (5, 6), np.int8, endpoint=True)
    assert np.array_equal(np.load(result), given.T.astype(int) @ given)
    assert CliRunner().invoke(app, [*words, "--shape", "3x3"]).exit_code == 2


def test_a_file_is_a_workload_by_the_end_of_its_name():
    assert workload_of("a/b.py") is not None
    assert workload_of("a/b.txt") is None


@pytest.mark.nightly
@pytest.mark.parametrize("make", SIX, ids=lambda make: make.__name__)
def test_an_operator_uses_the_array_as_a_product_of_its_sizes_does(make, tmp_path):
    """At least 90 % of it, on RTL, with every element compared."""
    source, name = inspect.getsource(operators), make.__name__
    path = tmp_path / f"{name}.py"
    path.write_text(f"{source}\n\noperator = {name}()\n")
    outcome = run(path, preset="base", simulator="verilator")
    assert outcome.report.right
    graph = tensorize(make()).graph
    alone = product_of(graph)
    product, timing = Operator("matmul", random_operands(alone, 0)), MemoryTiming()
    config = resolve_config("base")
    with closing(open_device("verilator", config, timing, device_bytes([product]))) as device:
        measured, _ = checked_product(device, product, timing)
    cycles = outcome.report.total.cycles
    assert cycles
    assert measured.cycles
    use = graph.macs / cycles
    assert use >= 0.9 * alone.macs / measured.cycles
