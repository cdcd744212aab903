"""Checks for anybody's attention code.

What a reader hands over goes one way: it becomes a `subject`, which is called to gather
`evidence`; of this each of the `properties` is asked, and a `report` says what came
out. The `oracle` is the equation that the evidence is compared with.
"""

from headway.checks.model import check_model
from headway.checks.parametrize import parametrize_checks
from headway.checks.report import Report, Row
from headway.checks.run import check

__all__ = ["check", "check_model", "parametrize_checks", "Report", "Row"]
