"""What `celosia check` has found of a model, as a document."""

from dataclasses import dataclass, field
from typing import Literal

from celosia.isa.documents.record import Record
from celosia.sim.run.models.time_share import PlacementInTime
from celosia.sim.run.origin import Versions, versions
from celosia.sw.frontend.importer.survey import SurveyRow

__all__ = ["CheckedModel"]


@dataclass(frozen=True, kw_only=True)
class CheckedModel(Record):
    """What an accelerator would do of a model."""

    schema: Literal["celosia.check/1"] = "celosia.check/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    model: str
    """The file."""
    sizes: dict[str, int]
    """The symbolic sizes that were given."""
    weights: str
    """The types of weights that time is predicted for, as `--weights` names them."""
    notes: tuple[str, ...]
    """What was converted or left open."""
    macs: int
    """Multiply-accumulates of all nodes that are supported."""
    nodes: tuple[SurveyRow, ...]
    """The nodes of the file that are not folded and that an output needs."""
    lost_outputs: dict[str, str]
    """Outputs that cannot be computed, and why."""
    placement: PlacementInTime | None
    """Where each node runs, and the time that is predicted; null with lost outputs."""
