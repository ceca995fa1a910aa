"""How the documentation is built: ``sphinx-build -W -b html docs docs/_build/html``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

project = "qmopt"
author = "The qmopt developers"
project_copyright = author
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

templates_path = ["_templates"]
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it, with shape and unit
autodoc_preserve_defaults = True
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
# No docstring is missing or lacks a summary; parameters told are there, and in this order.
numpydoc_validation_checks = {"GL08", "PR02", "PR03", "PR07", "RT03", "SS01", "SS03", "SS06"}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "qmopt"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "qmopt"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    page: []
    for page in ("index", "tutorial", "concepts", "tables", "theory", "guarantees", "architecture")
}


def end_blocks_with_their_last_line(app: Sphinx, page: str, source: list[str]) -> None:
    """Drop the blank line with which an example has to end to be run by doctest."""
    source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)


def show_no_constructor_of_a_protocol(
    app: Sphinx, what: str, name: str, thing: object, *_: object
) -> tuple[str, None] | None:
    """Leave out the ``(*args, **kwargs)`` that every protocol class inherits."""
    return ("", None) if getattr(thing, "_is_protocol", False) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Show the pages as they are meant; docs/architecture.md has a block of layers."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("layers", TextLexer)
    app.connect("autodoc-process-signature", show_no_constructor_of_a_protocol)
    app.connect("source-read", end_blocks_with_their_last_line)
    return {"parallel_read_safe": True}
