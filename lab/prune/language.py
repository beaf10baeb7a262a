"""The language models, as what can be pruned: perplexity, prefill and step, a folder."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfile

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
        self.kept: Path | None = None
        """The checkpoint of a recovery."""
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
        if wanted.tiles is not None and wanted.recovery:
            raise InputError("--recover: training would fill the tiles of --tiles again")
        if wanted.tiles is not None and wanted.criterion == "first-order":
            raise InputError("--criterion first-order: tells of columns; --tiles needs another one")
        for layer in self.model.weights.shape.layers:
            if wanted.heads is not None:
                wanted.heads.heads(layer.heads, layer.heads // layer.key_heads)
            if wanted.ffn is not None:
                wanted.ffn.channels(layer.hidden, wanted.dim)

    def check_recovery(self) -> None:
        """Read the text to train on: it may be missing, as may the extra."""
        check_training()
        self.tell("reading documentation", None)
        self.text = learned_text(self.model)

    def as_it_was(self) -> Narrower:
        """The model in float32."""
        return self._measured(self.model.weights, 0)

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with less, in float32."""
        prune = prune_llama if wanted.tiles is None else zero_llama
        weights = prune(self.model.weights, self._calibrated(wanted), wanted)
        if wanted.recovery:
            weights = self._recovered(weights, wanted.recovery)
        return self._measured(weights, wanted.recovery)

    def _recovered(self, weights: LlamaWeights, steps: int) -> LlamaWeights:
        recipe = recovery_recipe(self.model, weights, steps)
        self.kept = self.output and checkpoint_of(self.output, weights)
        return recovered(recipe, weights, self.text, self.kept, self.tell)

    def _calibrated(self, wanted: Wanted) -> Calibrated:
        weights = self.model.weights
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

    def _measured(self, weights: LlamaWeights, recovery: int) -> Narrower:
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
            save=lambda output: self._save(weights, recovery, output),
        )

    def _save(self, weights: LlamaWeights, recovery: int, output: Path) -> None:
        folder = make_folder(output)
        for name in (TOKENIZER, CALIBRATION, NGRAMS):
            if (self.folder / name).exists():
                copyfile(self.folder / name, folder / name)
        origin = {**self.model.origin, "pruned": True, "recovery_steps": recovery}
        save_weights(folder / WEIGHTS, weights.shape, weights.tensors, origin)
        if self.kept is not None:
            self.kept.unlink(missing_ok=True)
