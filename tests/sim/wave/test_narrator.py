"""What the accelerator does, in words, from cycle to cycle."""

from ctypes import sizeof

import pytest

from celosia.isa.encoding import Command
from celosia.isa.registers.events import ARRAY_OWNERS
from celosia.sim.verilator.probe import LINES, TEXT_BYTES, Probe, pack_lines
from celosia.sim.wave.narrator import Narrator
from celosia.sw.driver.assembly import format_command, parse_command

MVIN = parse_command("mvin dram=0x80000040 local=sp[128] local_cols=64 local_rows=16")
MVIN2 = parse_command("mvin2 dram=0x80000080 local=sp[64] local_cols=4 local_rows=4")
MVOUT = parse_command("mvout dram=0x80000080 local=acc[0] local_cols=4 local_rows=4")


def unpack(packed: bytes) -> dict[str, str]:
    lines, position = {}, 0
    for name, size in LINES.items():
        lines[name] = packed[position : position + size].rstrip(b"\0")[::-1].decode()
        position += size
    assert position == len(packed) == TEXT_BYTES
    return lines


class Cycles:
    """A narrator, and probes made from what is not zero."""

    def __init__(self) -> None:
        self.narrator = Narrator()

    def show(self, **fields) -> dict[str, str]:
        probe = Probe()
        for name, value in fields.items():
            if isinstance(value, dict):
                for index, item in value.items():
                    getattr(probe, name)[index] = item
            else:
                setattr(probe, name, value)
        return unpack(self.narrator.narrate(bytes(probe)))

    def accept(self, command: Command) -> dict[str, str]:
        funct, rs1, rs2 = command
        return self.show(accepted=1, funct=funct, rs1=rs1, rs2=rs2)


def test_the_first_byte_of_a_probe_is_the_event():
    assert Probe.event.offset == 0
    assert sizeof(Probe) % 8 == 0


def test_the_last_command_accepted_stays():
    cycles = Cycles()
    assert cycles.show()["command"] == "-"
    assert cycles.accept(MVIN)["command"] == format_command(MVIN)
    assert cycles.show()["command"] == format_command(MVIN)
    assert cycles.accept(MVOUT)["command"] == format_command(MVOUT)
    assert cycles.accept(Command(0x7F, 1, 2))["command"] == ".word 0x7f 0x1 0x2"


def test_an_operation_goes_from_the_queue_to_its_unit_and_ends():
    cycles = Cycles()
    for command in (MVIN, MVIN2):
        cycles.accept(command)
    shown = cycles.show(heads={0: 1}, tags={0: 0}, waits={0: 0b1010})
    assert shown["load_next"] == f"{format_command(MVIN)} (waits for execute, its unit)"
    assert shown["load"] == "-"
    assert cycles.show(heads={0: 1}, starts={0: 1})["load_next"] == format_command(MVIN)
    assert cycles.show()["load"] == format_command(MVIN)
    shown = cycles.show(heads={0: 1}, tags={0: 1}, starts={0: 1})
    assert shown["load_next"] == format_command(MVIN2)
    assert cycles.show()["load"] == f"{format_command(MVIN)} (+1)"
    assert cycles.show(done={0: 1})["load"] == f"{format_command(MVIN)} (+1)"
    assert cycles.show()["load"] == format_command(MVIN2)
    cycles.show(done={0: 1})
    shown = cycles.show()
    assert shown["load"] == shown["load_next"] == shown["store"] == "-"


def test_a_product_may_wait_for_a_transform():
    cycles = Cycles()
    cycles.accept(MVIN)
    shown = cycles.show(heads={1: 1}, waits={1: 0b10000})
    assert shown["execute_next"] == f"{format_command(MVIN)} (waits for transform)"
    cycles.show(heads={3: 1}, starts={3: 1})
    assert cycles.show(done={3: 1})["transform"] == format_command(MVIN)
    assert cycles.show()["transform"] == "-"


def test_an_operation_may_end_in_the_cycle_in_which_another_starts():
    cycles = Cycles()
    for command in (MVOUT, MVIN):
        cycles.accept(command)
    cycles.show(heads={2: 1}, starts={2: 1})
    cycles.show(heads={2: 1}, starts={2: 1}, tags={2: 1}, done={2: 1})
    assert cycles.show()["store"] == format_command(MVIN)


def test_reset_forgets():
    cycles = Cycles()
    cycles.accept(MVIN)
    cycles.show(heads={0: 1}, starts={0: 1})
    cycles.show(reset=1)
    assert cycles.show()["load"] == "-"
    cycles.accept(MVOUT)
    assert cycles.show(heads={2: 1})["store_next"] == format_command(MVOUT)


@pytest.mark.parametrize(("number", "owner"), [*enumerate(ARRAY_OWNERS)], ids=str)
def test_the_owner_of_a_busy_cycle(number, owner):
    cycles = Cycles()
    assert cycles.show(busy=1, owner=number)["array"] == owner.name
    assert cycles.show(owner=number)["array"] == "idle"


def test_an_unknown_head_has_a_sign():
    assert Cycles().show(heads={1: 1}, tags={1: 77})["execute_next"] == "?"


def test_what_is_too_long_is_cut():
    lines = dict.fromkeys(LINES, "-") | {"command": "x" * 500, "array": "é"}
    shown = unpack(pack_lines(lines))
    assert shown["command"] == "x" * (LINES["command"] - 3) + "..."
    assert shown["array"] == "?"
