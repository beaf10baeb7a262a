"""Numbers of simulators, boards and reports are those that documents say."""

import pytest

from tests.support.said_numbers import differing

FPGA, MODELS, REPORTS, SILICON = (
    "docs/fpga.md",
    "docs/models.md",
    "docs/reports.md",
    "docs/silicon.md",
)
AREA = "sim.export.silicon.area.memories"
POWER, TIMING = "sim.export.silicon.power", "sim.export.silicon.timing"
SAID = [
    ("CHANGELOG.md", "a run of 350 million cycles or more", 350e6, "sim.verilator.profiled:PAYS"),
    ("docs/cli.md", "more than a minute says so", 60, "sim.run.estimate:LONG"),
    ("docs/cli.md", "1: wrong result", 1, "sim.support.guard:WRONG"),
    ("docs/cli.md", "2: bad input or environment", 2, "sim.support.guard:BAD_INPUT"),
    ("docs/cli.md", "130: interrupted", 130, "sim.support.guard:INTERRUPTED"),
    (
        "docs/page.md",
        "(1, 10, 40, 100 or 400 cycles)",
        (1, 10, 40, 100, 400),
        "sim.web.page:_LATENCIES",
    ),
    ("docs/page.md", "(1, 2, 4, 8 or 16)", (1, 2, 4, 8, 16), "sim.web.page:_RATES"),
    ("docs/page.md", "five million at first", 5_000_000, "sim.web.page:_BUDGET"),
    ("docs/page.md", "at most a MiB of memory", 1 << 20, "sim.web.recorded:MEMORY_BYTES"),
    (FPGA, "is at most 0.8 of what", 0.8, "sim.export.silicon.fpga.bitstream:MARGIN"),
    (FPGA, "The last 4 KiB of memory are the ring's", 4096, "sim.board.device:RING_BYTES"),
    (FPGA, "at 1 Mbaud", 1_000_000, "sim.command.hardware.board_build:BAUD"),
    (FPGA, "is sent again, four times in all", 4, "sim.board.link:TRIES"),
    (MODELS, "has less than 20 dB", 20.0, "sim.run.models.loss_notes:_LEAST_DB"),
    (MODELS, "or 2 dB less than", 2.0, "sim.run.models.loss_notes:_MOST_LOST_DB"),
    (MODELS, "more than half of its range", 0.5, "sim.workloads.models.input_ranges:_FAR"),
    (MODELS, "leaves a quarter of the samples", 4, "sim.workloads.models.precision:_SHARE"),
    (MODELS, "eight at most", 8, "sim.workloads.models.precision:_SAMPLES"),
    (
        REPORTS,
        "at most a million cycles again",
        1_000_000,
        "sim.run.workload.advice:MEASURED_CYCLES",
    ),
    (REPORTS, "at most 5 % from the run", 0.05, "sim.profile.whatif:TRUSTED"),
    (REPORTS, "save three times the cycles", 3, "sim.profile.whatif:SURE"),
    (REPORTS, "less than 3 % of the run", 0.03, "sim.profile.whatif:WORTH"),
    (
        REPORTS,
        "no progress for 24,000 cycles",
        24_000,
        "sim.verilator.harness.settings:WATCHDOG_EDGES + 40 * WATCHDOG_LATENCIES",
    ),
    (SILICON, "outputs drive 0.05 pF", 0.05, f"{TIMING}.scripts:LOAD_PF"),
    (SILICON, "2.0 ns from the clock to data", 2.0, f"{TIMING}.memory_cells:ACCESS_NS"),
    (SILICON, "0.5 ns of set-up", 0.5, f"{TIMING}.memory_cells:SET_UP_NS"),
    (SILICON, "slews of 0.18 ns", 0.18, "sim.export.silicon.cells.energies:SLEW_NS"),
    (SILICON, "10 fF of wire", 0.01, f"{POWER}.netlist:WIRE_PF"),
    (SILICON, "Windows of 512 cycles", 512, f"{POWER}.windows:CYCLES"),
    (SILICON, "in each quarter of the times", 4, f"{POWER}.windows:_PARTS"),
    (SILICON, "all blocks of 32 cycles", 32, f"{POWER}.fit:BLOCK"),
    (SILICON, "the first 800 cycles", 800, "sim.export.silicon.checks.short_run:CYCLES"),
    (
        SILICON,
        "bits times six transistors",
        6,
        f"{AREA}:TRANSISTORS_PER_BIT",
    ),
]


@pytest.mark.parametrize("said", SAID, ids=lambda each: each[3])
def test_a_number_is_what_a_document_says(said):
    assert not differing(said)
