"""The digest of all sources."""

from celosia.sim.support import version
from celosia.sim.support.version import source_version


def test_a_version_is_of_every_source(monkeypatch):
    whole = source_version()
    assert whole == source_version.__wrapped__()
    monkeypatch.setattr(version, "_LAYERS", ("isa", "sw", "sim"))
    assert source_version.__wrapped__() != whole
