"""What code is checked, and how it is called."""

from headway.checks.subject.discover import discover
from headway.checks.subject.subject import Options, Subject

__all__ = ["Options", "Subject", "discover"]
