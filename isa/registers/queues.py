"""The queues of operations, one for each controller."""

from typing import Final

from celosia.isa.config import AcceleratorConfig

__all__ = ["QUEUES", "WAITS", "queue_names"]

QUEUES: Final = ("load", "execute", "store", "transform")
"""The names of the queues, in the order in which registers, ports and logs have them."""

WAITS: Final = ("load", "execute", "store", "controller", "transform")
"""What the head of a queue may wait for: an older operation of a queue, or its own controller.

In the order of the bits of ports.
"""


def queue_names(config: AcceleratorConfig) -> tuple[str, ...]:
    """The names in `QUEUES` of the queues that an accelerator of `config` has."""
    missing = () if config.normalization else ("transform",)
    return tuple(queue for queue in QUEUES if queue not in missing)
