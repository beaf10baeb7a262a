"""The page in a real browser: it draws everything, fits, and complains of nothing."""

import json
import re
from pathlib import Path

import pytest

from celosia.sim.reporting.page.browser import page_source, picture, print_page
from celosia.sim.reporting.page.page import page
from celosia.sim.verilator.doctor import absence

MISSING = absence("chromium")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=str(MISSING)),
]

# Tells how wide a page is that a frame of the width of a phone shows.
FRAME = """<!DOCTYPE html><iframe id="frame" width="390" height="844"></iframe><script>
const frame = document.getElementById("frame");
frame.srcdoc = %s;
frame.onload = () => setInterval(() => {
  const inside = frame.contentDocument;
  document.body.dataset.wide = inside.documentElement.scrollWidth;
  document.body.dataset.drawn = inside.body.dataset.drawn;
}, 200);
</script>"""


@pytest.fixture(scope="module")
def index(document, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(page(document))
    return path


def test_every_figure_is_drawn_and_the_console_is_empty(index):
    source, errors = page_source(index)
    assert errors == []
    places = re.findall(r'id="(figure-[\w-]+)"', source)
    assert len(places) == 8
    assert f'data-drawn="{len(places)}"' in source
    assert source.count('class="main-svg"') >= len(places)


def test_everything_is_there_as_soon_as_the_page_is_read(index, tmp_path):
    """A page that is printed, or pictured, does not wait for what comes later."""
    early = tmp_path / "early.html"
    script = "document.body.dataset.early = document.querySelectorAll('.main-svg').length"
    count = "document.body.dataset.timeline = document.querySelectorAll('#figure-timeline svg')"
    scripts = f"<script>{script}; {count}.length</script></body>"
    early.write_text(index.read_text().replace("</body>", scripts))
    source, errors = page_source(early)
    assert errors == []
    found = re.search(r'data-early="(\d+)" data-timeline="(\d+)"', source)
    assert found
    assert int(found[1]) >= 8
    assert int(found[2]) >= 1


def test_a_window_of_time_shows_single_operations(index):
    source, errors = page_source(index, "?only=timeline&window=100:200")
    assert errors == []
    assert 'class="only"' in source
    assert 'data-drawn="8"' in source


def test_it_fits_a_phone(index, tmp_path):
    outer = tmp_path / "phone.html"
    outer.write_text(FRAME % json.dumps(index.read_text()).replace("</", "<\\/"))
    source, errors = page_source(outer)
    assert errors == []
    found = re.search(r'data-wide="(\d+)"[^>]*data-drawn="8"', source)
    assert found
    assert int(found[1]) <= 390


def test_it_prints(index, tmp_path):
    print_page(index, tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_picture_of_a_section_has_its_size(index, tmp_path):
    picture(index, tmp_path / "timeline.png", "?only=timeline", (900, 500))
    data = (tmp_path / "timeline.png").read_bytes()
    assert data[16:24] == (900).to_bytes(4, "big") + (500).to_bytes(4, "big")


@pytest.mark.parametrize("dark", [False, True])
def test_figures_follow_a_dark_page(index, tmp_path, dark):
    """A page that its reader wants dark has paper and ink of figures in the page's colors."""
    wanted = "true" if dark else "false"
    ask = f"window.matchMedia = () => ({{matches: {wanted}, addEventListener() {{}}}});"
    night = ":root { --ink: #e8e8e8; --line: #444; --paper: #161616; }" if dark else ""
    tell = (
        "const layout = document.getElementById('figure-traffic').layout;"
        "document.body.dataset.colors = [layout.paper_bgcolor, layout.font.color].join(' ');"
    )
    path = tmp_path / "page.html"
    text = index.read_text().replace(
        "<main>", f"<style>{night}</style><script>{ask}</script><main>"
    )
    path.write_text(text.replace("</body>", f"<script>{tell}</script></body>"))
    source, errors = page_source(path)
    assert errors == []
    colors = "#161616 #e8e8e8" if dark else "white #1a1a1a"
    assert f'data-colors="{colors}"' in source
