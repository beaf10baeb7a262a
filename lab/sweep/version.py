"""What tells one state of all this code from another, the laboratory's included."""

from celosia.sim.support.version import LAYERS, source_version

__all__ = ["whole_version"]


def whole_version() -> str:
    """A digest of all sources, those of the laboratory included."""
    return source_version((*LAYERS, "lab"))
