r"""Formulas become MathML when the site is built, so that a page needs no script.

A Markdown extension. It takes what `pymdownx.arithmatex` (with `generic: true`) found
between dollars, and gives it to the package `math-core`. It works on the parsed page,
where code is already put aside: a `\(` in a code block stays what it is.
"""

import html
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from math_core import LatexError, LatexToMathML

_CONVERTER = LatexToMathML(fancy_error=False)


def to_mathml(latex: str, *, display: bool = False) -> str:
    """Convert a formula.

    Args:
        latex: The formula, without dollars.
        display: Whether it stands on a line of its own.

    Returns:
        A `<math>` element.

    Raises:
        ValueError: If `latex` has a typo or a command that is not known.
    """
    try:
        return _CONVERTER.convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        # Written without position: that is counted in the formula, not in the page.
        reason = str(error).partition(": ")[2].rstrip(".")
        raise ValueError(
            f"formula must be valid LaTeX ({reason}); got formula={latex!r}."
        ) from None


class _Formulas(Treeprocessor):
    def run(self, root: Element) -> None:
        for element in root.iter():
            if element.get("class") == "arithmatex":
                self._convert(element)

    def _convert(self, element: Element) -> None:
        latex = "".join(element.itertext())[2:-2].strip()
        display = element.tag == "div"
        if display:
            # arithmatex escapes these, and only these, for HTML.
            latex = html.unescape(latex)
            # A long formula scrolls, and the arrow keys need a focus to scroll it.
            # As text, without its roots and fractions, it would be another formula.
            element.attrib.update(
                {"tabindex": "0", "role": "group", "aria-label": "formula"}
                | {"data-search-exclude": ""}
            )
        element.set("class", "hw-math")
        # The stash gives the markup back as it is; in the tree it would be escaped.
        mathml = self.md.htmlStash.store(to_mathml(latex, display=display))
        element.text = AtomicString(mathml)


class MathML(Extension):
    """Render the formulas that `pymdownx.arithmatex` finds."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after inline text (20) and before the table of contents (5)."""
        md.treeprocessors.register(_Formulas(md), "mathml", 15)


def makeExtension(**options: Any) -> MathML:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return MathML(**options)
