"""The site in an archive works without a server, and is the same each time."""

import json
import zipfile
from pathlib import Path

import pytest

from workshop.website.offline_zip import (
    WORKER,
    from_files,
    index_as_script,
    pack,
    with_file_name,
)


@pytest.mark.parametrize(
    ("path", "page"),
    [
        (".", "./index.html"),
        ("..", "../index.html"),
        ("../..", "../../index.html"),
        ("../a/", "../a/index.html"),
        ("a.css", "a.css"),
        ("", ""),
    ],
)
def test_a_folder_is_its_page(path: str, page: str) -> None:
    assert with_file_name(path) == page


@pytest.mark.parametrize(
    ("html", "made"),
    [
        ('<a href="../a/#x">', '<a href="../a/index.html#x">'),
        ('<a href="?q=1">', '<a href="?q=1">'),
        ('<a href="#x">', '<a href="#x">'),
        ('<a href="https://a.b/c/">', '<a href="https://a.b/c/">'),
        ('<a href="mailto:a@b.c/">', '<a href="mailto:a@b.c/">'),
        ('<a href="//a.b/">', '<a href="//a.b/">'),
        ('<form action="./">', '<form action="./index.html">'),
        ('a<meta http-equiv="Content-Security-Policy" content="b">c', "ac"),
        ("a<!-- online -->b\nc<!-- end of online -->d", "ad"),
        ('<link rel="preload" href="a">\n<link rel="icon">', '<link rel="icon">'),
        (
            '<script src="../assets/javascripts/bundle.1.js"></script>',
            '<script src="../assets/javascripts/worker.js"></script>'
            '<script src="../assets/javascripts/bundle.1.js"></script>',
        ),
    ],
)
def test_a_page_works_without_a_server(html: str, made: str) -> None:
    assert from_files(html) == made


def test_the_index_of_the_search_is_a_script() -> None:
    places = ["", "#a", "walk/", "walk/b/#c"]
    index = json.dumps({"docs": [{"location": place} for place in places]})
    made = index_as_script(index)
    assert made.startswith("var __index = {")
    docs = json.loads(made.removeprefix("var __index = ").rstrip(";\n"))["docs"]
    assert [part["location"] for part in docs] == [
        "index.html",
        "index.html#a",
        "walk/index.html",
        "walk/b/index.html#c",
    ]


def test_the_archive_is_the_same_each_time(tmp_path: Path) -> None:
    archives = []
    for folder, names in (("one", ["b", "a"]), ("two", ["a", "b"])):
        site = tmp_path / folder
        (site / "search").mkdir(parents=True)
        for name in names:
            (site / name).write_text(name)
        (site / "404.html").write_text("")
        (site / "index.html").write_text('<a href="a/">')
        (site / "search/search_index.json").write_text('{"docs": []}')
        archives.append(pack(site, "book.zip"))
    first, second = archives
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.namelist() == [
            "book/a",
            f"book/{WORKER}",
            "book/b",
            "book/index.html",
            "book/search/search_index.js",
        ]
        assert archive.read("book/index.html") == b'<a href="a/index.html">'
        assert archive.read("book/a") == b"a"
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
