"""The site as a strict build makes it, without its labs; built once for all tests.

It is kept in .cache until something that it is made of changes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from proofread.caching import digest, installed

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "strict-site"
# What a site is made of, besides what is installed.
FOLDERS = ("docs", "generated", "overrides", "src", "tools/proofread/src")
FILES = ("mkdocs.yml", "pyproject.toml", "README.md", "LICENSE", "constraints.txt")


def contents() -> str:
    """Return a name for all that the site is made of."""
    files = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        files += sorted(path for path in (ROOT / folder).rglob("*") if path.is_file())
    parts: list[str | bytes] = []
    for file in files:
        if "__pycache__" not in file.parts:
            parts += [file.relative_to(ROOT).as_posix(), file.read_bytes()]
    return digest(*parts, *installed())[:16]


def build(folder: Path) -> Path:
    """Build the site strictly, from any folder; only the labs are not executed."""
    config = folder / "mkdocs.yml"
    config.write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\n"
        f"docs_dir: {ROOT / 'docs'}\n"
        f"site_dir: {folder / 'site'}\n"
        f"theme: {{custom_dir: {ROOT / 'overrides'}}}\n"
        "plugins:\n"
        f"  mkdocstrings: {{handlers: {{python: {{paths: [{ROOT / 'src'}]}}}}}}\n"
    )
    # An empty cache: what a machine without it and without a network would build.
    environment = {
        "LABS": "false",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "NO_MKDOCS_2_WARNING": "1",
        "https_proxy": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [sys.executable, "-m", "proofread", "build", "--config-file", config],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def built_site() -> Path:
    """Return the folder of the site; build it if what it is made of has changed."""
    site = CACHE / contents()
    if site.is_dir():
        return site
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in [path for path in CACHE.iterdir() if path.suffix != ".part"]:
        shutil.rmtree(old)
    with tempfile.TemporaryDirectory(dir=CACHE, suffix=".part") as folder:
        # In one step: nobody finds half a site.
        made = build(Path(folder))
        if not site.is_dir():
            made.rename(site)
    return site
