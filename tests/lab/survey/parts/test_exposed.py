"""The owners of cycles that no product hides, of a log that is made up and one of a run."""

import numpy as np

from celosia.isa.encoding import CONFIG_ROWS, CONFIG_TRANSFORM, TRANSFORM
from celosia.isa.functions.table import Function
from celosia.lab.survey.parts.exposed import KINDS, exposed_cycles
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.log import NEVER, Operations, RunLog
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.workload.run import run_workload
from celosia.sim.workloads.details import Attention


def operations(*rows):
    """Each: its command, when it starts (or begins), and when it is over."""
    command, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Operations(
        command=command, entered=start, started=start, began=start, read=end, done=end
    )


def configured(function):
    return CONFIG_TRANSFORM.encode(function=function)


COMMANDS = [
    configured(Function.RESIDUAL),
    CONFIG_ROWS.encode(),
    TRANSFORM.encode(),
    configured(Function.LAYERNORM),
    TRANSFORM.encode(),
    configured(Function.SUM),
    TRANSFORM.encode(),
    configured(Function.GELU),
    TRANSFORM.encode(),
]


def test_a_product_hides_all_else_and_a_transform_hides_waiting():
    log = RunLog(
        cycles=100,
        queues={
            "execute": operations((0, 9, 29), (0, 39, 59), (0, 90, NEVER)),
            "transform": operations((2, 19, 34), (4, 59, 69), (6, 69, 72), (8, 72, 73)),
        },
        owners={},
        activity={},
        slot_cycles=1,
        lost=0,
    )
    run = Executed(commands=COMMANDS, operators=[""] * len(COMMANDS), log=log)
    found = exposed_cycles(run)
    assert found == {
        "matmul and GELU": 20 + 20 + 1,
        "softmax": 3,
        "layernorm": 10,
        "residual": 5,
        "waiting": 10 + 5 + 26,
    }
    assert tuple(found) == KINDS
    assert sum(found.values()) == 100


def test_cycles_of_a_run_add_up():
    """A short run, on the simulator that `tests/system/test_causes.py` builds, too."""
    details = Attention(heads=1, seq=8, dim=4)
    options = RunOptions(
        workload="attention",
        details=details,
        target=Target(preset="tiny", simulator="verilator"),
        watching=Watching(log=True),
    )
    total = run_workload(options).report.total
    assert total.executed is not None
    found = exposed_cycles(total.executed)
    assert sum(found.values()) == total.cycles
    assert found["softmax"] > 0
    assert found["layernorm"] == found["residual"] == 0
