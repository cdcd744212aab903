"""A style sheet that lists others holds them when the site is built."""

from pathlib import Path

import pytest

from workshop.website.style_sheets import join_style_sheets


def write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.css").write_text(text, encoding="utf-8")


def test_what_is_listed_comes_in_its_order_and_its_files_go(tmp_path: Path) -> None:
    look = tmp_path / "look"
    write(
        look,
        all="/* All. */\n@import \"b.css\";\n@import 'a.css';\np {}\n",
        a="a {}\n",
        b='@import "c.css";\nb {}\n',
        c="é {}\n",
    )
    write(tmp_path, other="i {}\n")
    join_style_sheets(tmp_path)
    assert {path.name for path in tmp_path.rglob("*.css")} == {"all.css", "other.css"}
    text = (look / "all.css").read_text(encoding="utf-8")
    assert text == "/* All. */\né {}\nb {}\na {}\np {}\n"
    assert (tmp_path / "other.css").read_text() == "i {}\n"


@pytest.mark.parametrize(
    "text", ['@import "../a.css";\n', '@import url("a.css");\n', '@import "x:a.css";\n']
)
def test_what_lies_elsewhere_stays(tmp_path: Path, text: str) -> None:
    write(tmp_path, all=text, a="a {}\n")
    join_style_sheets(tmp_path)
    assert (tmp_path / "all.css").read_text() == text
    assert (tmp_path / "a.css").exists()


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    write(tmp_path, all='@import "colours.css";\n')
    sentence = "all.css must import what is in its folder; got colours.css."
    with pytest.raises(ValueError, match=sentence):
        join_style_sheets(tmp_path)


def test_a_circle_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a='@import "b.css";\n', b='@import "a.css";\n')
    with pytest.raises(ValueError, match=r"must not import itself; got a.css."):
        join_style_sheets(tmp_path)
