"""What a program repeats is marked, and nothing that a reader takes is changed."""

import re

import pytest
from bs4 import BeautifulSoup, Tag
from markdown import Markdown

from pytest_proofread.page.markdown import OUTPUT, programs
from workshop.folds import LEFT_OUT
from workshop.new_lines import NEW
from workshop.verify.site_matches_pages import problems

EXTENSIONS = [
    "toc",  # which has postprocessors run for each heading
    "admonition",
    "attr_list",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "workshop.markdown_ext.leave_out",
    "workshop.markdown_ext.shapes",
    "workshop.markdown_ext.highlight_new_lines",
    "workshop.markdown_ext.fold_repeated",
]
CONFIGS = {
    "pymdownx.highlight": {"pygments_lang_class": True},
    "workshop.markdown_ext.shapes": {"preview": True},
}
SETUP = '''import math
from math import sqrt


def f(x):
    """Two
    lines of <text>."""
    return x + 1
'''


def fence(code: str, indent: str = "", above: str = "") -> str:
    text = f"{above}\n```python\n{code}\n```\n\n{OUTPUT}\n\n```text\n2\n```\n"
    return re.sub("^(?=.)", indent, text, flags=re.MULTILINE)


FEW = "left = 2\nright = 2\nup = 2\n"
PAGE = "\n".join(
    [
        "# Title\n",
        fence(f"{SETUP}\n\nprint(f(1))"),
        "Text.\n",
        fence(f"{SETUP}\n\n# new\nprint(f(2) - 1)"),
        '??? note "A fold"',
        fence(f"{SETUP}\nkept = 2\nprint(kept)", "    "),
        fence(f"{SETUP}\nkept = 2\nprint(kept)"),
        fence(f"{SETUP}\n\nprint(f(1) + 0)\nprint()", above=NEW),
        f'??? example "{LEFT_OUT}"',
        fence(f"{FEW}print(left)", "    "),
        fence(f"{FEW}print(left)"),
        fence(f"{FEW}print(right)"),
    ]
)


def html(text: str, without: str = "") -> str:
    names = [name for name in EXTENSIONS if name != without]
    configs = {name: CONFIGS[name] for name in CONFIGS if name in names}
    return Markdown(extensions=names, extension_configs=configs).convert(text)


def blocks(text: str, without: str = "") -> list[Tag]:
    soup = BeautifulSoup(html(text, without), "html.parser")
    return soup.select(".language-python.highlight")


def test_what_repeats_is_one_element_at_the_top() -> None:
    folded = [[one.get_text() for one in p.select(".hw-above")] for p in blocks(PAGE)]
    setup = f"{SETUP}\n\n"
    assert folded == [
        [],
        [setup],
        [f"{SETUP}\n"],
        # What a fold has above, its reader may not have seen.
        [f"{SETUP}\n"],
        [setup],
        # What is left out, nobody has seen.
        [],
        ["left = 2\nright = 2\nup = 2\n"],
    ]
    for block in blocks(PAGE):
        for mark in block.select(".hw-above"):
            assert mark.parent.name == "code"
            assert mark.find_previous_sibling() is None
            assert block.select_one("code").get_text().startswith(mark.get_text())


def test_lines_that_are_new_are_not_folded() -> None:
    (new,) = [one for one in blocks(PAGE) if one.select(".hll")]
    assert not new.select(".hw-above .hll")
    programs = [f"{FEW}print(2)", "print(2)", f"{FEW}print(3)"]
    text = fence(programs[0]) + fence(programs[1]) + fence(programs[2], above=NEW)
    assert not any(one.select(".hw-above") for one in blocks(text))
    assert len(blocks(text)[-1].select(".hll")) == 4
    assert blocks(text.replace(NEW, ""))[-1].select(".hw-above")


def test_the_text_and_all_else_stays_as_it_was() -> None:
    plain = html(PAGE, "workshop.markdown_ext.fold_repeated")
    made = html(PAGE)
    assert made != plain
    assert re.sub(r'<span class="hw-above">(.*?\n)</span>(?=\n|<|\w|#)', r"\1",
                  made, flags=re.DOTALL) == plain  # fmt: skip
    assert problems(PAGE, f"<article>{made}</article>") == []
    assert "data-above" not in made


def test_a_line_too_many_would_be_found() -> None:
    made = html(PAGE).replace(
        '<span class="hw-above">', '<span class="hw-above">\n\nx', 1
    )
    assert problems(PAGE, f"<article>{made}</article>") != []


@pytest.mark.parametrize("missing", ["attr_list", "pymdownx.superfences"])
def test_without_what_it_needs_there_is_one_sentence(missing: str) -> None:
    page = fence(f"{SETUP}\nprint(2)") * 2
    with pytest.raises(ValueError, match="need the extensions attr_list, "):
        html(page, missing)


def test_a_page_without_repeated_lines_stays_as_it_was() -> None:
    page = fence("print(2)") * 2
    assert html(page) == html(page, "workshop.markdown_ext.fold_repeated")
    assert len(programs(page)) == 2
