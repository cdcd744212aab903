"""A page runs the scripts that it was built with, and says so."""

import base64
import hashlib
from pathlib import Path

import pytest

from workshop.website.csp import (
    inline_scripts,
    policy_for,
    script_hash,
    write_policy,
)

HEAD = '<html><head><meta charset="utf-8"><title>A</title></head>'
REST = "default-src 'self'"


def hashed(script: str) -> str:
    sha = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(sha).decode()}'"


def test_a_script_is_named_by_its_hash() -> None:
    # What a browser prints for this script when it refuses it.
    assert script_hash("alert('Hello, world.');") == (
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    )


def test_only_what_runs_is_named() -> None:
    page = (
        '<script src="a.js"></script><script type="application/json">{}</script>'
        '<script type="application/ld+json">{}</script>'
        "<script>\n f(1)\n</script><script defer type=module>g()</script>"
    )
    assert inline_scripts(page) == ["\n f(1)\n", "g()"]


def test_each_page_names_the_scripts_of_all(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name, script in (("index.html", "f()"), ("b/index.html", "g('ü')")):
        page = f"{HEAD}<script>{script}</script>"
        (tmp_path / name).write_text(page, encoding="utf-8")
    write_policy(tmp_path, REST)
    hashes = sorted([hashed("f()"), hashed("g('ü')")])
    mark = (
        '<meta http-equiv="Content-Security-Policy" '
        f"content=\"script-src 'self' {' '.join(hashes)}; default-src 'self'\">"
    )
    expected = HEAD.replace("<title>", f"{mark}<title>")
    for path in tmp_path.rglob("*.html"):
        assert path.read_text("utf-8").startswith(expected)


def test_a_site_without_scripts_has_a_policy_too() -> None:
    assert policy_for(["<p>"], REST) == f"script-src 'self'; {REST}"


def test_a_policy_cannot_leave_its_mark(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(HEAD)
    with pytest.raises(ValueError, match=r"policy must have no \"; got policy='a\"b'"):
        write_policy(tmp_path, 'a"b')


def test_a_page_without_an_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><head><title>A</title></head>")
    with pytest.raises(ValueError, match=r"a.html must have a <meta charset>"):
        write_policy(tmp_path, REST)
