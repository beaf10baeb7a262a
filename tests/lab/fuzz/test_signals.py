"""What signals do: machines of the design, and waveforms that are read."""

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.signals import (
    Machine,
    SignalCoverage,
    exemption,
    machine_points,
    machines,
    read_changes,
)

SCOPE = "top.unit"
MACHINE = Machine({0: "REST", 1: "WORK"}, frozenset({(0, 1), (1, 0)}))
WAVE = """$scope module top $end
$var wire 1 ! a $end
$var wire 1 " b $end
$scope module unit $end
$var wire 1 # fsm_state [0:0] $end
$var wire 2 $ fsm_state [1:0] $end
$var wire 1 ! a_again $end
$upscope $end
$scope module wave $end
$var wire 1 % shown $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
0!
0"
0%
b00 $
#1
1!
1%
b01 $
#2
0!
b01 $
"""


def test_the_machines_of_the_design_have_their_states_and_transitions():
    known = machines(resolve_config("tiny"))
    ((scope, machine),) = known.items()
    assert scope == "celosia_axi.accelerator.loops.repeater.unit"
    assert {*machine.names.values()} == {"REST", "WAIT", "TAKE", "STEP", "LOOK", "ISSUE"}
    points = machine_points(known)
    assert f"transition {scope} STEP LOOK" in points
    assert f"transition {scope} REST LOOK" not in points
    assert len(points) == 6 + 9


def test_a_waveform_tells_which_signals_change_and_what_machines_do():
    known = {SCOPE: MACHINE}
    seen = SignalCoverage(machines=machine_points(known))
    read_changes(iter(WAVE.splitlines(keepends=True)), known, seen)
    assert seen.changes == {"top.a": 2, "top.b": 0, f"{SCOPE}.fsm_state": 0}
    assert seen.machines - seen.points == {f"transition {SCOPE} WORK REST"}
    assert seen.points <= seen.machines


def test_what_is_left_out_has_a_reason():
    assert "test_recovery" in exemption("celosia_axi.accelerator.load.unit.fault")
    assert exemption("celosia_axi.accelerator.load.unit.working") == ""
