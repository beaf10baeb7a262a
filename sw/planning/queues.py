"""How far ahead of the array the queues are filled."""

from celosia.isa.config import AcceleratorConfig

__all__ = ["loads_ahead"]


def loads_ahead(config: AcceleratorConfig) -> int:
    """Loads that are issued ahead of the one that the next product needs, at most.

    A queue that is full of loads holds up the products behind them: a quarter of it stays free.
    """
    return config.load_queue * 3 // 4
