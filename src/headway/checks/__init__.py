"""Checks for anybody's attention code."""

# In the order in which they are best read: `report`, `outcomes`; what is found out
# about the code: `names`, `vocabulary`, `calling`, `copying`, `subject`, `finding`,
# `seeing`, `masking`, `mask_search`, `stored`, `naming`, `projections`, `repeats`,
# `examined`; the properties: `sees`, `mixes`, `sizes`, `modes`, `hides`, `numbers`,
# `equation`, `hypotheses`, `diagnosis`; all together: `checking`, `building`,
# `command`.

from headway.checks.checking import check
from headway.checks.report import Report, Row

__all__ = ["check", "Report", "Row"]
