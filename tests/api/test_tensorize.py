"""`celosia.tensorize` makes a function of an expression: of NumPy arrays, with cycles."""

import numpy as np
import pytest

import celosia
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.expressions.language import compute, placeholder, reduce_axis, total
from celosia.sw.frontend.expressions.nodes import ExpressionError
from celosia.sw.planning.rules.verify import PlanError
from tests.support.documents import validate
from tests.support.faulty_devices import Idle, Stopping

RANDOM = np.random.default_rng(0)
A, B = (RANDOM.integers(-128, 128, (2, 6, 6), np.int8) for _ in "ab")


def batched():
    a, b, k = placeholder("a", (2, 6, 6)), placeholder("b", (2, 6, 6)), reduce_axis(6)
    return compute("c", (2, 6, 6), lambda n, i, j: total(a[n, i, k] * b[n, k, j], k))


@pytest.fixture(scope="module")
def operator():
    return celosia.tensorize(batched(), preset="tiny", simulator="functional")


def test_an_operator_is_a_function_of_arrays(operator):
    expected = A.astype(int) @ B
    for found in (
        operator(A, B),
        operator(a=A, b=B),
        operator(A, b=B),
        operator(A, B, check=False),
    ):
        assert found.dtype == np.int32
        assert np.array_equal(found, expected)
    assert operator.inputs == {"a": ("int8", (2, 6, 6)), "b": ("int8", (2, 6, 6))}


def test_the_report_is_that_of_the_command(operator):
    operator(A, B)
    report = operator.report()
    validate(report)
    assert (report["mismatches"], report["elements_checked"]) == (0, 72)
    operator(A, B, check=False)
    assert operator.report()["elements_checked"] == 0
    assert operator.cycles is None, "the functional simulator has no clock"


@pytest.mark.parametrize(
    ("arrays", "named", "said"),
    [
        ((A,), {}, "b is missing"),
        ((A, B, A), {}, "3 arrays are more than the 2 inputs"),
        ((A, B), {"a": A}, "a: this input is given twice"),
        ((A, B), {"c": A}, "c is no input"),
        ((A, B.astype(np.int16)), {}, "b is int16"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(operator, arrays, named, said):
    with pytest.raises(ValueError, match=said):
        operator(*arrays, **named)
    with pytest.raises(InputError, match="has not been called, or its last call was refused"):
        _ = operator.cycles


def test_a_schedule_is_followed_and_computes_the_same(tmp_path):
    plain = celosia.tensorize(
        batched(), preset="tiny", simulator="functional", schedule=lambda schedule: schedule
    )
    tall = celosia.tensorize(
        batched(),
        preset="tiny",
        simulator="functional",
        schedule=lambda schedule: schedule.tensorize("c.0", times=2).tensorize("c.1", times=2),
    )
    commands = [each(A, B) is not None and each.report()["commands"] for each in (plain, tall)]
    assert commands[0] > commands[1]
    path = tmp_path / "s.toml"
    path.write_text('start = "plain"\nsteps = []\n')
    given = celosia.tensorize(batched(), preset="tiny", simulator="functional", schedule=path)
    assert np.array_equal(given(A, B), plain(A, B))
    assert given.report()["commands"] == commands[0]


def test_what_cannot_be_compiled_is_refused():
    with pytest.raises(PlanError, match="nobody: no stage computes it"):
        celosia.tensorize(batched(), schedule=lambda schedule: schedule.tensorize("nobody"))
    with pytest.raises(ExpressionError, match="a is given, not computed"):
        celosia.tensorize(placeholder("a", (3,)))
    with pytest.raises(InputError, match="nowhere"):
        celosia.tensorize(batched(), schedule="nowhere.toml")


@pytest.mark.parametrize(
    ("device", "said"), [(Idle, "elements differ"), (Stopping, "the accelerator stopped")]
)
def test_a_wrong_accelerator_is_not_believed(operator, monkeypatch, device, said):
    def opened(name, config, timing, memory_bytes, *, progress):
        return device(config, memory_bytes=memory_bytes)

    monkeypatch.setattr("celosia.sim.run.models.compiled_operator.open_device", opened)
    with pytest.raises(RuntimeError, match=said):
        operator(A, B)
