"""`Scratchpad`: contents, priorities, latency."""

import random

import pytest

from celosia.hw.memory.ports import BankUser
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.hw.memory.scratchpad import Scratchpad
from celosia.isa.config import AcceleratorConfig
from tests.support.streams import simulate

CONFIG = AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1)
BANK = CONFIG.scratchpad_bank_rows
NORMALIZED = CONFIG.with_values({"normalization": True})
READERS = ("weights", "operands", "transform", "store")
PRIORITY = ("results", "weights", "operands", "words", "words2", "transform", "store", "load")
USERS = {name: BankUser[name.rstrip("2").upper()] for name in PRIORITY}


def request(ctx, dut: Scratchpad, name: str, row: int, values=None, mask: int = 0) -> None:
    port = getattr(dut, name)
    ctx.set(port.valid, 1)
    if name in READERS:
        ctx.set(port.row, row)
    else:
        ctx.set(port.payload, {"row": row, "data": values, "mask": mask})


@pytest.mark.parametrize(
    ("config", "seed"), [*((CONFIG, seed) for seed in range(3)), (NORMALIZED, 3)]
)
def test_random_requests_see_a_plain_array(config, seed):
    dut, rng = Scratchpad(config), random.Random(seed)
    of_transforms = () if config.normalization else ("words", "words2", "transform")
    users = [name for name in PRIORITY if name not in of_transforms]
    rows = [[0] * CONFIG.dim for _ in range(CONFIG.scratchpad_rows)]

    async def testbench(ctx):
        due: list[tuple[int, str, list[int]]] = []
        for cycle in range(600):
            wanted: dict[str, int] = {}
            for name in users:
                ctx.set(getattr(dut, name).valid, 0)
                if rng.random() < 0.5:
                    row = rng.randrange(CONFIG.scratchpad_banks) * BANK + rng.randrange(4)
                    # Results and weights do not meet in a bank: the execute path sees to that.
                    if name == "weights" and row // BANK == wanted.get("results", -1) // BANK:
                        continue
                    wanted[name] = row
            writes = {}
            for name, row in wanted.items():
                values = [rng.randrange(256) for _ in range(CONFIG.dim)]
                mask = rng.randrange(1 << CONFIG.dim)
                request(ctx, dut, name, row, values, mask)
                writes[name] = (values, mask)
            busy: dict[int, str] = {}  # Who has a bank.
            for name, row in wanted.items():
                granted = row // BANK not in busy
                if name != "results":
                    assert ctx.get(getattr(dut, name).ready) == granted, name
                if not granted and name in ("operands", "transform", "store", "load"):
                    blocker = ctx.get(getattr(dut.blockers, name))
                    assert blocker == USERS[busy[row // BANK]], name
                busy.setdefault(row // BANK, name)
                if granted and name in READERS:
                    due.append((cycle + LOCAL_READ_LATENCY, name, list(rows[row])))
                elif granted:
                    values, mask = writes[name]
                    for lane in range(CONFIG.dim):
                        if mask >> lane & 1:
                            rows[row][lane] = values[lane]
            for when, name, values in due:
                if when == cycle:
                    assert list(ctx.get(getattr(dut, name).data)) == values
            await ctx.tick()

    simulate(dut, testbench)
