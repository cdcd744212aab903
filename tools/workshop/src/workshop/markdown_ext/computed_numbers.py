"""Compute the numbers in prose when the site is built: a Markdown extension."""

from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from pytest_proofread.page.prose_lint import compute
from pytest_proofread.page.prose_numbers import Prose


class _Numbers(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        if not any("<!--" in line for line in lines):
            return lines
        text = compute("\n".join(lines))
        pairs = zip(
            text.split("\n"), Prose(text).without_notes().split("\n"), strict=True
        )
        # A line that is left empty would end the paragraph around it.
        return [new for old, new in pairs if new.strip() or not old.strip()]


class ComputedNumbers(Extension):
    """Compute the numbers in prose, and take the comments about them out."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work before includes (32) and before code is put aside (25)."""
        md.preprocessors.register(_Numbers(md), "prose", 35)


def makeExtension(**options: Any) -> ComputedNumbers:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return ComputedNumbers(**options)
