"""What calls of the code show, before any property is asked."""

from headway.checks.attention.evidence.evidence import Evidence, gather, redesigned

__all__ = ["Evidence", "gather", "redesigned"]
