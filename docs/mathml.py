"""Formulas as MathML, which browsers show by themselves: no script and nothing from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def as_mathml(formula: str, *, block: bool) -> str:
    """Translate TeX; a command that docutils does not know is an error."""
    from docutils.utils.math import toplevel_code
    from docutils.utils.math.latex2mathml import tex2mathml

    formula = re.sub(r"\\[bB]igg?[lr]?(?![a-zA-Z])", "", formula)  # fences stretch by themselves
    formula = re.sub(r"^([_^])", r"{}\1", formula)  # an index to a word of the text
    if block and r"\\" in toplevel_code(formula):
        formula = rf"\begin{{align*}}{formula}\end{{align*}}"
    return tex2mathml(formula, as_block=block)


def show_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    from docutils.nodes import SkipNode

    self.body.append(as_mathml(node.astext(), block=False))
    raise SkipNode


def show_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands by itself."""
    from docutils.nodes import SkipNode

    self.body.append(f'<div class="math">{as_mathml(node.astext(), block=True)}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer this under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
