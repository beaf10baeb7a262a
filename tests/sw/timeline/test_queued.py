"""An operation that could come to a bank, and when."""

from celosia.sw.timeline.local import LocalTimes
from celosia.sw.timeline.queued import QueuedTransform
from celosia.sw.timeline.units import TransformWork

WORK = TransformWork(steps=8, cycles=8, accesses=(8,), rows=8, slots=range(0))


def test_a_transform_reads_at_once_and_writes_when_results_have_left_the_lanes():
    memory = LocalTimes.of(400)
    queued = QueuedTransform(100, WORK, memory, (10, 18), [(310, 318)], None, (), [(10, 18)], [])
    assert queued.meets(0, 100, until=101)
    assert not queued.meets(0, 100, until=100)
    assert not queued.meets(3, 100, until=101)
    # Two cycles to read, 18 in the lanes, two to place them.
    assert not queued.meets(3, 100, until=120)
    assert queued.meets(3, 100, until=130)
    assert not queued.meets(2, 100, until=1000)
