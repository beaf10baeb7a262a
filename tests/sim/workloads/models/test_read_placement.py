"""Where nodes run is the same when it is read again from a saved model."""

import json

import pytest

from celosia.sim.workloads.models.read_placement import read_placement
from celosia.sw.quantize.units.placement import PlacedNode, Placement, Where

PLACEMENT = Placement((
    PlacedNode("/product (MatMul)", Where.ACCELERATOR, "", 96),
    PlacedNode("/sum (Add)", Where.HOST, "its operands are inputs", 0),
    PlacedNode("Transpose", Where.NOBODY, "it moves elements", 0),
))


def document():
    return json.loads(json.dumps(PLACEMENT.document()))


def test_a_placement_is_what_was_written():
    found = read_placement(document())
    assert found.nodes[:2] == PLACEMENT.nodes[:2]
    assert found.document() == PLACEMENT.document()
    assert found.on_host() == {"its operands are inputs": 1}


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [("where", "nowhere", ValueError), ("macs", "few", ValueError), ("macs", None, TypeError)],
)
def test_what_is_no_placement_is_an_error(key, value, error):
    wrong = document()
    wrong["nodes"][0][key] = value
    with pytest.raises(error):
        read_placement(wrong)
    del wrong["nodes"][0][key]
    with pytest.raises(KeyError):
        read_placement(wrong)
