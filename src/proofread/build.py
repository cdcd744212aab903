"""Build the site and all that belongs to it: `python -m proofread.build`.

MkDocs makes the pages. Then each page of a folder that `mkdocs.yml` names gets its
notebook and its program, and the site is held against the pages that it came from:

    extra: {takeaway: {folder: walk/, note: What it needs to run.}}
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from proofread.published import census
from proofread.takeaway import make


def make_takeaways(config: MkDocsConfig) -> None:
    """Make the notebooks and programs of a site, if it is to have some."""
    if "takeaway" not in config.extra:
        return
    options = config.extra["takeaway"]
    snippets = config.mdx_configs.get("pymdownx.snippets", {})
    make(
        Path(config.docs_dir),
        Path(config.site_dir),
        f"{options['folder']}*.md",
        folders=[Path(folder) for folder in snippets.get("base_path", ["."])],
        note=options.get("note", ""),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Build a site; return 1 if that fails, or if it shows what no page has."""
    parser = argparse.ArgumentParser(prog="python -m proofread.build")
    parser.add_argument("--config-file", default="mkdocs.yml")
    file = parser.parse_args(arguments).config_file
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", file]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    if subprocess.run(build, env=quiet).returncode:  # noqa: S603
        return 1
    config = load_config(file)
    try:
        make_takeaways(config)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    found = census(Path(config.docs_dir), Path(config.site_dir))
    for sentence in found:
        print(sentence, file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
