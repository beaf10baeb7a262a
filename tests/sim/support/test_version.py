"""The digest of all sources."""

from celosia.sim.support.version import LAYERS, source_version


def test_a_version_is_of_every_source():
    whole = source_version()
    assert whole == source_version.__wrapped__()
    for layer in LAYERS:
        others = tuple(other for other in LAYERS if other != layer)
        assert source_version(others) != whole
