"""Text to tokens and back: byte-level BPE, so that every text has tokens."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from celosia.isa.foreign_file import ForeignFileError, read_text
from celosia.sw.reference.language.errors import LanguageError
from celosia.sw.reference.language.foreign_library import Refused, refusing

__all__ = [
    "END",
    "ENDS",
    "END_OF_TEXT",
    "OwnTokenizer",
    "TextTokenizer",
    "Tokenizer",
    "TokenizerError",
]

END_OF_TEXT: Final = "<|end|>"
END: Final = 0
"""The token between two texts: it stands before a text, and ends it."""
ENDS: Final = ("<|endoftext|>", "</s>", "<|end_of_text|>", "<eos>", "<|im_end|>", "<|eot_id|>")
"""How models call the token that ends a text."""

_MOST_BYTES: Final = 64 << 20
"""The largest tokenizer file that is opened."""


class TokenizerError(LanguageError):
    """A file that is no tokenizer, or not one of this form."""


class Tokenizer:
    """The tokenizer in the JSON file at `path`, of Hugging Face's form.

    Raises `TokenizerError` for a file that is missing or no tokenizer.
    """

    def __init__(self, path: Path):
        self._path = path
        try:
            text = read_text(path, _MOST_BYTES)
            # Loaded here, since most commands of the command line can do without.
            library = import_module("tokenizers")
            with refusing():
                self._tokenizer = library.Tokenizer.from_str(text)
        except ForeignFileError as error:
            raise TokenizerError(str(error)) from None
        except Refused as error:
            raise TokenizerError(f"{path}: not a tokenizer: {error}") from None
        self._tokenizer.encode_special_tokens = True  # What a text has is text.

    @property
    def size(self) -> int:
        """The number of tokens."""
        return self._tokenizer.get_vocab_size()

    def document(self) -> dict[str, Any]:
        """The tokenizer as the JSON document of such a file."""
        return json.loads(self._tokenizer.to_str())

    def is_like(self, other: "Tokenizer") -> bool:
        """Whether both have the same tokens, and take texts apart in the same way."""
        return self._tokenizer.to_str() == other._tokenizer.to_str()

    def encode(self, text: str, *, frame: bool = False) -> list[int]:
        """The tokens of `text`; names of special tokens in it have no special meaning.

        With `frame`, tokens that the file puts around a text are there, too.  Raises
        `TokenizerError` for a text that is not Unicode, or that the file's rules cannot take.
        """
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TokenizerError(f"text {text!r}: {error}") from None
        with self._refusing("cannot take the text apart"):
            return self._tokenizer.encode(text, add_special_tokens=frame).ids

    def pieces(self, tokens: Iterator[int]) -> Iterator[str]:
        """The text of `tokens` as they come; a character waits until all its bytes are there.

        Tokens that the tokenizer does not have are no text.  Raises `TokenizerError` where the
        file's rules have none for a token.
        """
        stream = import_module("tokenizers.decoders").DecodeStream(skip_special_tokens=True)
        for token in tokens:
            with self._refusing(f"has no text for token {token}"):
                piece = stream.step(self._tokenizer, token)
            if piece:
                yield piece

    @contextmanager
    def _refusing(self, what: str) -> Iterator[None]:
        """Raise `TokenizerError` that names the file where the library refuses."""
        try:
            with refusing():
                yield
        except Refused as error:
            raise TokenizerError(f"{self._path}: {what}: {error}") from None


class TextTokenizer(Tokenizer):
    """The tokenizer of the project's language model.

    Raises `TokenizerError` as `Tokenizer` does, and for one whose token 0 is not `END_OF_TEXT`.
    """

    def __init__(self, path: Path):
        super().__init__(path)
        if self._tokenizer.id_to_token(END) != END_OF_TEXT:
            raise TokenizerError(f"{path}: token {END} is not {END_OF_TEXT}")

    def stream(self, texts: Sequence[str]) -> list[int]:
        """The tokens of `texts`, with an `END` before each and at the end."""
        tokens = [END]
        with self._refusing("cannot take the texts apart"):
            encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for found in encoded:
            tokens += [*found.ids, END]
        return tokens


class OwnTokenizer(Tokenizer):
    """The tokenizer of a model of the user's, and the token that ends its texts.

    `end` is that token's text; None: the first of `ENDS` that there is, or none.  Raises
    `TokenizerError` as `Tokenizer` does, and for an `end` that is no token.
    """

    def __init__(self, path: Path, end: str | None = None):
        super().__init__(path)
        # What some files say for training: a prompt is neither cut nor filled.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        names = ENDS if end is None else (end,)
        found = [self._tokenizer.token_to_id(name) for name in names]
        self.end: int | None = next((token for token in found if token is not None), None)
        if end is not None and self.end is None:
            raise TokenizerError(f"{path}: {end!r} is no token of it")
