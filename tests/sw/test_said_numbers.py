"""Numbers of the compiler are those that documents say: a person decides by them."""

import pytest

from tests.support.said_numbers import differing

LANGUAGE, MODELS, ARCHITECTURE = "docs/language-model.md", "docs/models.md", "docs/architecture.md"
SAID = [
    (
        LANGUAGE,
        "of lookups of 4, 3 and 2 tokens, 0.8, 0.7 and 0.5",
        {4: 0.8, 3: 0.7, 2: 0.5},
        "sw.decoding.drafts.lookup:SHARES",
    ),
    (LANGUAGE, "less than once in ten times", 0.1, "sw.decoding.drafts.draft:LEAST"),
    (LANGUAGE, "a step of 1, 2, 4, 8 or 16 rows", 16, "sw.decoding.steps:ROWS"),
    (LANGUAGE, "compiled once for 64 lengths of context", 64, "sw.decoding.steps:BUCKET"),
    (LANGUAGE, "Up to 16 texts share a step", 16, "sw.decoding.steps:ROWS"),
    (LANGUAGE, "a table of 1,024 rounded numbers", 1024, "sw.reference.language.sampling:STEPS"),
    (MODELS, "1.5 times the largest number", 1.5, "sw.quantize.ranges:INT16_HEADROOM"),
    (MODELS, "That is done if it keeps 30 dB", 30.0, "sw.quantize.caps:_LEAST_DB"),
    (MODELS, "takes 48 cycles for an element", 48, "sw.compiler.costs:HOST_ELEMENT_CYCLES"),
    (MODELS, "`percentile` one element in 10,000", 99.99, "sw.quantize.ranges:_PERCENTILE"),
    ("docs/numerics.md", "rows of more than 256 keys", 256, "sw.quantize.ranges:STORED_KEYS"),
    ("docs/model-format.md", "on 2,048 rows", 2048, "sw.quantize.encoders.encoder:_ROWS"),
    (
        ARCHITECTURE,
        "rows of scale 1e-3, 1 and 30",
        (1e-3, 1.0, 30.0),
        "sw.frontend.recognize.prove:_SCALES",
    ),
]


@pytest.mark.parametrize("said", SAID, ids=lambda each: each[3])
def test_a_number_is_what_a_document_says(said):
    assert not differing(said)
