"""What a program is watched by that tells the shapes of its tensors."""

from typing import Any

from pytest_proofread.runner import Row
from workshop.run.bound_names import Watch
from workshop.run.tensor_shapes import shapes

WATCH = f"{__name__}:WatchedShapes"  # for a job


class WatchedShapes(Watch):
    """Sees the tensors that a program names, and those that its functions bind."""

    def seen(self, names: dict[str, Any]) -> list[Row]:
        """Give a row for each tensor, those of the program first."""
        return [*shapes(names), *self.rows()]
