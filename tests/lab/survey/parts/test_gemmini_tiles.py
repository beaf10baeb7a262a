"""Products as Gemmini's library cuts them."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.operations.loops import expand
from celosia.isa.presets import resolve_config
from celosia.lab.survey.parts import gemmini_tiles
from celosia.lab.survey.parts.gemmini_tiles import GemminiJob, Tiles, gemmini_loops, run_loops
from celosia.lab.survey.parts.jobs import WrongRunError
from celosia.sim.devices.devices import open_device
from celosia.sim.workloads.details import Matmul
from celosia.sw.ir.matmul import MatMul

GEMMINI4 = resolve_config("gemmini4")
"""16 KiB of scratchpad and 8 of accumulator: half of them are 512 and 64 tiles of 4x4."""


@pytest.mark.parametrize(
    ("sizes", "m", "n", "k", "tiles"),
    [
        # 32 tiles of results, 5 x 5 at first, and 512 of operands.  Columns grow to 6.
        ((64, 256), 512, 512, 64, (5, 6, 4)),
        # Depth is 51 at first, and 48 are enough.  (5 + 6) * 48 are too many.
        ((64, 256), 512, 768, 768, (5, 5, 48)),
        # Four columns are all there are, and rows grow to 8.
        ((64, 256), 512, 64, 512, (8, 4, 32)),
        # 128 tiles of both: 11 x 11 of results, and depth for 22 of operands.
        ((256, 64), 512, 768, 768, (11, 11, 5)),
        # (14 + 4) * 7 of 128; at 11 rows, 8 of depth would have fitted if they came first.
        ((256, 64), 512, 64, 512, (14, 4, 7)),
        ((256, 64), 128, 128, 128, (8, 8, 8)),
        ((64, 256), 1, 1, 1, (1, 1, 1)),
    ],
)
def test_the_tiles_of_a_loop_are_those_that_the_rule_gives(sizes, m, n, k, tiles):
    """By hand, from what the library's rule says."""
    accumulator, scratchpad = sizes
    config = resolve_config(
        "base", (f"accumulator_kib={accumulator}", f"scratchpad_kib={scratchpad}")
    )
    assert gemmini_tiles.gemmini_tiles(config, MatMul(m=m, n=n, k=k)) == Tiles(*tiles)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(37, 53, 70), (5, 3, 9), (70, 6, 150), (12, 90, 30)])
def test_products_are_right(m, n, k, transposed):
    """Whole and partial tiles; operands that are loaded each time, and those that stay."""
    problem = MatMul(m=m, n=n, k=k, b_transposed=transposed, scale=0.001)
    run = run_loops(open_device("functional", GEMMINI4), GEMMINI4, problem)
    assert (run.macs, run.elements_checked) == (m * n * k, m * n)


def test_an_operand_of_two_pieces_stays():
    """Rows of one loop and depth of two: A is loaded once, two loops for each of C's columns."""
    problem = MatMul(m=16, n=72, k=200, scale=0.001)
    tiles = gemmini_tiles.gemmini_tiles(GEMMINI4, problem)
    assert (-(-16 // (4 * tiles.i)), -(-200 // (4 * tiles.k))) == (1, 2)
    program = list(gemmini_loops(GEMMINI4, problem, 1 << 20, 2 << 20, 3 << 20))
    addresses = [LOOP_WS_CONFIGS[1].decode(c) for c in program if LOOP_WS_CONFIGS[1].matches(c)]
    assert [bool(each["a"]) for each in addresses] == [True, True] + [False] * (len(addresses) - 2)
    assert all(each["b"] for each in addresses)
    halves = [LOOP_WS.decode(c)["a_half"] for c in program if LOOP_WS.matches(c)]
    assert halves == [1, 2] * (len(addresses) // 2)
    run = run_loops(open_device("functional", GEMMINI4), GEMMINI4, problem)
    assert run.elements_checked == 16 * 72


def test_a_loop_leaves_half_of_each_memory_to_the_next():
    problem = MatMul(m=64, n=64, k=64, scale=0.001)
    tiles = gemmini_tiles.gemmini_tiles(GEMMINI4, problem)
    assert (tiles.i + tiles.j) * tiles.k <= 512
    assert tiles.i * tiles.j <= 64
    loops = list(gemmini_loops(GEMMINI4, problem, 1 << 20, 2 << 20, 3 << 20))
    assert len(list(expand(loops, GEMMINI4))) > len(loops)


def test_a_wrong_result_is_an_error(monkeypatch):
    monkeypatch.setattr(gemmini_tiles, "requantize", lambda sums, _: np.zeros_like(sums))
    device, problem = open_device("functional", GEMMINI4), MatMul(m=9, n=9, k=9, scale=0.001)
    with pytest.raises(WrongRunError, match=r"cut as Gemmini does: .* elements are wrong"):
        run_loops(device, GEMMINI4, problem)


def test_a_job_of_it_is_another_one_than_the_compilers():
    job = GemminiJob(workload="matmul", details=Matmul(shape="4x4x4"), array_cycles=1)
    assert job.settings()["tiling"] == "tiled_matmul_auto"
    assert job.key != replace(job, details=Matmul(shape="4x4x8")).key
