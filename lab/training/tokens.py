"""Training of the tokenizer."""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from celosia.sw.reference.language.tokenizer import END_OF_TEXT, TextTokenizer

__all__ = ["train_tokenizer"]


def train_tokenizer(texts: Iterable[str], vocabulary: int, path: Path) -> TextTokenizer:
    """A byte-level BPE tokenizer with at most `vocabulary` tokens, which is written to `path`.

    The same texts give the same file.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(path))
    return TextTokenizer(path)
