"""What the scripts are given."""

import base64
import gzip
import json

from celosia.isa.encoding import FENCE
from celosia.sim.web.array_view import array_document
from celosia.sim.web.challenges import CHALLENGES, Posed
from celosia.sim.web.recorded import Recording
from celosia.sim.web.watchable import WATCHED

RECORDING = Recording(memory=bytes(64), commands=(FENCE.encode(),), cycles=7, digest="ab")
POSED = Posed(answer=RECORDING, spoiled=(FENCE.encode(), FENCE.encode()), cycles=9)


def test_programs_are_those_that_were_recorded_in_the_order_of_the_list():
    found = array_document({"none": RECORDING, WATCHED[2]: RECORDING, WATCHED[0]: RECORDING}, {})
    assert found
    assert list(found["programs"]) == [WATCHED[0], WATCHED[2]]
    assert found["programs"][WATCHED[0]] == {"texts": ["fence"], "sources": [0]}
    assert found["challenges"] == {}
    json.dumps(found)


def test_a_challenge_has_its_bound_from_the_answer():
    name = next(iter(CHALLENGES))
    found = array_document({WATCHED[0]: RECORDING}, {name: POSED})
    assert found
    challenge = found["challenges"][name]
    assert (challenge["cycles"], challenge["bound"]) == (9, 7)
    assert challenge["text"] == ".preset tiny\nfence\nfence\n"
    assert challenge["answer"] == "fence\n"
    assert gzip.decompress(base64.b64decode(challenge["memory"])) == bytes(64)


def test_without_recordings_there_is_no_view():
    assert array_document({}, {}) is None
