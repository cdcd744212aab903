"""Checks for anybody's attention code.

In the order in which they are best read: `report`, `vocabulary`, `calling`, `subject`,
`seeing`, `masking`, `projections`, `examined`; the properties `sees`, `sizes`, `modes`,
`hides`, `numbers`; `equation`, `diagnosis`; `checking`, `command`.
"""

from headway.checks.checking import check
from headway.checks.report import Report, Row

__all__ = ["Report", "Row", "check"]
