"""Every operation reaches the memories that it names, and one that memory refuses does nothing."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.encoding import ONE
from celosia.isa.execution.machine import Machine
from celosia.isa.operations.operations import Load, LoadParameters, Operand, Product, Store
from celosia.isa.operations.transforms import Transform
from celosia.isa.state.transform_state import TransformState
from tests.isa.execution.small_device import CONFIG, DIM

FIRST, OTHER = LocalAddress(row=0), LocalAddress(row=50)
SUMS = LocalAddress(row=3, accumulator=True)
SQUARE: dict[str, Any] = {
    "address": 0x40,
    "stride": DIM,
    "rows": DIM,
    "cols": DIM,
    "pitch": DIM,
    "scale": ONE,
}


class Memory:
    """Memory that is one matrix of bytes, wherever it is read, or none at all."""

    def __init__(self, *, there: bool = True):
        self.there = there
        self.bytes = np.random.default_rng(7).integers(0, 256, 4 * DIM * DIM, np.uint8)

    def rows(self, address, stride, shape, dtype):
        if not self.there:
            raise LookupError(address)
        count = shape[0] * shape[1]
        return self.bytes.view(dtype)[:count].reshape(shape)


def load(local: LocalAddress = FIRST) -> Load:
    return Load(local=local, shrunk=False, **SQUARE)


def store(local: LocalAddress = FIRST) -> Store:
    return Store(local=local, relu=False, bias_row=None, **SQUARE)


def place(local: LocalAddress) -> Operand:
    return Operand(local=local, rows=DIM, cols=DIM)


def product() -> Product:
    operands = {"a": place(FIRST), "w": place(OTHER), "d": None, "c": place(SUMS)}
    return Product(load_weights=True, a_unsigned=False, relu=False, **operands)


def held(machine: Machine) -> dict[str, np.ndarray]:
    names = ("scratchpad", "accumulator", "parameters", "weights", "sums")
    return {name: deepcopy(getattr(machine, name)) for name in names}


def changed(machine: Machine, before: dict[str, np.ndarray]) -> set[str]:
    return {name for name, now in held(machine).items() if (now != before[name]).any()}


@pytest.mark.parametrize(
    ("operation", "changes"),
    [
        (load(), {"scratchpad"}),
        (load(SUMS), {"accumulator"}),
        (LoadParameters(address=0x40, row=1, count=DIM), {"parameters"}),
        (store(), set()),
        (product(), {"accumulator", "weights"}),
        (
            Transform(
                state=TransformState.reset(CONFIG),
                local=SUMS,
                rows=1,
                cols=DIM,
                target=OTHER,
                target2=FIRST,
            ),
            {"scratchpad"},
        ),
    ],
)
def test_an_operation_changes_what_it_names(operation, changes):
    machine = Machine(CONFIG, Memory(), seed=2)
    before = held(machine)
    machine.execute(operation)
    assert changed(machine, before) == changes


def test_what_is_loaded_can_be_stored():
    machine, memory = Machine(CONFIG, Memory(), seed=2), Memory()
    machine.execute(load())
    emptied = Machine(CONFIG, memory, seed=3)
    emptied.scratchpad[...] = machine.scratchpad
    memory.bytes[: DIM * DIM] = 0
    emptied.execute(store())
    assert (memory.bytes == Memory().bytes).all()


@pytest.mark.parametrize(
    "operation", [load(), load(SUMS), store(), LoadParameters(address=0x40, row=1, count=DIM)]
)
def test_what_memory_refuses_is_not_done(operation):
    machine = Machine(CONFIG, Memory(there=False), seed=2)
    before = held(machine)
    with pytest.raises(LookupError):
        machine.execute(operation)
    assert not changed(machine, before)


def test_the_garbage_at_first_depends_on_the_seed():
    one, same, other = (held(Machine(CONFIG, Memory(), seed=seed)) for seed in (1, 1, 2))
    for name, rows in one.items():
        assert (rows == same[name]).all()
        assert (rows != other[name]).any()
