"""Verdicts on a class in the files that other programs read."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Task

# The columns of nbgrader's own export of grades.
_COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name"),
    *("email", "raw_score", "late_submission_penalty", "score", "max_score"),
)


def gradescope(verdicts: Mapping[str, Verdict], tasks: Sequence[Task]) -> str:
    """Give the `results.json` of one student for Gradescope.

    Args:
        verdicts: Those of the student, by the names of the exercises.
        tasks: What was asked for, each for one point.
    """
    tests = [
        {
            "name": task.source.title,
            "number": str(task.number),
            "score": _points(verdicts, task),
            "max_score": 1,
            "status": "passed" if _points(verdicts, task) else "failed",
            "output": _text(verdicts, task),
            "visibility": "visible",
        }
        for task in tasks
    ]
    right = sum(_points(verdicts, task) for task in tasks)
    whole = {
        "score": right,
        "output": f"{right} of {len(tasks)} exercises are right.",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }
    return json.dumps(whole, indent=2)


def classroom(verdicts: Mapping[str, Verdict], tasks: Sequence[Task]) -> str:
    """Give the results of one student as the reporter of GitHub Classroom reads them.

    Args:
        verdicts: Those of the student, by the names of the exercises.
        tasks: What was asked for, each for one point.
    """
    tests = [
        {
            "name": task.name,
            "status": "pass" if _points(verdicts, task) else "fail",
            "score": _points(verdicts, task),
            "message": _text(verdicts, task),
            "test_code": f"headway practice {task.name}",
            "filename": f"{task.number:02}_{task.name}.py",
            "line_no": 0,
            "execution_time": "0s",
        }
        for task in tasks
    ]
    all_right = all(one["score"] for one in tests)
    whole = {
        "version": 1,
        "status": "pass" if all_right else "fail",
        "max_score": len(tasks),
        "tests": tests,
    }
    return json.dumps(whole, indent=2)


def nbgrader(
    verdicts: Mapping[str, Mapping[str, Verdict]],
    tasks: Sequence[Task],
    *,
    assignment: str = "practice",
) -> str:
    """Give the points of a class as nbgrader exports grades: a table in CSV.

    Args:
        verdicts: Those of each student.
        tasks: What was asked for, each for one point.
        assignment: What the work is called there.
    """
    out = io.StringIO()
    rows = csv.DictWriter(out, _COLUMNS, restval="", lineterminator="\n")
    rows.writeheader()
    for student, found in verdicts.items():
        right = float(sum(_points(found, task) for task in tasks))
        rows.writerow(
            {
                "assignment": assignment,
                "student_id": student,
                "raw_score": right,
                "late_submission_penalty": 0.0,
                "score": right,
                "max_score": float(len(tasks)),
            }
        )
    return out.getvalue()


def _points(verdicts: Mapping[str, Verdict], task: Task) -> int:
    return int(task.name in verdicts and verdicts[task.name].ok)


def _text(verdicts: Mapping[str, Verdict], task: Task) -> str:
    if task.name not in verdicts:
        return f"{task.name}  no file"
    return verdicts[task.name].text()
