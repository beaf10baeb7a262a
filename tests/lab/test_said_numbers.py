"""Numbers of the laboratory are those that documents say."""

import pytest

from tests.support.said_numbers import differing

LANGUAGE, NAS, PRUNING, REWRITING = (
    "docs/language-model.md",
    "docs/nas.md",
    "docs/pruning.md",
    "docs/rewriting.md",
)
SMALL, MANUAL = ("lab.training.recipe:Recipe()", "lab.training.recipe:RECIPES['manual']")
SAID = [
    (REWRITING, "costs at most twice the best", 2.0, "lab.substitute.search:ALPHA"),
    (REWRITING, "it ends after 48 graphs", 48, "lab.substitute.search:BUDGET"),
    (REWRITING, "or 10 that led to nothing cheaper", 10, "lab.substitute.search:PATIENCE"),
    (REWRITING, "must be cheaper by 2 %", 0.02, "lab.substitute.optimize:GAIN"),
    (PRUNING, "8 windows in a step", 8, "lab.prune.recovery:_BATCH"),
    (PRUNING, "a tenth of the first training's rates", 0.1, "lab.prune.recovery:_RATE"),
    (NAS, "The default is 1,000 steps", 1000, "lab.nas.command:_WHOLE.steps"),
    (
        NAS,
        "has 95 % of samples",
        95,
        "lab.nas.models.statistics:_PERCENT[1] - _PERCENT[0]",
    ),
    (LANGUAGE, "850 steps of 8 windows", (850, 8), f"{SMALL}.steps, Recipe().batch"),
    (LANGUAGE, "dropout 0.1; rates rise for 20", (0.1, 20), f"{SMALL}.dropout, Recipe().warmup"),
    (LANGUAGE, "fall to 0 in the last 40 %", 0.4, f"{SMALL}.decay"),
    (
        LANGUAGE,
        "half as high (0.02 and 0.005) and dropout is 0.2",
        ((0.04, 0.01), (0.02, 0.005, 0.2)),
        "lab.training.recipe:(Recipe().rate, Recipe().adam_rate), "
        "(RECIPES['manual'].rate, RECIPES['manual'].adam_rate, RECIPES['manual'].dropout)",
    ),
    (LANGUAGE, "8,000 steps of 64 windows", (8000, 64), f"{MANUAL}.steps, RECIPES['manual'].batch"),
    (
        "docs/compilers.md",
        "70 to 88 % of the peak, on VTA",
        (0.7, 0.88),
        "lab.compilers.nonlinear:VTA_UTILIZATION",
    ),
]


@pytest.mark.parametrize("said", SAID, ids=lambda each: each[3])
def test_a_number_is_what_a_document_says(said):
    assert not differing(said)
