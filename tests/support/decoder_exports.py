"""Decoders as ONNX files, with and without a cache, and a tokenizer for them."""

import string
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from celosia.lab.exports.decoders.bloom import bloom
from celosia.lab.exports.decoders.gpt2 import gpt2
from celosia.lab.exports.decoders.gpt_neox import gpt_neox
from celosia.lab.exports.decoders.llama import gemma, llama, mistral, qwen2, qwen3
from celosia.lab.exports.decoders.opt import opt
from celosia.lab.exports.decoders.phi import phi
from celosia.lab.exports.writing.size import SMALL

EXPORTED: Final[dict[str, Callable[..., Any]]] = {
    "gpt2": gpt2,
    "opt": opt,
    "llama": llama,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "mistral": mistral,
    "gemma": gemma,
    "phi": phi,
    "gpt-neox": gpt_neox,
    "bloom": bloom,
}
"""The forms of decoders by name."""
WIDTH: Final = SMALL.head_width


@cache
def exported(name: str, cached: bool = False) -> Any:
    """A small model of this form; nobody may change it."""
    return EXPORTED[name](SMALL, 0, cached=cached)


def save(model: Any, path: str = "model.onnx") -> Path:
    """Write a model to a file."""
    Path(path).write_bytes(model.SerializeToString())
    return Path(path)


def save_tokenizer(path: str = "t.json", *, end: str = "<|endoftext|>", more: int = 0) -> Path:
    """Write a tokenizer of a token for each letter, 64 with `end`, and so many `more`."""
    letters = [end, *string.ascii_letters, *string.digits, "Ġ"]
    letters += "!?,.:;"[:more]
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([end])
    tokenizer.save(path)
    return Path(path)
