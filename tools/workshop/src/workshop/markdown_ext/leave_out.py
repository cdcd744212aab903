"""Show a page without what only its notebook has: a Markdown extension.

`workshop.folds` says what that is. The comparison of the site with its pages knows it,
and asks that the notebook of the page holds it.
"""

from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from workshop.folds import as_shown


class _LeaveOut(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return as_shown("\n".join(lines)).split("\n")


class LeaveOut(Extension):
    """Take out of a page what the site leaves to the notebook."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work before shapes (29), which what is not shown needs none of."""
        md.preprocessors.register(_LeaveOut(md), "leave_out", 29.4)


def makeExtension(**options: Any) -> LeaveOut:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return LeaveOut(**options)
