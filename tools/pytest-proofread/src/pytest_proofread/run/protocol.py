"""What a worker is asked, and what it answers: one line of JSON each."""

import json
from dataclasses import asdict, dataclass, field

DEFAULT_LIMIT = 60.0  # seconds, where neither a page nor `proofread_limit` says
OUTPUT_LIMIT = 1_000_000  # bytes, where `proofread_output_limit` says nothing
Row = tuple[str, str]


@dataclass(frozen=True)
class Job:
    """A program that is to be run.

    Args:
        code: Its text.
        page: The file that a traceback names.
        line: The line of the page above the program's first.
        limit: Seconds after which it is stopped.
        output_limit: Bytes that it may print; soon after more, it is stopped.
        watch: What looks on, as `module:name`: it is called with the program's code
            and gives a context manager, within which the program runs, and whose
            `seen(names)` then lists what it has seen, in pairs of texts.
    """

    code: str
    page: str = "<page>"
    line: int = 0
    limit: float = DEFAULT_LIMIT
    output_limit: int = OUTPUT_LIMIT
    watch: str = ""


@dataclass(frozen=True)
class Result:
    """What a program did.

    Args:
        output: What it wrote to stdout, with what C code and processes of its wrote.
        error: The error that it ended with, as the last line of a traceback shows it.
        traceback: The whole of it, beginning in the page.
        problems: What is wrong besides: a warning, or something written to stderr.
        seen: What the job's `watch` has seen.
        loaded: The modules of packages that were imported while it ran.
        finished: Whether it came to its end or to an error, and did not end the
            interpreter.
    """

    output: str = ""
    error: str = ""
    traceback: str = ""
    problems: list[str] = field(default_factory=list)
    seen: list[Row] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    finished: bool = True


def line(message: Job | Result) -> str:
    """Return a message as a line."""
    return json.dumps(asdict(message)) + "\n"


def read_job(text: str) -> Job:
    """Read a job from its line."""
    return Job(**json.loads(text))


def read_result(text: str) -> Result:
    """Read a result from its line."""
    found = json.loads(text)
    rows = [(name, text) for name, text in found.pop("seen")]
    return Result(**found, seen=rows)
