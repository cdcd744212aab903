"""Give each page of a built site its content security policy.

The policy stands in `mkdocs.yml`, without a word on scripts:

    extra: {workshop: {policy: "default-src 'self'; img-src 'self' data:"}}

A script runs if it is a file of the site, or if it stood in one of the pages when the
site was built. Each page names the hashes of all of these: a theme may go from page to
page without a new load, and then the policy of the first page holds for all.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from workshop.website.paths import rewrite

SCRIPT = re.compile(r"<script\b(?P<marks>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)
DATA = re.compile(r'\bsrc=|\btype="?application/(?:ld\+)?json')
# Nothing before it may load anything, and browsers want it at the very top.
ENCODING = re.compile(r"<meta\s+charset=[^>]*>", re.IGNORECASE)


def inline_scripts(page: str) -> list[str]:
    """Return the scripts that stand in a page."""
    scripts = SCRIPT.finditer(page)
    return [match["text"] for match in scripts if not DATA.search(match["marks"])]


def script_hash(script: str) -> str:
    """Return the name that a policy has for a script."""
    sha = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(sha).decode()}'"


def policy_for(pages: Iterable[str], policy_without_scripts: str) -> str:
    """Return a policy that lets the scripts of some pages run, and the site's files."""
    hashes = {script_hash(script) for page in pages for script in inline_scripts(page)}
    return (
        " ".join(["script-src 'self'", *sorted(hashes)]) + f"; {policy_without_scripts}"
    )


def write_policy(site: Path, policy_without_scripts: str) -> None:
    """Write the policy into each page of a site.

    Args:
        site: The folder that the site was built into.
        policy_without_scripts: What the policy says of all but scripts.

    Raises:
        ValueError: If the policy cannot be an attribute, or a page does not say how
            it is encoded.
    """
    if '"' in policy_without_scripts:
        raise ValueError(
            f'policy must have no "; got policy={policy_without_scripts!r}.'
        )
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    policy = policy_for(pages.values(), policy_without_scripts)
    mark = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    for path, page in pages.items():
        if not ENCODING.search(page):
            raise ValueError(
                f"{path} must have a <meta charset> for the policy to follow; got none."
            )
        rewrite(path, lambda text: ENCODING.sub(lambda match: match[0] + mark, text, 1))
