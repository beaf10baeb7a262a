"""What of a graph is compared, and that nothing escapes the comparison."""

import pytest

from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.profile.operator_groups import command_operators
from celosia.sim.run.checks import checked_graph
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import RunResult
from celosia.sw.models.cases import (
    attention_case,
    encoder_layer_case,
    layernorm_case,
    random_quantized_encoder,
)
from celosia.sw.reference.encoder import EncoderShape
from tests.support.faulty_devices import EMPTY_LOG, Idle, Logging, Stopping

TINY = PRESETS["tiny"]
SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
LAYER = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [3, 5], 0)
COMPILED = compile_graph(LAYER.graph, TINY)
WRITTEN = set(LAYER.graph.tensors) - set(LAYER.graph.constants) - set(LAYER.graph.inputs)
ON_CHIP = {f"0.{kind}.text{text}" for kind in ("numerators", "sums") for text in range(2)}


class Flipping(FunctionalDevice):
    """Flips a bit of one byte of memory when the program has ended."""

    address = 0

    def run(self, program, issue="stream", marks=()):
        result = super().run(program, issue, marks)
        (byte,) = self.read(self.address, 1)
        self.write(self.address, bytes([byte ^ 0x10]))
        return result


class Clocked(FunctionalDevice):
    """Claims to have counted: a cycle for each command."""

    def run(self, program, issue="stream", marks=()):
        super().run(program, issue)
        issued = len(list(expand(program, TINY)))
        counts = [
            {"cycles": count, "read_bytes": 2 * count, "write_bytes": 3 * count, "array_rows": 1}
            for count in (*marks, issued)
        ]
        return RunResult(issued, counts[-1], 0.5, tuple(counts[:-1]))


def measure(device=FunctionalDevice, case=LAYER, compiled=COMPILED, **more):
    return checked_graph("x", device(TINY, memory_bytes=1 << 20, **more), compiled, case)


def test_every_tensor_in_memory_is_compared():
    measured = measure()
    sizes = {name: LAYER.graph.tensors[name] for name in WRITTEN - ON_CHIP}
    assert measured.whole.right
    assert measured.whole.elements_checked == sum(t.rows * t.cols for t in sizes.values())
    assert measured.whole.elements_checked == sum(g.elements_checked for g in measured.groups)
    assert set(measured.program.on_chip) == ON_CHIP
    assert set(measured.outputs) == set(LAYER.graph.outputs)


@pytest.mark.parametrize("name", sorted(WRITTEN - ON_CHIP))
def test_one_wrong_bit_of_any_tensor_is_found(name, monkeypatch):
    monkeypatch.setattr(Flipping, "address", COMPILED.addresses[name])
    measured = measure(Flipping)
    assert not measured.whole.right
    assert measured.whole.mismatches == 1
    assert [group.mismatches for group in measured.groups].count(1) == 1


def test_results_that_were_never_written_are_wrong():
    measured = measure(Idle)
    assert (measured.whole.mismatches or 0) > 0.9 * measured.whole.elements_checked


def test_a_device_that_stops_is_a_failure():
    measured = measure(Stopping)
    assert measured.whole.failure is not None
    assert measured.whole.failure.command == 3
    assert not measured.whole.right


def test_groups_share_what_was_counted():
    measured = measure(Clocked)
    whole, groups = measured.whole, measured.groups
    assert (
        whole.cycles
        == sum(group.cycles or 0 for group in groups)
        == len(command_operators(COMPILED))
    )
    assert whole.dram_read_bytes == sum(group.dram_read_bytes for group in groups)
    assert whole.dram_write_bytes == sum(group.dram_write_bytes for group in groups)
    assert whole.macs == sum(group.macs for group in groups)
    assert whole.commands >= sum(group.commands for group in groups) > 0.9 * whole.commands
    assert all(group.cycles and group.counters for group in groups)


def test_without_a_clock_groups_have_no_cycles():
    measured = measure()
    assert {group.cycles for group in (*measured.groups, measured.whole)} == {None}
    assert measured.whole.dram_write_bytes > measured.whole.elements_checked
    for group in measured.groups:
        assert (group.dram_read_bytes, group.dram_write_bytes, group.counters) == (0, 0, {})


def test_an_operator_without_products_has_all_cycles():
    case = layernorm_case(5, 9, 0)
    measured = measure(Clocked, case, compile_graph(case.graph, TINY))
    (only,) = measured.groups
    assert only.cycles == measured.whole.cycles
    assert only.macs == 0


def test_an_attention_is_one_group():
    case = attention_case(2, 5, 8, 0)
    measured = measure(Clocked, case, compile_graph(case.graph, TINY))
    (only,) = measured.groups
    assert (only.name, only.cycles) == ("attention", measured.whole.cycles)
    assert measured.program.on_chip == ("numerators", "sums")


def test_what_the_program_takes_in_memory():
    whole = measure().whole
    assert whole.entries == len(COMPILED.program)
    assert whole.program_bytes == 24 * len(COMPILED.program)
    assert len(COMPILED.program) < whole.commands


def test_a_log_is_kept_with_the_commands_that_it_numbers():
    assert measure().whole.executed is None
    found = measure(Logging).whole.executed
    assert found is not None
    assert found.log is EMPTY_LOG
    assert [*found.commands] == [command for _, command in expand(COMPILED.program, TINY)]
    assert [*found.operators] == [*command_operators(COMPILED)]
