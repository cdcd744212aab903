"""Practice: write each stage yourself, and be told by name what is wrong.

An exercise is a right answer and a list of wrong ones, each an edit of the right one.
An answer is judged by hidden numbers: what equals a wrong one bears its name.
"""

from headway.practice.definition import Draw, Exercise, Property, Wrong
from headway.practice.notebook import Contents, NotebookExercise, exercise, exercises
from headway.practice.verdict import Verdict

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
]
