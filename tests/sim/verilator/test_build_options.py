"""What options of a model mean to the tools."""

from celosia.isa.presets import PRESETS
from celosia.sim.verilator.build import model_key
from celosia.sim.verilator.build_options import USUAL, BuildOptions, Wave


def test_a_model_without_waveforms_knows_nothing_of_them():
    assert USUAL.verilate == USUAL.compile == USUAL.link == ()


def test_formats():
    vcd, fst = BuildOptions(wave=Wave.VCD), BuildOptions(wave=Wave.FST)
    assert vcd.verilate == ("--trace-vcd",)
    assert fst.verilate == ("--trace-fst",)
    assert "-DCELOSIA_TRACE" in vcd.compile
    assert set(fst.compile) - set(vcd.compile) == {"-DCELOSIA_TRACE_FST"}
    assert fst.link == ("-llz4", "-lz")
    assert not vcd.link


def test_a_log_is_of_the_harness_alone():
    log = BuildOptions(log=True)
    assert log.compile == ("-DCELOSIA_LOG",)
    assert not log.compile_runtime
    both = BuildOptions(log=True, wave=Wave.VCD)
    assert both.compile == ("-DCELOSIA_LOG", *both.compile_runtime)


def test_each_choice_is_a_model_of_its_own():
    choices = (USUAL, BuildOptions(fast_signs=False), *(BuildOptions(wave=wave) for wave in Wave))
    assert len({model_key(PRESETS["tiny"], options) for options in choices}) == len(choices)
