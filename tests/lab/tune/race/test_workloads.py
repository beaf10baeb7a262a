"""What searches are raced on."""

from celosia.lab.tune.race.workloads import WORKLOADS
from celosia.sw.planning.rules.verify import verify_plan


def test_there_are_two_products_two_attentions_and_a_layer():
    kinds = [track.name.split()[0].rstrip(",") for track in WORKLOADS]
    assert kinds == ["product", "product", "attention", "attention", "layer"]


def test_each_has_a_plan_of_the_compilers_and_a_target():
    for track in WORKLOADS[:3]:
        assert verify_plan(track.own, track.work.graph, track.config) == track.own
        assert track.target > 1000
        assert set(track.space.nearest(track.timing)) == set(track.space.choices)
