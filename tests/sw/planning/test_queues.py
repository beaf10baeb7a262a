"""How many loads are ahead."""

from celosia.isa.presets import resolve_config
from celosia.sw.planning.queues import loads_ahead


def test_a_quarter_of_the_queue_stays_free_but_one_load_is_ahead():
    config = resolve_config("tiny")
    ahead = [loads_ahead(config.with_values({"load_queue": depth})) for depth in (2, 4, 16)]
    assert ahead == [1, 3, 12]
