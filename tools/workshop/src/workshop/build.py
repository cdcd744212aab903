"""Build the site and all that belongs to it: `workshop build`.

MkDocs makes the pages. Then the site is made smaller, its chapters get their notebooks
and programs, its names their links and its pages their policy, and all of it is held
against the pages that it came from. What a site has of this stands in `mkdocs.yml`;
`workshop.website.settings` says how.

`--preview` leaves out what takes long and is not known from before. A page says where
something is missing. `workshop serve` shows such a site until the whole one is ready.
"""

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

# Material for MkDocs speaks of its successors each time, unless this is set before.
os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")

from mkdocs.commands.build import build as build_pages
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException

from workshop.markdown_ext.pending import PENDING
from workshop.reached import from_here
from workshop.verify.site_matches_pages import site_problems
from workshop.verify.takeaway_environment import CannotInstallError, build_wheel
from workshop.website.build_info import build_time, environment
from workshop.website.chapter_openings import openings
from workshop.website.crosslinks import explain
from workshop.website.csp import write_policy
from workshop.website.llms import publish
from workshop.website.notebook_pages import set_up_notebooks
from workshop.website.offline_zip import pack
from workshop.website.search_index import shorten
from workshop.website.settings import KEY, SiteSettings, read_settings
from workshop.website.slim_html import slim_site
from workshop.website.style_sheets import join_style_sheets
from workshop.website.table_data import write_tables
from workshop.website.takeaway.downloads import (
    make,
    make_from_notebooks,
    make_from_programs,
)

LABS = "workshop.markdown_ext.labs"
SHAPES = "workshop.markdown_ext.shapes"
SEARCHES = ("search", "material/search")  # the plugins that make a search index


# ---- What MkDocs makes -------------------------------------------------------------


@contextmanager
def warnings_of_mkdocs() -> Iterator[None]:
    """Write the warnings and errors of MkDocs to stderr."""
    logger = logging.getLogger("mkdocs")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)-7s -  %(message)s"))
    handler.setLevel(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def source_date(seconds: int) -> Iterator[None]:
    """Let MkDocs take a moment for that of the build."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = str(seconds)
    try:
        yield
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
        if before is not None:
            os.environ["SOURCE_DATE_EPOCH"] = before


def set_up(config: MkDocsConfig, settings: SiteSettings, *, preview: bool) -> None:
    """Tell extensions and templates what they need to know of a build.

    Args:
        config: The configuration of MkDocs, which is changed.
        settings: The settings of the site.
        preview: Whether to leave out what takes long and is not known from before.
    """
    for name in {LABS, SHAPES} & {*config.markdown_extensions}:
        config.mdx_configs.setdefault(name, {})["preview"] = preview
    if SHAPES in config.markdown_extensions:
        config.mdx_configs[SHAPES]["reached"] = from_here()
    pending = set_up_notebooks(config, preview=preview)
    for name in SEARCHES if preview else ():
        if plugin := config.plugins.get(name):
            plugin.config["enabled"] = False
    docs = Path(config.docs_dir)
    chapters = settings.chapter_folders(docs)
    config.extra[KEY] = asdict(settings) | {
        "chapters": chapters,
        "openings": openings(docs, chapters),
        "environment": environment(settings.verified, build_time()),
        "notebooks_pending": PENDING if pending else "",
    }


def make_pages(config: MkDocsConfig) -> None:
    """Run MkDocs; its warnings are errors.

    Raises:
        MkDocsException: If MkDocs refuses the site.
        ValueError: If a page cannot be made.
    """
    config.strict = True
    config.plugins.on_startup(command="build", dirty=False)
    try:
        with source_date(build_time()):
            build_pages(config)
    finally:
        config.plugins.on_shutdown()


# ---- What belongs to a site besides ------------------------------------------------


def make_wheel(config: MkDocsConfig, project: str) -> str:
    """Build the wheel of a project into a site; return its path there."""
    folder = Path(config.site_dir, "dist")
    folder.mkdir()
    return f"dist/{build_wheel(Path(project), folder).name}"


def included_from(config: MkDocsConfig) -> list[Path]:
    """Return the folders from which pages include files."""
    snippets = config.mdx_configs.get("pymdownx.snippets", {})
    return [Path(folder) for folder in snippets.get("base_path", ["."])]


def make_takeaways(config: MkDocsConfig, settings: SiteSettings) -> None:
    """Make the notebooks and programs of a site, if it is to have some."""
    if (options := settings.takeaway) is None:
        return
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    wheel = make_wheel(config, options.project) if options.project else ""
    make(
        docs,
        site,
        [f"{folder}**/*.md" for folder in settings.chapter_folders(docs)],
        folders=included_from(config),
        note=options.note,
        wheel=wheel,
    )
    if plugin := config.plugins.get("mkdocs-jupyter"):
        patterns = [one for one in plugin.config["include"] if one.endswith(".py")]
        make_from_notebooks(docs, site, patterns, note=options.note, wheel=wheel)
    if options.programs:
        folder = Path(options.programs)
        make_from_programs(folder, site, note=options.note, wheel=wheel)


def search_languages(config: MkDocsConfig) -> list[str]:
    """Return the languages that the search of a site knows."""
    plugins = (config.plugins.get(name) for name in SEARCHES)
    found = [plugin.config.get("lang") or "en" for plugin in plugins if plugin]
    return [
        language
        for languages in found
        for language in ([languages] if isinstance(languages, str) else languages)
    ]


def complete(
    config: MkDocsConfig, settings: SiteSettings, *, preview: bool
) -> list[str]:
    """Add to a site what MkDocs does not make, and hold it against its pages.

    A preview gets what pages need to be read: it is for a moment, until the whole site
    is there.

    Returns:
        What is wrong with the site, a sentence each.

    Raises:
        ValueError: If something cannot be made.
        CannotInstallError: If there is no wheel of the project.
    """
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    join_style_sheets(site)
    slim_site(site, search_languages(config))
    if preview:
        return []
    shorten(site, settings.search_exclude, settings.search_last)
    make_takeaways(config, settings)
    write_tables(site)
    if settings.llms:
        publish(docs, site, config)
    if settings.reference:
        chapters = settings.chapter_folders(docs)
        explain(docs, site, config.nav or [], settings.reference, chapters)
    if settings.policy:
        write_policy(site, settings.policy)
    if problems := [*site_problems(docs, site, included_from(config))]:
        return problems
    if settings.archive:
        pack(site, settings.archive)
    return []


# ---- The command -------------------------------------------------------------------


def build(file: str, site: str | None = None, *, preview: bool = False) -> list[str]:
    """Build a site.

    Args:
        file: The configuration, `mkdocs.yml`.
        site: The folder to build into, if not the one that the configuration names.
        preview: Whether to leave out what takes long and is not known from before.

    Returns:
        What is wrong with the site, a sentence each.
    """
    try:
        with warnings_of_mkdocs():
            config = load_config(file, site_dir=site and os.path.abspath(site))
            settings = read_settings(config.extra)
            set_up(config, settings, preview=preview)
            make_pages(config)
        return complete(config, settings, preview=preview)
    except Abort as error:
        return [str(error.format_message())]
    except (MkDocsException, ValueError, CannotInstallError) as error:
        return [str(error)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build a site; return 1 if that fails, or if it shows what no page has."""
    parser = argparse.ArgumentParser(prog="workshop build")
    parser.add_argument("--config-file", default="mkdocs.yml")
    parser.add_argument("--site-dir", help="the folder to build into")
    parser.add_argument(
        "--preview",
        action="store_true",
        help="leave out all that takes long and that pages can be read without",
    )
    options = parser.parse_args(arguments)
    problems = build(options.config_file, options.site_dir, preview=options.preview)
    for sentence in problems:
        print(sentence, file=sys.stderr)
    return bool(problems)
