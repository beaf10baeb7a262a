"""Pictures of a report for the README: `make pictures`."""

import sys
from pathlib import Path

from celosia.sim.reporting.page.browser import picture

SECTIONS = {
    "stalls": ("?only=stalls-array&lost", (1100, 350)),
    "timeline": ("?only=timeline", (1100, 720)),
}

page, folder = map(Path, sys.argv[1:])
for name, (query, size) in SECTIONS.items():
    picture(page, folder / f"report-{name}.png", query, size)
