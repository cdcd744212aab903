"""The files that differ from SINCE, a revision of git.

By default that is the one where this branch left the main one, and on the main branch
the last commit but one.

    python -m workshop.changed_files FOLDER ...

ends with status 0 if something in these folders has changed, or if git cannot tell. For
it, a commit that the main branch of the origin has is no change. Files are those of the
current folder, and have their paths from there.
"""

import os
import subprocess
import sys


def git(*arguments: str) -> list[str] | None:
    """Return the lines that git answers; None if it cannot answer."""
    try:
        command = ["git", *arguments]
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.splitlines()


def starting_point(*, unpushed: bool = False) -> str | None:
    """Return the revision that files are compared with.

    With `unpushed` it is HEAD itself where the main branch of the origin has it.
    """
    if given := os.environ.get("SINCE"):
        return given
    head = git("rev-parse", "HEAD")
    for main in ("origin/HEAD", "origin/main", "main"):
        found = git("merge-base", "HEAD", main)
        if found and (found != head or (unpushed and main != "main")):
            return found[0]
    before = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    return before[0] if before else None


def changed_files(*, unpushed: bool = False) -> set[str] | None:
    """Return the files that differ from the starting point; None if nobody knows."""
    since = starting_point(unpushed=unpushed)
    changed = git("diff", "--name-only", since, "--") if since else None
    added = git("ls-files", "--others", "--exclude-standard")
    return None if changed is None or added is None else {*changed, *added}


def has_changed(names: list[str]) -> bool:
    """Return whether one of some files has changed, or one in some folders.

    An untouched clone of the main branch has no such file.
    """
    files = changed_files(unpushed=True)
    return files is None or any(
        file == name or file.startswith(f"{name}/") for file in files for name in names
    )


if __name__ == "__main__":
    sys.exit(not has_changed(sys.argv[1:]))
