"""The queues of operations, one for each controller."""

from typing import Final

__all__ = ["QUEUES"]

QUEUES: Final = ("load", "execute", "store", "transform")
"""In the order in which registers, ports and logs have them."""
