"""Shares of widths."""

import pytest

from celosia.lab.prune.parts.share import parse_share
from celosia.sim.support.problems import InputError


@pytest.mark.parametrize(
    ("text", "count", "dim", "kept"),
    [("25%", 384, 16, 288), ("50%", 1536, 16, 768), ("30%", 64, 16, 48), ("30%", 50, 16, 35)],
)
def test_channels_stay_multiples(text, count, dim, kept):
    assert parse_share("--ffn", text, numbers=False).channels(count, dim) == kept


@pytest.mark.parametrize(
    ("text", "count", "together", "kept"),
    [
        ("3", 12, 1, 9),
        ("50%", 12, 1, 6),
        ("4", 8, 4, 4),
        ("50%", 4, 2, 2),
        ("30%", 12, 1, 8),  # The nearest to 3.6 that are removed.
        ("20%", 12, 1, 10),
        ("40%", 8, 2, 4),
    ],
)
def test_heads_that_share_keys_go_together(text, count, together, kept):
    assert parse_share("--heads", text, numbers=True).heads(count, together) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0%", "--ffn 0%: a share is above 0% and below 100%"),
        ("100%", "--ffn 100%: a share is above 0% and below 100%"),
        ("25", "--ffn 25: is not a share such as 25%"),
        ("-5%", "--ffn -5%: is not a share"),
        ("nan%", "--ffn nan%: is not a share"),
        ("\u0662%", "is not a share"),
    ],
)
def test_what_is_no_share_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_share("--ffn", text, numbers=False)


def test_something_is_removed_and_something_left():
    def heads(text, count, together=1):
        return parse_share("--heads", text, numbers=True).heads(count, together)

    def channels(text, count):
        return parse_share("--ffn", text, numbers=False).channels(count, 16)

    with pytest.raises(InputError, match="--heads 4: of 4 heads, nothing would be left"):
        heads("4", 4)
    with pytest.raises(InputError, match="--heads 0: of 4 heads, nothing would be removed"):
        heads("0", 4)
    with pytest.raises(InputError, match="2 heads share keys and go together; 1 is no multiple"):
        heads("1", 4, 2)
    with pytest.raises(InputError, match="of 32 channels in steps of 16, nothing would be removed"):
        channels("1%", 32)
    with pytest.raises(InputError, match="of 32 channels in steps of 16, nothing would be left"):
        channels("99%", 32)
