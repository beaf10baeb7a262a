"""The picture of a run's time."""

from xml.etree import ElementTree

import numpy as np
import pytest

from celosia.sim.reporting.page.palette import group_color
from celosia.sim.reporting.page.timeline_picture import timeline_drawing

SVG = "{http://www.w3.org/2000/svg}"


def test_every_owned_cycle_is_drawn_in_its_color(profile):
    root = ElementTree.fromstring(str(timeline_drawing(profile)))
    widths: dict[str, float] = {}
    for box in root.iter(f"{SVG}rect"):
        resource, _, rest = box.findtext(f"{SVG}title", "").partition(": ")
        if rest:
            group = rest.partition(", cycles")[0]
            assert box.get("fill") == group_color(resource, group)
            widths[resource] = widths.get(resource, 0) + float(box.get("width", ""))
    for resource in profile.resources:
        spans = profile.owners[resource]
        cycles = np.diff(spans.start, append=profile.cycles)[spans.owner >= 0].sum()
        assert widths.get(resource, 0) == pytest.approx(800 * cycles / profile.cycles, rel=1e-3)
    assert widths["array"] > 0
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert f"{profile.cycles:,} cycles" in texts
