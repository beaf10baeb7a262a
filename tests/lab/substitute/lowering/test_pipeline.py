"""Pipelines are read pass by pass; wrong ones are refused before anything is done."""

import re
from pathlib import Path

import pytest

from celosia.lab.substitute.lowering.passes import PASSES, Decide, Expand, Quantize, Recognize
from celosia.lab.substitute.lowering.pipeline import check_levels, parse_pipeline
from celosia.lab.substitute.rules import RULES


def test_passes_come_with_their_arguments():
    assert parse_pipeline("recognize") == (Recognize(),)
    assert parse_pipeline(
        "recognize{padded=false}, quantize{calibrate=c.npz, clip=error per_tensor=true},"
        "decide{},expand"
    ) == (
        Recognize(padded=False),
        Quantize(calibrate=Path("c.npz"), clip="error", per_tensor=True),
        Decide(),
        Expand(),
    )
    assert parse_pipeline("decide{latency=1,rate=8}") == (Decide(latency=1, rate=8),)


def test_rules_are_passes_of_their_level():
    assert set(RULES) < set(PASSES)
    assert [each.name for each in parse_pipeline(",".join(RULES))] == [*RULES]
    (one, other) = parse_pipeline("fold-factors,merge-products")
    assert (one.name, one.takes, one.leaves) == ("fold-factors", ("nn",), None)
    assert other.takes == ("cel",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: NAME or NAME{argument=value} is expected, not ''"),
        ("decide,", "column 8: NAME or NAME{argument=value} is expected, not ''"),
        ("decide expand", "there is no pass 'decide expand'; there are import, recognize, "),
        ("decide{latency=3", "column 1: NAME"),
        ("descide", "there is no pass 'descide'; there are import, recognize, "),
        ("expand{x=1}", "expand: there is no argument 'x'; there are: none"),
        ("decide{latency}", "decide: 'latency': write arguments as name=value"),
        ("decide{rate=}", "decide: 'rate=': write arguments as name=value"),
        ("decide{rate=0}", "decide: rate: '0' is no whole number from 1 to 1,048,575"),
        ("decide{rate=1.5}", "decide: rate: '1.5' is no whole number"),
        ("decide{rate=1,rate=2}", "decide: rate is given twice"),
        ("quantize{clip=some}", "quantize: clip: 'some' is none of error"),
        ("quantize{per_tensor=1}", "quantize: per_tensor: '1' is none of true, false"),
    ],
)
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        parse_pipeline(text)


@pytest.mark.parametrize(
    ("text", "level", "message"),
    [
        ("import,recognize,quantize,decide,expand,schedule,lower", "a file", None),
        ("import,fold-factors,quantize,merge-products,decide", "a file", None),
        ("expand,lower", "cel.plan", None),
        ("recognize", "a file", "pass recognize takes nn, and x is a file; for that there are imp"),
        ("quantize,expand", "nn", "pass expand takes cel.plan, and what quantize leaves is cel; "),
        ("lower,lower", "cel.program", "pass lower takes cel.program, and what lower leaves is c"),
        ("recognize,decide", "nn", "pass decide takes cel, and what recognize leaves is nn; for"),
    ],
)
def test_each_pass_takes_what_the_one_before_leaves(text, level, message):
    passes = parse_pipeline(text)
    if message is None:
        check_levels(passes, level, "x")
    else:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            check_levels(passes, level, "x")
