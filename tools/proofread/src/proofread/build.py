"""Build the site and all that belongs to it: `proofread build`.

MkDocs makes the pages. Then each page of a folder that `mkdocs.yml` names gets its
notebook and its program, which install the wheel of a project that the site offers, and
the site is held against the pages that it came from:

    extra:
      takeaway: {folder: walk/, project: ., note: Without an address, do this.}
      llms: true # the Markdown of each page, and a list of them in llms.txt
      explained: walk/ # these pages explain what the reference lists
      policy: "default-src 'self'" # for browsers; scripts are added
      unsought: ["#cite$"] # sections that the search need not find
      archive: book.zip # the whole site, as it works without a server
      verified: {packages: [torch], sentence: !ENV VERIFIED} # for a template
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from proofread.verify.reader_environment import CannotInstallError, build_wheel
from proofread.verify.site_matches_pages import site_problems
from proofread.website.build_info import verified
from proofread.website.crosslinks import explain
from proofread.website.csp import write_policy
from proofread.website.llms import publish
from proofread.website.offline_zip import pack
from proofread.website.search_index import shorten
from proofread.website.slim_html import tidy
from proofread.website.takeaway.downloads import make


def make_wheel(config: MkDocsConfig, project: str) -> str:
    """Build the wheel of a project into a site; return its path there."""
    folder = Path(config.site_dir, "dist")
    folder.mkdir()
    return f"dist/{build_wheel(Path(project), folder).name}"


def included_from(config: MkDocsConfig) -> list[Path]:
    """Return the folders from which pages include files."""
    snippets = config.mdx_configs.get("pymdownx.snippets", {})
    return [Path(folder) for folder in snippets.get("base_path", ["."])]


def make_takeaways(config: MkDocsConfig) -> None:
    """Make the notebooks and programs of a site, if it is to have some."""
    if "takeaway" not in config.extra:
        return
    options = config.extra["takeaway"]
    make(
        Path(config.docs_dir),
        Path(config.site_dir),
        f"{options['folder']}*.md",
        folders=included_from(config),
        note=options.get("note", ""),
        wheel=make_wheel(config, options["project"]) if "project" in options else "",
    )


def languages(config: MkDocsConfig) -> list[str]:
    """Return the languages that the search of a site knows."""
    plugins = (config.plugins.get(name) for name in ("search", "material/search"))
    found = [plugin.config.get("lang") or "en" for plugin in plugins if plugin]
    return [
        one for said in found for one in ([said] if isinstance(said, str) else said)
    ]


def complete(config: MkDocsConfig) -> Iterator[str]:
    """Add to a site what MkDocs does not make; tell what is wrong with it."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    tidy(site, languages(config))
    shorten(site, config.extra.get("unsought", ()))
    try:
        make_takeaways(config)
        if config.extra.get("llms"):
            publish(docs, site, config)
        if folder := config.extra.get("explained"):
            explain(docs, site, config.nav or [], folder)
        if rest := config.extra.get("policy"):
            write_policy(site, rest)
    except (ValueError, CannotInstallError) as error:
        yield str(error)
        return
    yield from site_problems(docs, site, included_from(config))
    if name := config.extra.get("archive"):
        pack(site, name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build a site; return 1 if that fails, or if it shows what no page has."""
    parser = argparse.ArgumentParser(prog="proofread build")
    parser.add_argument("--config-file", default="mkdocs.yml")
    file = parser.parse_args(arguments).config_file
    config = load_config(file)
    packages = config.extra.get("verified", {}).get("packages", [])
    set_here = os.environ | {"NO_MKDOCS_2_WARNING": "1"} | verified(packages)
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", file]
    if subprocess.run(build, env=set_here).returncode:  # noqa: S603
        return 1
    found = [*complete(config)]
    for sentence in found:
        print(sentence, file=sys.stderr)
    return bool(found)
