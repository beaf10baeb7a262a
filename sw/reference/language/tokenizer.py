"""Text to tokens and back: byte-level BPE, so that every text has tokens."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from celosia.isa.foreign_file import ForeignFileError, read_text
from celosia.sw.reference.language.errors import LanguageError

__all__ = ["END", "END_OF_TEXT", "TextTokenizer", "TokenizerError"]

END_OF_TEXT: Final = "<|end|>"
END: Final = 0
"""The token between two texts: it stands before a text, and ends it."""

_MOST_BYTES: Final = 64 << 20
"""The largest tokenizer file that is opened."""


class TokenizerError(LanguageError):
    """A file that is no tokenizer, or not one of this form."""


class TextTokenizer:
    """The tokenizer in the file at `path`.

    Raises `TokenizerError` for a file that is missing or no tokenizer, and for a tokenizer whose
    token 0 is not `END_OF_TEXT`.
    """

    def __init__(self, path: Path):
        try:
            text = read_text(path, _MOST_BYTES)
            # Loaded here, since most commands of the command line can do without.
            self._tokenizer = import_module("tokenizers").Tokenizer.from_str(text)
        except ForeignFileError as error:
            raise TokenizerError(str(error)) from None
        except Exception as error:  # The library raises nothing more exact.
            raise TokenizerError(f"{path}: not a tokenizer: {error}") from None
        self._tokenizer.encode_special_tokens = True  # What a text has is text.
        if self._tokenizer.id_to_token(END) != END_OF_TEXT:
            raise TokenizerError(f"{path}: token {END} is not {END_OF_TEXT}")

    @property
    def size(self) -> int:
        """The number of tokens."""
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The tokens of `text`, without an `END`; ``<|end|>`` in a text has no special meaning.

        Raises `TokenizerError` for a text that is not Unicode.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TokenizerError(f"text {text!r}: {error}") from None
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def stream(self, texts: Sequence[str]) -> list[int]:
        """The tokens of `texts`, with an `END` before each and at the end."""
        tokens = [END]
        for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False):
            tokens += [*found.ids, END]
        return tokens

    def pieces(self, tokens: Iterator[int]) -> Iterator[str]:
        """The text of `tokens` as they come; a character waits until all its bytes are there."""
        stream = import_module("tokenizers.decoders").DecodeStream(skip_special_tokens=True)
        for token in tokens:
            if piece := stream.step(self._tokenizer, token):
                yield piece
