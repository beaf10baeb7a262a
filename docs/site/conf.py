"""How Sphinx builds the site from what `docs.site.stage` has written; warnings are errors there."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # Where `docs.site` is.

project = "Celosia"
release = metadata.version("celosia")
root_doc = "index"
html_theme = "furo"
html_title = f"Celosia {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.site.names"]
exclude_patterns = ["examples/**/README.md"]  # They are files of examples, to download.
myst_heading_anchors = 6  # Links to headings are those of GitHub.
# What is no language of Pygments is shown as it stands, and a page may begin below a first heading.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

# One backtick is a name of Python where there is such a one, and else a word of code.
default_role = "py:obj"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_custom_sections = [("Members", "params_style"), ("State", "params_style")]
napoleon_google_docstring = False
