"""Run what the reader takes away, and hold it against the site.

    workshop reader docs site

The wheel that the site offers in dist/, or else the one of the project, is installed in
an environment of its own. There run all blocks of the site, as the copy button copies
them, all programs that its pages offer, and their notebooks in Jupyter. Each must print
what its page shows.
"""

import argparse
import os
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pytest_proofread.output.reference_environment import differs_from_reference
from workshop.verify.site_matches_pages import require, site_problems
from workshop.verify.takeaway_environment import (
    CannotInstallError,
    build_wheel,
    install,
)
from workshop.verify.takeaway_runs import (
    Page,
    Reader,
    block_problems,
    file_problems,
    read_notebooks,
    read_site,
)

# From where a word begins: else each letter of a picture would be tried.
WHEEL = re.compile(r"(?<![^\s\"])[^\s\"]+\.whl\b")
Check = Callable[[], list[str]]


def checks(reader: Reader, pages: Sequence[Page]) -> list[Check]:
    """Return all that is to be run, what takes longest first."""
    files = [(page, file) for page in pages for file in page.files]
    files.sort(key=lambda pair: pair[1].suffix != ".ipynb")
    return [
        partial(block_problems, reader, pages),
        *(partial(file_problems, reader, page, file) for page, file in files),
    ]


def is_exact(how: str, project: Path) -> bool:
    """Say whether each character counts: as asked, or in the reference environment."""
    if how != "auto":
        return how == "exact"
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    pytest = settings.get("tool", {}).get("pytest", {}).get("ini_options", {})
    return not differs_from_reference(pytest.get("proofread_reference", []))


def summary(pages: Sequence[Page], exact: bool) -> str:
    """Return a sentence that counts what was run."""
    blocks = sum(len(page.programs) for page in pages)
    unseen = sum(len(page.unseen) for page in pages)
    besides = f" and {unseen} that only notebooks have" if unseen else ""
    files = [file.suffix for page in pages for file in page.files]
    notebooks, scripts = files.count(".ipynb"), files.count(".py")
    return (
        f"{blocks} blocks{besides}, {notebooks} notebooks and {scripts} programs print "
        f"what their pages show, compared {'exactly' if exact else 'token by token'}."
    )


def chosen(site: Path, project: Path, folder: Path) -> Path:
    """Return the wheel that a site offers, or build the one of a project."""
    offered = sorted((site / "dist").glob("*.whl"))
    if len(offered) > 1:
        raise CannotInstallError(f"site must offer one wheel; got {offered}.")
    return offered[0] if offered else build_wheel(project, folder)


def other_wheels(pages: Sequence[Page], wheel: Path) -> list[str]:
    """Find the files that would install something else than the wheel."""
    return [
        f"{file}: it must install dist/{wheel.name}; got {url}"
        for page in pages
        for file in page.files
        if file.is_file()
        for url in WHEEL.findall(file.read_text(encoding="utf-8"))
        if not url.endswith(f"/dist/{wheel.name}")
    ]


def not_offered(pages: Sequence[Page]) -> list[str]:
    """Find the pages that leave programs to a notebook and offer none."""
    return [
        f"{page.path}: the site leaves out programs of this page, so it must offer "
        "its notebook"
        for page in pages
        if page.unseen and not any(file.suffix == ".ipynb" for file in page.files)
    ]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="workshop reader")
    parser.add_argument("docs", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument(
        "--include",
        type=Path,
        action="append",
        default=[],
        help="where pages include from",
    )
    parser.add_argument("--project", type=Path, default=Path(), help="has the wheel")
    parser.add_argument("--environment", type=Path, default=Path(".cache/reader"))
    parser.add_argument("--constraints", type=Path, help="for pip")
    parser.add_argument("--pip-options", type=shlex.split, default=[])
    parser.add_argument("--ignore", action="append", default=[], help="a known warning")
    parser.add_argument(
        "--compare", choices=["auto", "exact", "tokens"], default="auto"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all that a reader can take away; return 1 if something is not as shown."""
    options = parse(arguments)
    require(options.site)
    found = site_problems(options.docs, options.site, options.include)
    if not found:
        with tempfile.TemporaryDirectory() as folder:
            try:
                wheel = chosen(options.site, options.project, Path(folder))
                python = install(
                    wheel, options.environment, options.constraints, options.pip_options
                )
            except CannotInstallError as error:
                sys.exit(str(error))
        exact = is_exact(options.compare, options.project)
        reader = Reader(python.absolute(), options.ignore, exact=exact)
        pages = read_site(options.docs, options.site)
        pages += read_notebooks(options.docs, options.site)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            work = checks(reader, pages)
            results = pool.map(lambda check: check(), work)
            found = not_offered(pages) + other_wheels(pages, wheel)
            found += [sentence for said in results for sentence in said]
    print("\n\n".join(found) if found else summary(pages, exact))
    return bool(found)
