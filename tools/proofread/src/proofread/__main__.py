"""The command `proofread`: one name for all that the tool does to a book."""

import importlib
import sys
from collections.abc import Sequence

from proofread.run import NO_WINDOWS

# The name of each command, the module whose `main` it calls, and what it does.
COMMANDS = {
    "build": ("proofread.build", "build the site and all that belongs to it"),
    "serve": ("proofread.website.serve", "build the site and show it on this computer"),
    "takeaway": (
        "proofread.website.takeaway.downloads",
        "write the notebook and the program of each page into a site",
    ),
    "site": (
        "proofread.verify.site_matches_pages",
        "compare a built site with its pages",
    ),
    "reader": (
        "proofread.verify.check_takeaway",
        "run what a reader copies or downloads, with the wheel alone",
    ),
    "prove": (
        "proofread.verify.prove",
        "run every program in several ways; all must agree",
    ),
    "mutate-pages": (
        "proofread.mutation.pages",
        "break copies of the pages; the tests must notice each time",
    ),
    "mutate-package": (
        "proofread.mutation.package",
        "break copies of the package; the tests must notice each time",
    ),
}


def usage() -> str:
    """Return the help of the command."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {about}" for name, (_, about) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: proofread COMMAND [--help] ...",
            "",
            "Run the programs of Markdown pages: pytest --proofread PAGES",
            "Record what they print:             pytest --record PAGES",
            "",
            "commands:",
            *lines,
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Call a command; return its exit status."""
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    if given and given[0] in ("-h", "--help"):
        print(usage())
        return 0
    if not given or given[0] not in COMMANDS:
        said = f"got {given[0]}" if given else "got none"
        print(
            usage(),
            f"\nproofread: COMMAND must be one of these; {said}.",
            sep="\n",
            file=sys.stderr,
        )
        return 2
    if sys.platform == "win32":
        print(f"proofread: {NO_WINDOWS}", file=sys.stderr)
        return 2
    module, _ = COMMANDS[given[0]]
    status: int | None = importlib.import_module(module).main(given[1:])
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
