"""The language models, as what can be pruned: perplexity, prefill and step, a folder."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile
from types import ModuleType
from typing import Any

from celosia.lab.prune.costs import Meter, decoder_costs
from celosia.lab.prune.llama import (
    Calibrated,
    calibrate,
    prune_llama,
    readers,
    zero_llama,
)
from celosia.lab.prune.parts.part import CRITERIA, Criterion
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.lab.prune.recovery import (
    checkpoint_of,
    learned_text,
    recovered,
    recovery_recipe,
)
from celosia.lab.training.compare import held_out_tokens
from celosia.lab.training.perplexity import score
from celosia.lab.training.recipe import Recipe
from celosia.lab.training.scorers import float_scorer
from celosia.lab.training.steps import check_training
from celosia.sim.command.outputs.folders import make_folder
from celosia.sim.support.extras import installed_by
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.decoding.drafts.ngram_file import NGRAMS
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.calibration import CALIBRATION, load_calibration
from celosia.sw.reference.language.model_file import (
    TOKENIZER,
    WEIGHTS,
    load_language_model,
    save_weights,
)
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["Language"]


class Language:
    """The model in `folder`.  Raises `LanguageError` for files that are none."""

    def __init__(self, folder: Path, meter: Meter, tokens: int, tell: Progress):
        self.folder, self.meter, self.tell = folder, meter, tell
        self.model = load_language_model(folder)
        shape = self.model.weights.shape
        self.windows = load_calibration(folder, shape.vocabulary, shape.context)
        self.tokens = held_out_tokens(self.model)[: tokens + 1]
        trained = find_spec("jax") and find_spec("optax")
        self.criteria: Sequence[Criterion] = CRITERIA if trained else CRITERIA[:2]
        self.reason = f"gradients need JAX: {installed_by('training')}"
        self.text: Sequence[int] = ()
        self.output: Path | None = None
        self.kept: list[Path] = []
        """The checkpoints of trainings."""
        self._begin: LlamaWeights | None = None
        """What is pruned."""
        self._found: Calibrated | None = None
        self._exact: float | None = None

    def check_output(self, output: Path) -> None:
        """Refuse what is there: a folder is written whole."""
        if output.exists():
            raise InputError(f"-o {output}: is there already; give the name of a new folder")
        self.output = output

    def check(self, wanted: Wanted) -> None:
        """Refuse shares that leave or remove nothing of a layer."""
        if wanted.drops:
            raise InputError(f"--drop-tokens: {self.folder.name} needs all its tokens; minilm not")
        if wanted.tiles is not None and wanted.criterion == "first-order":
            raise InputError("--criterion first-order: tells of columns; --tiles needs another one")
        for layer in self.model.weights.shape.layers:
            if wanted.heads is not None:
                wanted.heads.heads(layer.heads, layer.heads // layer.key_heads)
            if wanted.ffn is not None:
                wanted.ffn.channels(layer.hidden, wanted.dim)

    def check_trained(self, option: str) -> None:
        """Read the text to train on: it may be missing, as may the extra."""
        check_training()
        self.tell("reading documentation", None)
        self.text = learned_text(self.model)

    def as_it_was(self) -> Narrower:
        """The model in float32."""
        return self._measured(self.model.weights, None)

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with less, in float32."""
        if self._begin is None:
            self._begin = self._drawn(wanted) if wanted.lasso else self.model.weights
        prune = prune_llama if wanted.tiles is None else zero_llama
        weights = prune(self._begin, self._calibrated(self._begin, wanted), wanted)
        if wanted.recovery:
            behind = None if wanted.tiles is None else _tiles().zeros_stay(weights.tensors)
            recipe = recovery_recipe(self.model, weights, wanted.recovery)
            weights = self._trained(weights, recipe, behind)
        return self._measured(weights, wanted)

    def _drawn(self, wanted: Wanted) -> LlamaWeights:
        """The model after a training that draws tiles to zero."""
        assert wanted.tiles is not None
        weights = self.model.weights
        names = readers(weights.shape, all_of=True)
        behind = _tiles().lasso(names, wanted.dim, wanted.tiles.part, wanted.lasso)
        recipe = recovery_recipe(self.model, weights, wanted.lasso, lasso=True)
        return self._trained(weights, recipe, behind)

    def _trained(self, weights: LlamaWeights, recipe: Recipe, behind: Any) -> LlamaWeights:
        kept = self.output and checkpoint_of(self.output, weights)
        if kept is not None:
            self.kept.append(kept)
        return recovered(recipe, weights, self.text, kept, self.tell, behind)

    def _calibrated(self, weights: LlamaWeights, wanted: Wanted) -> Calibrated:
        if self._found is None:
            self.tell(f"calibrating on {len(self.windows)} windows", None)
            names = readers(weights.shape, all_of=wanted.tiles is not None)
            self._found = Calibrated(calibrate(weights, self.windows, names))
        if wanted.criterion == "first-order" and self._found.changes is None:
            self.tell("gradients of the loss", None)
            changes = import_module("celosia.lab.prune.gradients").changes
            names = readers(weights.shape)
            self._found = Calibrated(self._found.grams, changes(weights, self.windows, names))
        return self._found

    def _measured(self, weights: LlamaWeights, wanted: Wanted | None) -> Narrower:
        graph = llama_float_graph(weights, weights.shape.context)
        self.tell(f"scoring {len(self.tokens) - 1:,} held-out tokens", None)
        found = score(float_scorer(graph), self.tokens, weights.shape.context).perplexity
        self._exact = self._exact or found
        names = readers(weights.shape, all_of=True)
        return Narrower(
            weights=weights.shape.parameters
            - sum(int((weights[name] == 0).sum()) for name in names),
            quality={"perplexity": found, "ratio": found / self._exact},
            costs=decoder_costs(self.meter, graph),
            save=lambda output: self._save(weights, wanted, output),
        )

    def _save(self, weights: LlamaWeights, wanted: Wanted | None, output: Path) -> None:
        folder = make_folder(output)
        for name in (TOKENIZER, CALIBRATION, NGRAMS):
            if (self.folder / name).exists():
                copyfile(self.folder / name, folder / name)
        assert wanted is not None
        trained = {"lasso_steps": wanted.lasso, "recovery_steps": wanted.recovery}
        origin = {**self.model.origin, "pruned": True, **trained}
        save_weights(folder / WEIGHTS, weights.shape, weights.tensors, origin)
        for each in self.kept:
            each.unlink(missing_ok=True)


def _tiles() -> ModuleType:
    """What training does to tiles; it imports JAX."""
    return import_module("celosia.lab.prune.tile_training")
