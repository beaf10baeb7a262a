"""How far a part of a job is, of the whole."""

from celosia.sim.support.progress import share


def test_a_part_of_the_whole():
    told: list[tuple[str, float | None]] = []
    half = share(lambda text, done: told.append((text, done)), 0.5, 1)
    last = share(half, 0.5, 1)
    half("begins", 0.0)
    last("goes on", 0.5)
    last("nobody knows", None)
    last("ends", 1.0)
    assert told == [("begins", 0.5), ("goes on", 0.875), ("nobody knows", None), ("ends", 1.0)]
