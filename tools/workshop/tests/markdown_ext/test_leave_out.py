"""The site does not show what it leaves to the notebook; the notebook has it."""

from bs4 import BeautifulSoup
from markdown import Markdown

from pytest_proofread.page.markdown import OUTPUT
from workshop.folds import LEFT_OUT
from workshop.website.llms import page_as_markdown
from workshop.website.takeaway.cells import cells

EXTENSIONS = [
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "workshop.markdown_ext.leave_out",
    "workshop.markdown_ext.shapes",
]
PAGE = f"""# Title

??? question "A. `1`"
    No.

??? example "{LEFT_OUT}"
    ```python
    print(1)
    ```

    {OUTPUT}

    ```text
    1
    ```

    Text.

The end.
"""


def test_the_fold_is_not_on_the_page() -> None:
    preview = {"workshop.markdown_ext.shapes": {"preview": True}}
    html = Markdown(extensions=EXTENSIONS, extension_configs=preview).convert(PAGE)
    soup = BeautifulSoup(html, "html.parser")
    assert [one.summary.get_text() for one in soup.select("details")] == ["A. 1"]
    assert soup.find("pre") is None
    assert soup.get_text().split() == ["Title", "A.", "1", "No.", "The", "end."]


def test_the_notebook_has_it_under_its_title() -> None:
    found = cells(PAGE, lambda target: target, lambda name: None)
    assert [cell.text for cell in found if cell.program] == ["print(1)"]
    assert found[0].text.endswith(f"**{LEFT_OUT}**")


def test_so_has_the_markdown_of_the_page() -> None:
    assert "print(1)" in page_as_markdown(PAGE, lambda name: None, {}, [])
