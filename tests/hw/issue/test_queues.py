"""What is known of each queue, written out."""

import pytest

from celosia.hw.issue.queues import event_names, queues
from celosia.isa.config import AcceleratorConfig

CONFIG = AcceleratorConfig(
    normalization=True, load_queue=4, execute_queue=8, store_queue=2, transform_queue=16
)


@pytest.mark.parametrize(
    ("name", "end", "events", "writes", "depth"),
    [
        ("load", "load_done", ("load_done",), 1, 4),
        ("execute", "execute_done", ("execute_done", "execute_reads"), 1, 8),
        ("store", "store_reads", ("store_reads",), 0, 2),
        ("transform", "transform_done", ("transform_done", "transform_reads"), 2, 16),
    ],
)
def test_a_place_is_free_behind_the_last_event_of_its_operation(name, end, events, writes, depth):
    """What writes has ended when it has written, not when it has read."""
    (queue,) = (each for each in queues(CONFIG) if each.name == name)
    assert (queue.end, queue.events, queue.writes) == (end, events, writes)
    assert queue.depth(CONFIG) == depth
    assert queue.hulls > queue.writes + queue.late - 1


def test_the_events_of_all_queues_have_one_order():
    with_transforms = [name for queue in queues(CONFIG) for name in queue.events]
    assert [*event_names(CONFIG)] == with_transforms
    plain = [*event_names(AcceleratorConfig(normalization=False))]
    assert plain == [name for name in with_transforms if not name.startswith("transform")]
