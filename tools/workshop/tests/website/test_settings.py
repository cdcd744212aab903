"""What `mkdocs.yml` says of a site is understood, or refused in one sentence."""

from pathlib import Path
from typing import Any

import pytest

from workshop.website.settings import SiteSettings, Takeaway, read_settings


def test_what_is_not_said_is_off() -> None:
    assert read_settings({}) == SiteSettings()
    # What a theme reads is no matter of ours.
    assert read_settings({"generator": False, "social": []}) == SiteSettings()


def test_every_key_is_read() -> None:
    given = {
        "reference": "reference/",
        "chapters": ["guide/"],
        "takeaway": {
            "project": ".",
            "note": "A note.",
            "colab": "",
            "programs": "cells",
        },
        "search_exclude": ["#cite$"],
        "search_last": ["^api/"],
        "archive": "a.zip",
        "llms": True,
        "policy": "default-src 'self'",
        "verified": ["torch"],
    }
    assert read_settings({"workshop": given}) == SiteSettings(
        "reference/",
        ("guide/",),
        Takeaway(".", "A note.", "", "cells"),
        ("#cite$",),
        ("^api/",),
        "a.zip",
        True,
        "default-src 'self'",
        ("torch",),
    )


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (
            {"workshop": {"polcy": "x"}},
            "extra.workshop must have known keys only, such as policy; "
            "got extra.workshop.polcy='x'.",
        ),
        (
            {"workshop": {"takeaway": {"colour": 3}}},
            "extra.workshop.takeaway must have known keys only, such as colab; "
            "got extra.workshop.takeaway.colour=3.",
        ),
        (
            {"worksshop": {"policy": "x"}},
            "extra must have known keys only, such as workshop; "
            "got extra.worksshop={'policy': 'x'}.",
        ),
        (
            {"workshop": {"policy": ["x"]}},
            "extra.workshop.policy must be text; got extra.workshop.policy=['x'].",
        ),
        (
            {"workshop": {"llms": "yes"}},
            "extra.workshop.llms must be true or false; got extra.workshop.llms='yes'.",
        ),
        (
            {"workshop": {"verified": "torch"}},
            "extra.workshop.verified must be a list of texts; "
            "got extra.workshop.verified='torch'.",
        ),
        (
            {"workshop": {"verified": [3]}},
            "extra.workshop.verified must be a list of texts; "
            "got extra.workshop.verified=[3].",
        ),
        (
            {"workshop": {"takeaway": "walk/"}},
            "extra.workshop.takeaway must be a mapping; "
            "got extra.workshop.takeaway='walk/'.",
        ),
        (
            {"workshop": None},
            "extra.workshop must be a mapping; got extra.workshop=None.",
        ),
    ],
)
def test_a_mistake_is_refused(extra: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"must be|must have") as raised:
        read_settings(extra)
    assert str(raised.value) == sentence


def test_the_folders_of_the_reference_name_those_of_the_chapters(
    tmp_path: Path,
) -> None:
    for folder in ("reference/two", "reference/one", "reference/gone", "one", "two"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "more").mkdir()
    (tmp_path / "reference/more").write_text("")  # no folder
    settings = SiteSettings(reference="reference/")
    assert settings.chapter_folders(tmp_path) == ("one/", "two/")
    settings = SiteSettings(reference="reference", chapters=("more",))
    assert settings.chapter_folders(tmp_path) == ("more/", "one/", "two/")
    assert SiteSettings().chapter_folders(tmp_path) == ()


@pytest.mark.parametrize("given", [{"reference": "ref/"}, {"chapters": ("ref/",)}])
def test_a_folder_must_exist(tmp_path: Path, given: dict[str, Any]) -> None:
    sentence = f"extra.workshop must name folders of {tmp_path}; got folder='ref/'."
    with pytest.raises(ValueError, match="must name") as raised:
        SiteSettings(**given).chapter_folders(tmp_path)
    assert str(raised.value) == sentence
