"""The anchors of pages are those of the site, and computed numbers follow outputs."""

from pathlib import Path

import markdown
import pytest

from pytest_proofread.page.markdown import fences, headings, outside
from pytest_proofread.page.prose_numbers import Prose

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


def shown(text: str) -> list[str]:
    """Return the anchors that the site has."""
    site = markdown.Markdown(extensions=["toc", "attr_list", "pymdownx.superfences"])
    site.convert(text)
    return [str(token["id"]) for token in flat(site.toc_tokens)]


def flat(tokens: list[dict[str, object]]) -> list[dict[str, object]]:
    found = []
    for token in tokens:
        found += [token, *flat(token["children"])]
    return found


@every_page
def test_anchors_are_those_of_the_site(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # The site does not see what stands above the page.
    if text.startswith("---\n"):
        text = text.split("\n---\n", 1)[1]
    anchors = headings(outside(text, fences(text))).values()
    assert [*anchors] == shown(text)


@every_page
def test_another_output_makes_other_numbers(page: Path) -> None:
    """Turn each digit of each output, and see all computed numbers move."""
    text = page.read_text("utf-8")
    lines = text.split("\n")
    turned = str.maketrans("0123456789", "7598203164")
    for program in Prose(text).programs:
        if program.output:
            for at in range(program.output.line, program.output.end - 1):
                lines[at] = lines[at].translate(turned)
    numbers = [*Prose(text).numbers()]
    others = [*Prose("\n".join(lines)).numbers()]
    for number, other in zip(numbers, others, strict=True):
        try:
            assert other.computed() != number.computed(), number.comment
        except ValueError as error:
            assert "must" in str(error)  # noqa: PT017
