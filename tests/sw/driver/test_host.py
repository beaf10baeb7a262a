"""Driving an accelerator by its registers."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.isa.registers.map import INTERFACE_VERSION, REGISTERS
from celosia.sw.driver.host import ErrorReport, Host, IdentityError, Range
from tests.support.register_port import FakePort

TINY = PRESETS["tiny"]
MAJOR, MINOR = INTERFACE_VERSION


@pytest.fixture
def port():
    return FakePort(TINY)


@pytest.fixture
def host(port):
    return Host(port)


def test_the_right_accelerator_is_accepted(host, port):
    host.identify(TINY)
    assert not port.log


def test_a_newer_minor_version_is_accepted(host, port):
    port.words["VERSION"] = REGISTERS["VERSION"].pack({"major": MAJOR, "minor": MINOR + 1})
    host.identify(TINY)


@pytest.mark.parametrize(
    ("name", "word", "message"),
    [
        ("IDENTITY", 0xDEAD_BEEF, r"IDENTITY: 0xdeadbeef is not an accelerator's 0x43454c4f"),
        ("IDENTITY", 0, "IDENTITY: 0x00000000 is not"),
        ("VERSION", (MAJOR + 1) << 16, rf"VERSION: the accelerator has {MAJOR + 1}\.0, this"),
        ("VERSION", MAJOR << 16, rf"has {MAJOR}\.0, this driver is for {MAJOR}\.{MINOR}"),
    ],
)
def test_another_thing_is_refused(host, port, name, word, message):
    port.words[name] = word
    with pytest.raises(IdentityError, match=message):
        host.identify(TINY)


def test_another_configuration_is_refused_parameter_by_parameter(host):
    with pytest.raises(
        IdentityError, match=r"CONFIG_ARRAY: the accelerator is another one: .*dim = 4, not 16"
    ):
        host.identify(PRESETS["base"])


def test_limits_and_patience_are_written(host, port):
    host.permit(Range(0x8000_0000, 0x1_0000_0000), Range(1, 2))
    host.set_patience(cycle_budget=5 << 32, watchdog=7)
    registers = host.registers
    assert registers.read("READ_BASE") == 0x8000_0000
    assert registers.read("READ_LIMIT") == 0x1_0000_0000
    assert (registers.read("WRITE_BASE"), registers.read("WRITE_LIMIT")) == (1, 2)
    assert (registers.read("CYCLE_BUDGET"), registers.read("WATCHDOG")) == (5 << 32, 7)


def test_the_error_registers_in_words(host, port):
    assert host.error() is None
    port.words["ERROR"] = REGISTERS["ERROR"].pack({"cause": Cause.READ_RESPONSE, "id": 1})
    port.words |= {"ERROR_COMMAND": 9, "ERROR_ADDRESS_LO": 0x40, "ERROR_ADDRESS_HI": 1}
    assert host.error() == ErrorReport(Cause.READ_RESPONSE, 1, 9, 0x1_0000_0040)


def test_an_error_is_cleared_when_nothing_moves_any_more(host, port):
    port.words["INTERRUPT_STATUS"] = 3
    assert host.clear()
    assert ("CONTROL", REGISTERS["CONTROL"].pack({"clear_error": 1})) in port.log
    assert port.words["INTERRUPT_STATUS"] == 0


def test_what_is_busy_cannot_be_cleared(host, port):
    port.words["STATUS"] = 1
    assert not host.clear()
    assert not port.log


def test_a_run_begins_with_its_source_and_with_counters_of_zero(host, port):
    host.begin(ring=True)
    host.begin(ring=False)
    both = REGISTERS["CONTROL"].pack({"ring_enable": 1, "clear_counters": 1})
    assert port.log == [("CONTROL", both), ("CONTROL", both & ~1)]


def test_counters_have_all_of_their_bits(host, port):
    for index, counter in enumerate(COUNTERS):
        port.words[f"COUNTER_{counter.name.upper()}_LO"] = index
        port.words[f"COUNTER_{counter.name.upper()}_HI"] = 0xFFFF
    wanted = {counter.name: 0xFFFF << 32 | index for index, counter in enumerate(COUNTERS)}
    assert host.counters() == wanted


@pytest.mark.parametrize("cycles", [(1 << 32) - 1, 1 << 32])
def test_upper_halves_of_owners_are_read_if_cycles_has_one(host, port, cycles):
    """Others count several things in a cycle, and are read as a whole."""
    for counter in COUNTERS:
        port.words[f"COUNTER_{counter.name.upper()}_HI"] = 3
    low, high = cycles & (1 << 32) - 1, cycles >> 32
    port.words |= {"COUNTER_CYCLES_LO": low, "COUNTER_CYCLES_HI": high}
    counted = host.counters()
    assert (counted["cycles"], counted["read_bytes"]) == (cycles, 3 << 32)
    owners = {owner.name for unit in TABLES for owner in unit.owners}
    assert {counted[name] >> 32 for name in owners} == {3 * high}


def test_interrupts_are_acknowledged_once(host, port):
    host.enable_interrupts(done=False)
    assert port.words["INTERRUPT_ENABLE"] == 2
    port.words["INTERRUPT_STATUS"] = 1
    assert host.acknowledge() == {"done": 1, "error": 0}
    assert host.acknowledge() == {"done": 0, "error": 0}


def test_queues_and_waits_have_names(host, port):
    port.words |= {"DEBUG_QUEUES": 0x030201, "DEBUG_WAITS": 0x0804}
    queues = host.queues()
    assert [queues.queued[name] for name in ("load", "execute", "store")] == [1, 2, 3]
    assert [queues.waits[name] for name in ("load", "execute", "store")] == [4, 8, 0]
