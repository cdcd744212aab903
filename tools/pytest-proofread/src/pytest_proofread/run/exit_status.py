"""Tell what became of a program from what its process has left."""

import re
import signal

from pytest_proofread.run.program import Files, read_report
from pytest_proofread.run.protocol import Job, Result

# What `faulthandler` writes when a process dies: a heading, then the frames.
FATAL = re.compile(r"^Fatal Python error: .*", re.M | re.S)
LOOK_SECONDS = 0.05  # between two looks at how much a program has printed
FRAME = r'^  File "{}", line (\d+) in '


def result_of(job: Job, status: int | None, files: Files) -> Result:
    """Return what a program did.

    Args:
        job: The program.
        status: With what its process ended, negative for a signal; nothing, if it had
            to be stopped.
        files: What it has written.
    """
    output, errors = (
        beginning(file, job.output_limit) for file in (files.stdout, files.stderr)
    )
    over = files.printed() > job.output_limit
    report = read_report(files.report) if status == 0 and not over else None
    problems = [] if report is None else [*report.problems]
    if over:
        problems.append(f"the program must print at most {job.output_limit:,} bytes")
    elif report is None:
        problems.append(f"{ending(job, status)}{place(job, errors)}")
        errors = FATAL.sub("", errors)
    if errors.strip():
        problems.append(f"wrote to stderr:\n{errors.rstrip()}")
    if report is None:
        return Result(output, problems=problems, finished=False)
    return Result(
        output, report.error, report.traceback, problems, report.seen, report.loaded
    )


def may_go_on(job: Job, files: Files) -> bool:
    """Say whether a program has printed no more than it may."""
    return files.printed() <= job.output_limit


def beginning(file: str, limit: int) -> str:
    """Return what a program has written, as far as it may."""
    try:
        with open(file, "rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def ending(job: Job, status: int | None) -> str:
    """Say how a program ended that could not say so itself."""
    if status is None:
        return f"the program must end within {job.limit:g} s"
    if status < 0:
        try:
            how = f"by {signal.Signals(-status).name}"
        except ValueError:
            how = f"by signal {-status}"
    else:
        how = f"with status {status}"
    return f"the program must not end Python; it ended {how}"


def place(job: Job, errors: str) -> str:
    """Say at which line of the page it was, as far as the interpreter told."""
    frame = re.search(FRAME.format(re.escape(job.page)), errors, re.M)
    return f", at line {frame[1]}" if frame else ""
