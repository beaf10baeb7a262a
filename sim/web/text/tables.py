"""What a page draws tokens with, and foretells them with: the numbers of the modules that do."""

from typing import Any

import numpy as np

from celosia.sim.web.text.blob import Blob
from celosia.sw.decoding.drafts.draft import LEAST
from celosia.sw.decoding.drafts.lookup import SHARES
from celosia.sw.decoding.drafts.ngrams import ORDERS, Ngrams
from celosia.sw.reference.language import random_words
from celosia.sw.reference.language.random_words import RandomWords
from celosia.sw.reference.language.sampling import HALVES, NEVER, STEPS

__all__ = ["drafts_document", "sampler_document"]


def sampler_document() -> dict[str, Any]:
    """The JSON document of `RandomWords` and `Sampler.choose`."""
    return {
        "seeds": str(RandomWords.SEEDS),
        "warmUp": random_words.WARM_UP,
        "right": random_words.RIGHT,
        "left": random_words.LEFT,
        "rotated": random_words.ROTATED,
        "halves": HALVES.tolist(),
        "stepsPerLog": STEPS / np.log(2),
        "never": NEVER,
    }


def drafts_document(ngrams: Ngrams, blob: Blob) -> dict[str, Any]:
    """The JSON document of drafts by lookup and by `ngrams`, whose bytes are in `blob`.

    Tokens are below 2^16, and there are at most 256 probabilities: `ValueError` otherwise.
    """
    shares = sorted({share for _, share in ngrams.followers.values()})
    if len(shares) > 1 << 8:
        raise ValueError(f"n-grams: {len(shares)} probabilities are more than {1 << 8}")
    numbers = {share: number for number, share in enumerate(shares)}
    orders = []
    for order in ORDERS:
        found = {key: value for key, value in ngrams.followers.items() if len(key) == order}
        tokens = np.array([[*key, token] for key, (token, _) in found.items()]).reshape(-1)
        if tokens.max(initial=0) >= 1 << 16:
            raise ValueError(f"n-grams: token {tokens.max()} is not in 0..{(1 << 16) - 1}")
        orders.append({
            "order": order,
            "tokens": blob.add(tokens.astype("<u2").tobytes()),
            "shares": blob.add(bytes(numbers[share] for _, share in found.values())),
        })
    return {
        "lookups": list(SHARES.items()),
        "least": LEAST,
        "shares": shares,
        "orders": orders,
    }
