"""What code is checked, and how it is called."""

from headway.checks.attention.subject.discover import discover
from headway.checks.attention.subject.subject import Options, Subject

__all__ = ["Options", "Subject", "discover"]
