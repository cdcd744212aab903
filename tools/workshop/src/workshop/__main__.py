"""The command `workshop`: one name for all that the tool does to a book."""

import importlib
import sys
from collections.abc import Sequence

NO_WINDOWS = "it must be run on Linux or macOS; got sys.platform='win32'."

# The name of each command, the module whose `main` it calls, and what it does.
COMMANDS = {
    "build": ("workshop.build", "build the site and all that belongs to it"),
    "serve": ("workshop.website.serve", "build the site and show it on this computer"),
    "takeaway": (
        "workshop.website.takeaway.downloads",
        "write the notebook and the program of each page into a site",
    ),
    "site": (
        "workshop.verify.site_matches_pages",
        "compare a built site with its pages",
    ),
    "reader": (
        "workshop.verify.check_takeaway",
        "run what a reader copies or downloads, with the wheel alone",
    ),
    "prove": (
        "workshop.verify.prove",
        "run every program in several ways; all must agree",
    ),
    "mutate-pages": (
        "workshop.mutation.pages",
        "break copies of the pages; the tests must notice each time",
    ),
    "mutate-package": (
        "workshop.mutation.package",
        "break copies of the package; the tests must notice each time",
    ),
}


def usage() -> str:
    """Return the help of the command."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {about}" for name, (_, about) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: workshop COMMAND [--help] ...",
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
            f"\nworkshop: COMMAND must be one of these; {said}.",
            sep="\n",
            file=sys.stderr,
        )
        return 2
    if sys.platform == "win32":
        print(f"workshop: {NO_WINDOWS}", file=sys.stderr)
        return 2
    module, _ = COMMANDS[given[0]]
    status: int | None = importlib.import_module(module).main(given[1:])
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
