"""Practice: write each stage yourself, and read which mistake you made.

An exercise is a right answer and a list of wrong ones, each an edit of the right one.
An answer is judged by hidden numbers: what equals a wrong one bears its name.
"""

from headway.practice.judging.verdict import Verdict
from headway.practice.notebook import Contents, NotebookExercise, exercise, exercises
from headway.practice.task.definition import (
    Draw,
    Exercise,
    Forbidden,
    Property,
    Wrong,
)

__all__ = [
    "exercise",
    "exercises",
    "Contents",
    "NotebookExercise",
    "Verdict",
    "Exercise",
    "Draw",
    "Wrong",
    "Property",
    "Forbidden",
]
