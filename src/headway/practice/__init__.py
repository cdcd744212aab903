"""Practice: write each stage yourself, and be told by name what is wrong.

An exercise is a right answer and a list of wrong ones, each an edit of the right one.
An answer is judged by hidden numbers: what equals a wrong one bears its name.
"""

from headway.practice.definition import Draw, Exercise, Property, Wrong
from headway.practice.notebook import NotebookExercise, exercise
from headway.practice.verdict import Verdict

__all__ = [
    "exercise",
    "NotebookExercise",
    "Verdict",
    "Exercise",
    "Draw",
    "Wrong",
    "Property",
]
