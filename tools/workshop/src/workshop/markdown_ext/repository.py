"""Say where the source is, on pages of a site that knows it.

A Markdown extension. In

    Get a copy<!--repository:, from [its repository](REPOSITORY)-->.

the words stand on the page, with the address in place of `REPOSITORY`, if the option
`url` names one; else there is no link that leads nowhere.
"""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

COMMENT = re.compile(r"<!--repository:(.*?)-->", re.DOTALL)


class _Repository(Preprocessor):
    def __init__(self, md: Markdown, url: str) -> None:
        super().__init__(md)
        self.url = url.rstrip("/")

    def run(self, lines: list[str]) -> list[str]:
        def words(found: re.Match[str]) -> str:
            return found[1].replace("REPOSITORY", self.url) if self.url else ""

        return COMMENT.sub(words, "\n".join(lines)).split("\n")


class RepositoryExtension(Extension):
    """Put words that need the address of the repository where it is known."""

    def __init__(self, **options: Any) -> None:
        self.config = {"url": ["", "the address of the repository, if there is one"]}
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Work after odd characters are taken out (30)."""
        md.preprocessors.register(
            _Repository(md, str(self.getConfig("url") or "")), "repository", 29.5
        )


def makeExtension(**options: Any) -> RepositoryExtension:  # noqa: N802
    """Make the extension, under the name that Markdown looks for."""
    return RepositoryExtension(**options)
