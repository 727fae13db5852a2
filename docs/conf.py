"""The documentation as a site: `python -m sphinx -W --keep-going docs SOMEWHERE` builds it, without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from simcrawl import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# What stands in the site's sidebar, in this order. Here and not in index.md, which would show it as a block of code on the forge.
DECISIONS = [f"decisions/{page}" for page in ("page", "rule", "urls", "crawl", "store", "workers", "house")]
SIDEBAR = {
    "Use it": ["nightly", "tutorial", "howto", "kinds", "examples/README", "beside", "migration", "fleet", "report"],
    "Something is wrong": ["why-dropped", "faq", "troubleshooting"],
    "Look up": ["reference", "commands", "api", "changes"],
    "What it does, and how well": ["quality", "how-it-works", "special-pages", "walk", "recipes", "benchmarks", "calibrate"],
    "What may go wrong": ["reliability", "threats", "patents"],
    "How it is made": ["architecture", "decisions", *DECISIONS, "hamming-index", "store-format", "sorted-tables", "contributing"],
}
# Pages of the repository that the site shows as pages of its own.
SHOWN = {"../CHANGES.md": "changes.md", "../CONTRIBUTING.md": "contributing.md"}

project = "simcrawl"
author = project_copyright = "The simcrawl developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["figures"]
myst_heading_anchors = 4
default_role = "code"  # docstrings have code between single backticks, as Markdown has
smartquotes = False
add_module_names = False
autodoc_member_order = "bysource"
maximum_signature_line_length = 100
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"simcrawl {version}"
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]


def setup(app: Sphinx) -> None:
    """Have pages changed before they are read."""
    app.connect("source-read", _for_the_site)


def _for_the_site(_: Sphinx, page: str, source: list[str]) -> None:
    for file, shown in SHOWN.items():
        if shown == f"{page}.md":
            # On the forge such a page is a link to the file; here it is the file.
            text = (Path(__file__).parent / file).read_text()
            source[0] = re.sub(r"\]\(docs/", "](", re.sub(r"\]\((\w+\.md)", r"](../\1", text))
    for file, shown in SHOWN.items():
        source[0] = source[0].replace(f"]({file}", f"]({shown}")
    if page == "index":
        source[0] += "".join(_toctree(caption, pages) for caption, pages in SIDEBAR.items())


def _toctree(caption: str, pages: list[str]) -> str:
    return "\n".join(("\n```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```\n"))
