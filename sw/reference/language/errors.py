"""What can be wrong with what a language model is given."""

__all__ = ["LanguageError", "TokenError"]


class LanguageError(ValueError):
    """Bad input; the message names the value, the rule and the place."""


class TokenError(LanguageError):
    """Tokens that a model, a cache or a score cannot take."""
