"""What `celosia prune` shows: each model beside what it was, as tables and as a document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from rich.table import Table

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Count, Record, Rule, Share
from celosia.lab.prune.costs import Cost
from celosia.lab.prune.parts.part import Criterion
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.sim.run.origin import Commit, Memory, Versions, commit, versions
from celosia.sim.support.words import counted

__all__ = ["PrunedModel", "Pruning", "pruned_model", "tables"]

_DIGITS: Final = {"perplexity": 2}
"""Decimals of a measure, if they are not 4."""


@dataclass(frozen=True, kw_only=True)
class PrunedModel:
    """A model as it was, or with less."""

    criterion: Criterion | None
    """What told what to keep; null: the model is as it was."""
    ffn: str | None
    """What was asked to be removed of hidden channels, as `--ffn` takes it."""
    heads: str | None
    """What was asked to be removed of heads, as `--heads` takes it."""
    tiles: str | None
    """What was asked to be zero of tiles of weights, as `--tiles` takes it."""
    drops: str | None
    """The tokens that were asked to go behind layers, as `--drop-tokens` takes them."""
    lasso_steps: Count
    """Steps of training before, in which a group lasso made the least tiles small."""
    repair: bool
    """Whether what is left was fitted to what was, by least squares."""
    recovery_steps: Count
    """Steps of training behind that."""
    weights: Annotated[int, Rule(minimum=1)]
    """Elements of all matrices, without tiles of zeros."""
    removed: Share
    """The share of them that is gone."""
    quality: Mapping[str, float]
    """How good it is in float32, by measure; empty for a model without weights."""
    costs: Sequence[Cost]
    """What it takes, for each input."""

    @property
    def name(self) -> str:
        """The technique in words."""
        if self.criterion is None:
            return "as it was"
        parts = [f"{name} {text}" for name, text in self._asked() if text]
        more = [f"{counted(self.lasso_steps, 'step')} of lasso"] if self.lasso_steps else []
        if not self.repair:
            more.append("no repair")
        if self.recovery_steps:
            more.append(f"{counted(self.recovery_steps, 'step')} of training")
        chosen = [str(self.criterion)] if self.ffn or self.heads or self.tiles else []
        return ", ".join([*parts, *chosen, *more])

    def _asked(self) -> Iterator[tuple[str, str | None]]:
        yield "ffn", self.ffn
        yield "heads", self.heads
        yield "tiles", self.tiles
        yield "tokens", self.drops


@dataclass(frozen=True, kw_only=True)
class Pruning(Record):
    """A model with less, in several ways, and what that costs and gains."""

    schema: Literal["celosia.prune/1"] = "celosia.prune/1"
    """The number changes when a key changes its meaning or goes; new keys may come without."""
    versions: Versions = field(default_factory=versions)
    """Versions of Python and of packages that results depend on; null: not installed."""
    commit: Commit = field(default_factory=commit)
    """The commit of the checkout, with `-dirty` if it was changed; null outside of git."""
    model: str
    """The model, as it was named."""
    config: AcceleratorConfig
    """Every parameter of the accelerator."""
    memory: Memory
    """The simulated memory."""
    models: Sequence[PrunedModel]
    """The model as it was, then each narrower one."""


def pruned_model(first: Narrower, found: Narrower, wanted: Wanted | None) -> PrunedModel:
    """What is said of a model that became of the `first` one; nothing was `wanted` of itself."""
    return PrunedModel(
        criterion=wanted and wanted.criterion,
        ffn=wanted and wanted.ffn and wanted.ffn.text,
        heads=wanted and wanted.heads and wanted.heads.text,
        tiles=wanted and wanted.tiles and wanted.tiles.text,
        drops=(wanted and ",".join(f"{each.share.text}@{each.layer}" for each in wanted.drops))
        or None,
        lasso_steps=wanted.lasso if wanted else 0,
        repair=wanted is not None and wanted.repair,
        recovery_steps=wanted.recovery if wanted else 0,
        weights=found.weights,
        removed=1 - found.weights / first.weights,
        quality=found.quality,
        costs=found.costs,
    )


def tables(models: Sequence[PrunedModel]) -> Iterator[Table]:
    """How much of each model is gone and how good it is; then what it takes, for each input."""
    yield _qualities(models)
    for place, cost in enumerate(models[0].costs):
        yield _costs(cost, {each.name: each.costs[place] for each in models})


def _qualities(models: Sequence[PrunedModel]) -> Table:
    table = _table("model", "removed", *models[0].quality)
    for each in models:
        found = [f"{value:.{_DIGITS.get(name, 4)}f}" for name, value in each.quality.items()]
        table.add_row(each.name, f"{each.removed:.1%}", *found)
    return table


def _costs(before: Cost, costs: Mapping[str, Cost]) -> Table:
    """Cycles that are predicted and, if it ran there, those of the RTL; gains over `before`."""
    rtl = () if before.rtl_cycles is None else ("RTL", "fewer")
    best = [each for each in costs.values() if each.best_cycles is not None]
    skipped = ("at best", "fewer", "bytes") if best else ()
    table = _table(before.input, "predicted", "fewer", *rtl, "bytes read", *skipped)
    for name, cost in costs.items():
        cells = [*_gain(before.cycles, cost.cycles)]
        if before.rtl_cycles and cost.rtl_cycles:
            cells += _gain(before.rtl_cycles, cost.rtl_cycles)
        cells.append(f"{cost.read_bytes:,}")
        if cost.best_cycles is not None:
            cells += [*_gain(before.cycles, cost.best_cycles), f"{cost.best_read_bytes:,}"]
        table.add_row(name, *cells)
    return table


def _gain(before: int, cycles: int) -> tuple[str, str]:
    return f"{cycles:,}", f"{before / cycles:.2f} x"


def _table(name: str, *numbers: str) -> Table:
    """A table whose names are broken in narrow terminals, and whose numbers are not."""
    table = Table(name)
    for each in numbers:
        table.add_column(each, justify="right", no_wrap=True)
    return table
